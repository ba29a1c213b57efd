class grad_scaler:
    class GradScaler:
        _init_scale = 65536.0
        _scale = None

        def _lazy_init_scale_growth_tracker(self, device):
            from . import Tensor

            self._scale = Tensor()

        def _unscale_grads_(self):
            return {}

        def update(self):
            pass

        def get_scale(self):
            return self._scale._oomdoc_answer
