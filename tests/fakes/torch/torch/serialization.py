def save(obj, f):
    if hasattr(f, "write"):
        f.write(b"saved")
    else:
        with open(f, "wb") as file:
            file.write(b"saved")
