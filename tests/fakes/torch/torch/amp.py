class grad_scaler:
    class GradScaler:
        pass
