#include <stdlib.h>
#include <string.h>

int add(int a, int b);
int sign(int n);

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "add") == 0) return add(1, 2) != 3;
  if (argc > 1 && strcmp(argv[1], "sign") == 0) return sign(-1) != -1;
  if (argc > 1 && strcmp(argv[1], "crash") == 0) abort();
  return 77;
}
