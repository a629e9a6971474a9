int f(void) {
	int unused;
	return missing;
}
