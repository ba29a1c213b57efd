class _BaseDataLoaderIter:
    _num_workers = 2
    _pin_memory = True

    def __init__(self, batches):
        self._batches = iter(batches)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._batches)


class DataLoader:
    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        return _BaseDataLoaderIter(self.batches)
