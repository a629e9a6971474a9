#include <stdio.h>

static int price(int count, int member) {
  if (count < 0)
    return -1;
  int full = count * 10;
  return member ? full * 9 / 10 : full;
}

static int both(int a, int b) {
  return a && b;
}

#define TWICE(n) ((n) > 0 ? (n) * 2 : 0)

int never(int n) {
  switch (n) {
  case 1:
    return 1;
  default:
    return TWICE(n);
  }
}

int main(void) {
  for (int i = 0; i < 3; i++)
    printf("%d\n", price(i, 0) + both(i, i > 1) + TWICE(i));
  return 0;
}
