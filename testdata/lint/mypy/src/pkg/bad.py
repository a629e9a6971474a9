from typing import overload

import nosuchmodule


def f(a: int) -> str:
    reveal_type(a)
    return a


@overload
def g(a: int) -> int: ...
@overload
def g(a: str) -> str: ...
def g(a):
    return a


def untyped(a):
    return a + "x"


f("<é>")
g(1.5)
undefined_name
x: int = "a"  # type: ignore[assignment]
y: int = 1  # type: ignore[assignment]
