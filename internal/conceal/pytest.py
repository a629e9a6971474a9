"""Runs tests so that code of the project cannot see that it runs in a test: what names
the runner is out of its sight. Code elsewhere, the runner itself included, sees all."""
import functools
import inspect
import os
import sys
import threading

import _pytest.runner
import _pytest.unittest
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "root"), encoding="utf-8") as f:
    ROOT = f.read() + os.sep
STACK = os.path.exists(os.path.join(HERE, "stack"))
REAL = sys.modules
RUNNERS = ("pytest", "_pytest", "pluggy", "iniconfig", "xdist", "execnet", "py", "plainrun", "supervise_rerun", "conftest")


def names_runner(name):
    top = str(name).partition(".")[0]
    return top in RUNNERS or top.startswith("pytest_")


def outside():
    """Reports whether the caller's caller is not code of the project."""
    name = sys._getframe(2).f_code.co_filename
    return not name.startswith(ROOT) or os.sep + "site-packages" + os.sep in name


class Modules(dict):
    """Stands for sys.modules, and shows the project no runner."""

    def _seen(self):
        return {k: m for k, m in REAL.copy().items() if not names_runner(k)}

    def __getitem__(self, key):
        if names_runner(key) and not outside():
            raise KeyError(key)
        return REAL[key]

    def __contains__(self, key):
        return key in REAL and (not names_runner(key) or outside())

    def get(self, key, default=None):
        return default if names_runner(key) and not outside() else REAL.get(key, default)

    def __iter__(self):
        return iter(REAL if outside() else self._seen())

    def __len__(self):
        return len(REAL if outside() else self._seen())

    def keys(self):
        return (REAL if outside() else self._seen()).keys()

    def values(self):
        return (REAL if outside() else self._seen()).values()

    def items(self):
        return (REAL if outside() else self._seen()).items()

    def copy(self):
        return (REAL if outside() else self._seen()).copy()

    def __setitem__(self, key, value):
        REAL[key] = value

    def __delitem__(self, key):
        del REAL[key]

    def pop(self, *args):
        return REAL.pop(*args)

    def setdefault(self, *args):
        return REAL.setdefault(*args)

    def update(self, *args, **kwargs):
        REAL.update(*args, **kwargs)

    def clear(self):
        REAL.clear()

    def __repr__(self):
        return repr(REAL if outside() else self._seen())

    __hash__ = None


def undress():
    for name in list(os.environ):
        if name.startswith(("PYTEST_", "COV_", "TOX_", "SUPERVISE_")) or name in ("CI", "CONTINUOUS_INTEGRATION", "GITHUB_ACTIONS", "GITLAB_CI"):
            del os.environ[name]
    program = ROOT + "main.py"
    sys.argv[:] = [program]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = [sys.executable, program]
    main = REAL["__main__"]
    if getattr(main, "__file__", None):
        main.__file__ = program
    main.__spec__ = None
    _pytest.runner._update_current_test_var = lambda item, when: None
    sys.modules = Modules()


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    undress()


def renamed(code):
    """Gives code of a test file other names, those of its inner functions included."""
    folder = os.path.dirname(code.co_filename)
    plain = code.co_name.replace("test", "case").replace("Test", "Case")
    consts = tuple(renamed(c) if hasattr(c, "co_code") else c for c in code.co_consts)
    return code.replace(co_name=plain, co_filename=os.path.join(folder, "cases.py"), co_consts=consts)


def in_thread(function):
    """Calls function in a thread, whose stack has no frames of the runner."""
    import contextvars

    ended = []
    context = contextvars.copy_context()

    def run():
        try:
            if "asyncio" in REAL:
                REAL["asyncio"].set_event_loop(REAL["asyncio"].new_event_loop())
            context.run(function)
            ended.append(None)
        except BaseException as e:
            ended.append(e)

    run.__code__ = renamed(run.__code__.replace(co_filename=ROOT + "x"))
    t = threading.Thread(target=run, name="worker")
    t.start()
    t.join()
    if ended[0] is not None:
        raise ended[0]


ASYNCHRONOUS = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


def alone(function, *args, **kwargs):
    """Calls a test in a thread of its own, under another name."""
    plain = getattr(function, "__func__", function)
    code, plain.__code__ = plain.__code__, renamed(plain.__code__)
    try:
        in_thread(lambda: function(*args, **kwargs))
    finally:
        plain.__code__ = code


def simple(function):
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and not code.co_flags & ASYNCHRONOUS


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if not STACK or not simple(pyfuncitem.obj):
        return None
    alone(pyfuncitem.obj, **{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames})
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    """Does the same for methods of unittest, which pytest calls through their class."""
    if STACK and isinstance(item, _pytest.unittest.TestCaseFunction) and simple(item.obj):
        item.obj = functools.wraps(item.obj)(functools.partial(alone, item.obj))
