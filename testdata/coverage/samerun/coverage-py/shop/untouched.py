def untouched(x):
    return 1 if x else 2
