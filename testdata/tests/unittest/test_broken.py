import nowhere_to_be_found


def test_never():
    pass
