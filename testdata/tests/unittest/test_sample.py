import sys
import unittest


class Sample(unittest.TestCase):
    def test_passes(self):
        pass

    def test_documented(self):
        """It has a first line of documentation."""

    def test_fails(self):
        self.assertEqual(1, 2, "one is not two")

    def test_breaks(self):
        raise RuntimeError("broken <tag> & more")

    @unittest.skip("needs a database")
    def test_skips(self):
        pass

    def test_skips_while_it_runs(self):
        self.skipTest("later")

    @unittest.expectedFailure
    def test_expected_failure(self):
        self.fail()

    @unittest.expectedFailure
    def test_unexpected_success(self):
        pass

    def test_subtests(self):
        for n in range(3):
            with self.subTest("with a message", n=n):
                self.assertNotEqual(n, 1)

    def test_grüßt_die_welt(self):
        pass

    def test_prints(self):
        print("a line to standard output")
        print("a line to standard error ... ok", file=sys.stderr)


class Untidy(unittest.TestCase):
    def tearDown(self):
        raise RuntimeError("teardown")

    def test_passes(self):
        pass

    def test_fails(self):
        self.fail()


class WithoutDatabase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("no database")

    def test_never(self):
        pass
