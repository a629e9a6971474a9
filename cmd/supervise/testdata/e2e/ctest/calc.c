int add(int a, int b) { return a + b; }
int sign(int n) { return n > 0 ? 1 : 0; }
