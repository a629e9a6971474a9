package mutantrun

import (
	"testing"

	"supervise/internal/measure"
	"supervise/test/tools"
)

const shapesPy = `"""Functions of many shapes."""
import functools

RATE = 2 + 1


def table(n):
    return [i * 2 for i in range(n)]


TABLE = table(4)


class Cart:
    limit = 10

    def __init__(self, size=3):
        self.items = []
        self.size = size

    def add(self, n):
        if len(self.items) >= self.size:
            raise ValueError("full")
        self.items.append(n)

    @property
    def total(self):
        return sum(n * RATE for n in self.items)

    @staticmethod
    def zero():
        return 0

    @functools.lru_cache(maxsize=None)
    def cached(self, n):
        return n + 1


def count(step):
    n = 0

    def more():
        nonlocal n
        n += step
        return n

    return more


COUNT = count(2)


def numbers(n):
    i = 0
    while i < n:
        yield i
        i += 1


async def later(n):
    return n - 1


def lazy(n):
    import lazy_shapes

    return lazy_shapes.double(n)


def unused(a, b):
    return a < b and b > 3
`

const lazyShapesPy = `def double(n):
    return n * 2
`

const shapesPyTest = `import asyncio
import subprocess
import sys
import unittest

import pytest

import shapes
from shapes import COUNT, TABLE, Cart, count, lazy, later, numbers


@pytest.fixture(scope="session")
def cart():
    c = Cart()
    c.add(1)
    return c


def test_total(cart):
    assert cart.total == 3


def test_again(cart):
    cart.add(2)
    assert cart.total >= 3


@pytest.mark.parametrize("n, want", [(1, 2), (2, 3)])
def test_cached(n, want):
    assert Cart().cached(n) == want


def test_full():
    c = Cart(1)
    c.add(1)
    with pytest.raises(ValueError):
        c.add(1)


def test_zero():
    assert Cart.zero() == 0


def test_table():
    assert TABLE == [0, 2, 4, 6] and shapes.table(1) == [0]


def test_count():
    more = count(2)
    more()
    assert more() == 4
    assert COUNT() == 2


def test_numbers(tmp_path):
    assert list(numbers(3)) == [0, 1, 2]


def test_lazy():
    assert lazy(2) == 4


def test_program():
    out = subprocess.check_output([sys.executable, "-c", "import shapes; print(shapes.table(2))"])
    assert out.strip() == b"[0, 2]"


class TestLater(unittest.TestCase):
    def test_later(self):
        self.assertEqual(asyncio.run(later(3)), 2)

    def test_fails(self):
        self.fail()
`

// pytestShapes runs mutants of Python functions of all shapes both ways.
func pytestShapes(t *testing.T, most int) (together int) {
	t.Helper()
	tools.Need(t, "python3 -m pytest")
	files := map[string]string{"shapes.py": shapesPy, "lazy_shapes.py": lazyShapesPy, "test_shapes.py": shapesPyTest}
	check := measure.Check{
		Kind: measure.Test, Name: "pytest", Runner: "pytest", Command: []string{"python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=report.xml", "-o", "junit_family=xunit1"}, Reports: []string{"report.xml"},
	}
	return compare(t, files, check, most, "shapes.py", "lazy_shapes.py")
}

func TestPytestAllAtOnce(t *testing.T) {
	if n := pytestShapes(t, 5); n != 3 { // one is outside of functions, one in a function that an import enters
		t.Errorf("%d mutants together", n)
	}
}

// Python functions of all shapes have the same results both ways: those that run when a module is
// imported, that a module imported later has, or that another process imports.
func TestE2EPytestShapes(t *testing.T) {
	tools.Long(t)
	if n := pytestShapes(t, 100); n < 30 {
		t.Errorf("%d mutants together", n)
	}
}
