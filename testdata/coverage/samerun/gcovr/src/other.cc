#include <vector>

template <typename T> T larger(T a, T b) {
  return a > b ? a : b;
}

struct Basket {
  explicit Basket(int n) : items(n) {}
  int size() const { return static_cast<int>(items.size()); }
  bool empty() const { return items.empty(); }
  std::vector<int> items;
};

// GCOVR_EXCL_START
int ignored() { return 0; }
// GCOVR_EXCL_STOP

int main() {
  Basket basket(3);
  return larger(basket.size(), 3) + larger(1.0, 2.0) > 4 ? 0 : 1;
}
