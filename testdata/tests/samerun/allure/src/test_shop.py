import allure
import pytest


@allure.feature("orders")
class TestOrders:
    def test_price(self):
        assert 1 + 1 == 2

    def test_discount(self):
        with allure.step("place an order"):
            assert 3 == 4, "wrong discount"

    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_taxes(self, n):
        assert n != 2

    @pytest.mark.skip(reason="not on this platform")
    def test_later(self):
        pass

    @pytest.mark.xfail(reason="known bug 7")
    def test_known(self):
        assert 1 == 2

    @pytest.fixture
    def shop(self):
        raise RuntimeError("no database")

    def test_setup(self, shop):
        pass

    @allure.title("The total is the sum")
    def test_total(self):
        raise ValueError("no sum")


def test_outside():
    pass
