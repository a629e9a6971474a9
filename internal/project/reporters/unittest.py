# Runs a program that starts unittest itself, as python would, and has unittest name each test.
import os, runpy, sys, unittest

real = unittest.TextTestRunner.__init__


def verbose(self, *args, **kwargs):
    real(self, *args, **kwargs)
    self.verbosity = 2


unittest.TextTestRunner.__init__ = verbose
del sys.argv[0]
if sys.argv[0] == "-m":
    del sys.argv[0]
    sys.path[0] = os.getcwd()
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
