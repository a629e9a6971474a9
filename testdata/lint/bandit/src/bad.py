import pickle
import subprocess

password = "<é> secret"


def f(x):
    assert x
    subprocess.call("ls " + x, shell=True)
    eval(x)
    pickle.loads(x)
    eval(x)  # nosec
