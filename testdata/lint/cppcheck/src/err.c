int f(void) {
  int a[2];
  a[2] = 1;
  int *p = 0;
  return *p + "<é>"[0];
}
