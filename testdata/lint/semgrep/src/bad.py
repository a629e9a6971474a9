def f(x):
    assert x
    print(x)
    eval(x)
    eval(x)  # nosemgrep
