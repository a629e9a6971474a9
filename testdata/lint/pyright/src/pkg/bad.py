import os
import nosuchmodule


def f(a: int) -> str:
    reveal_type(a)
    return a


f("<é>")
print(undefined_name)


def g(items: list[str] | None):
    return items[0]


1 == 2
