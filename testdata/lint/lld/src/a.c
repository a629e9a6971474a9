int price(int order);
int twice(void) { return 1; }
int main(void) { return price(3) + missing_later(); }
