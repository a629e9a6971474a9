import os


def add(a: int, b: int) -> int:
    return a + b


def sign(n: int) -> int:
    if n < 0:
        return -1
    return 1 if n > 0 else "0"
