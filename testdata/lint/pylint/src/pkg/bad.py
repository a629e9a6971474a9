import os
import nosuchmodule


class thing(object):
    def __init__(self, a, b=[]):
        self.a = a

    def method(self):
        return undefined_name  # <é & "quoted">


def f(x):
    if x == None:
        return 1
    else:
        return thing(1).nosuch
