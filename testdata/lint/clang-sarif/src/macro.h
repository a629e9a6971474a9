#define TWICE(x) ((x) + nothing)
