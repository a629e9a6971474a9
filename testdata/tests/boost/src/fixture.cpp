#define BOOST_TEST_MODULE fixture
#include <boost/test/included/unit_test.hpp>
#include <stdexcept>

struct Shop {
  void setup() { throw std::runtime_error("no database"); }
};
BOOST_TEST_GLOBAL_FIXTURE(Shop);

BOOST_AUTO_TEST_CASE(price) { BOOST_TEST(1 + 1 == 2); }
