def price(count, member=False):
    if count < 0:
        raise ValueError("negative")
    full = count * 10
    if member:
        full = full * 9 // 10
    return full


class Basket:
    def __init__(self):
        self.items = []

    def add(self, item):
        for known in self.items:
            if known == item:
                break
        else:
            self.items.append(item)
        return [i for i in self.items if i]

    @property
    def empty(self):
        return not self.items


def ignored():  # pragma: no cover
    return 0


def never(x): return x
