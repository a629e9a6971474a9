#include <cstdio>
#include <stdexcept>

template <typename T> T twice(T value) {
  return value + value;
}

int price(int order) {
  if (order > 10 && order < 100) {
    return twice(order);
  }
  if (order < 0) {
    throw std::runtime_error("order"); // never
  }
  return order;
}

static int unused(int order) {
  return order * 3;
}

int main(int argc, char **argv) {
  std::printf("%d\n", price(20) + price(3) + (int)twice(2.5));
  return argc > 5 ? unused(argc) : 0;
}
