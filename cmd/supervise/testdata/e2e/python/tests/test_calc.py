import pytest

from calc import add, sign


@pytest.mark.parametrize("a,b", [(1, 2), (2, 1)])
def test_add(a, b):
    assert add(a, b) == 3


class TestSign:
    def test_positive(self):
        assert sign(3) == 1

    def test_zero(self):
        assert sign(0) == 0

    @pytest.mark.skip(reason="later")
    def test_negative(self):
        assert sign(-3) == -1


@pytest.fixture
def broken():
    raise RuntimeError("no")


def test_setup(broken):
    pass
