import unittest
import warnings

import pytest


def test_passes():
    print("a line to standard output")


def test_fails():
    assert 1 == 2, "one is not two"


@pytest.mark.skip(reason="needs a database")
def test_skips():
    pass


@pytest.mark.xfail(reason="known bug")
def test_expected_failure():
    assert False


@pytest.mark.xfail(reason="thought to be a bug")
def test_unexpected_pass():
    pass


@pytest.mark.xfail(strict=True, reason="is a bug for sure")
def test_strict_unexpected_pass():
    pass


@pytest.mark.parametrize("word", ["a", "b c", "<d> & \"e\"", "grüßt 世界", "x::y[z]"])
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


def test_teardown_breaks(untidy):
    pass


def test_fails_twice(untidy):
    assert False


tries = 0


@pytest.mark.flaky(reruns=2)
def test_passes_the_second_time():
    global tries
    tries += 1
    assert tries == 2


@pytest.mark.flaky(reruns=1)
def test_fails_every_time():
    assert False


def test_skips_while_it_runs():
    pytest.skip("later")


def test_warns():
    warnings.warn("deprecated", DeprecationWarning)


class TestGroup:
    class TestDeeper:
        def test_passes(self):
            pass


class TestCase(unittest.TestCase):
    def test_subtests(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertNotEqual(n, 1)

    @unittest.expectedFailure
    def test_expected_failure(self):
        self.fail()
