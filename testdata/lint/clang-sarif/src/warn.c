int f(int a) {
	int u;
	return 0;
}
