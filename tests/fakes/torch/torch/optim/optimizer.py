_before, _after = [], []


def register_optimizer_step_pre_hook(hook):
    _before.append(hook)


def register_optimizer_step_post_hook(hook):
    _after.append(hook)


class Optimizer:
    def __init__(self, parameters=()):
        self.defaults = {"fused": True}

    def step(self):
        for hook in _before:
            hook(self, (), {})
        self._step()
        for hook in _after:
            hook(self, (), {})
