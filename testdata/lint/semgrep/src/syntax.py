eval(1)
def broken(:
