import unittest


class Clean(unittest.TestCase):
    def test_one(self):
        pass

    def test_two(self):
        pass

    @unittest.skip("later")
    def test_three(self):
        pass
