class Parameter:
    pass


class Module:
    def train(self, mode=True):
        self.training = mode
        return self

    def eval(self):
        return self.train(False)
