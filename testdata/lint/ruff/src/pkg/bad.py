import os
import sys, json


def f(a, b=[]):
    x = 1
    if a == None:
        print(undefined_name)
    return b  # trailing <é & "quoted">


l = lambda: 0
