ONE: int = 1
