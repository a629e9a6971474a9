import unittest

import pytest


def test_passes():
    print("hello")


def test_fails():
    assert 1 == 2, "one is not two"


@pytest.mark.skip(reason="needs a database")
def test_skips():
    pass


@pytest.mark.xfail(reason="known bug")
def test_expected_failure():
    assert False


@pytest.mark.parametrize("word", ["a", "b c", "<d>", "\x1b[31m", "\x00"])
def test_each(word):
    assert word != "b c"


@pytest.fixture
def broken():
    raise RuntimeError("no fixture for you")


def test_setup_breaks(broken):
    pass


@pytest.fixture
def untidy():
    yield
    raise RuntimeError("teardown")


def test_fails_twice(untidy):
    assert False


class TestCase(unittest.TestCase):
    def test_subtests(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertNotEqual(n, 1)
