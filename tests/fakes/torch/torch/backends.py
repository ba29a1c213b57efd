class cudnn:
    benchmark = False
