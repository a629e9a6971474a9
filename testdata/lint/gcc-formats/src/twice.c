int main(void) { return 0; }
int one(void) { return 2; }
