from .optimizer import Optimizer


class SGD(Optimizer):
    def _step(self):
        pass
