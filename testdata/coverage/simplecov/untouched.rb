def untouched = 1
