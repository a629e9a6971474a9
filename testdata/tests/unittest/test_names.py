import unittest


class Names(unittest.TestCase):
    def test_plain(self):
        pass


def passes(self):
    pass


def fails(self):
    """With a line of documentation."""
    self.fail("no")


for name in ["Links,_inline_style", "Inline_HTML_(Simple)", "Yuriy's-syntax", "with spaces", "a (b) c"]:
    setattr(Names, "test_" + name, passes)
setattr(Names, "test_fails,_too", fails)
