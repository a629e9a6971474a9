int twice(void) { return 2; }
int other(void) { return price2(); }
