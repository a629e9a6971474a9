#define BOOST_TEST_MODULE shop
#include <boost/test/included/unit_test.hpp>
#include <boost/test/data/test_case.hpp>
#include <stdexcept>

namespace utf = boost::unit_test;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(orders)

BOOST_AUTO_TEST_CASE(price) { BOOST_TEST(1 + 1 == 2); }

BOOST_AUTO_TEST_CASE(discount) {
  int got = 3;
  BOOST_TEST_MESSAGE("placing an order");
  BOOST_TEST(got == 4);
  BOOST_CHECK_EQUAL(got, 5);
}

BOOST_AUTO_TEST_CASE(fatal) {
  BOOST_REQUIRE(1 == 2);
  BOOST_TEST(true);
}

BOOST_AUTO_TEST_CASE(throws) { throw std::runtime_error("no <order> & no price"); }

BOOST_AUTO_TEST_CASE(later, *utf::disabled()) { BOOST_TEST(false); }

BOOST_AUTO_TEST_CASE(asserts_nothing) {}

BOOST_AUTO_TEST_CASE(warns) { BOOST_WARN(1 == 2); BOOST_TEST(true); }

BOOST_AUTO_TEST_CASE(expected, *utf::expected_failures(1)) { BOOST_TEST(1 == 2); }

BOOST_AUTO_TEST_CASE(after_price, *utf::depends_on("orders/fatal")) { BOOST_TEST(true); }

BOOST_AUTO_TEST_CASE(slow, *utf::timeout(1)) { for (volatile long i = 0;; ++i) {} }

BOOST_AUTO_TEST_SUITE(inner)
BOOST_AUTO_TEST_CASE(price) { BOOST_TEST_CONTEXT("order 7") { BOOST_TEST(2 == 3); } }
BOOST_DATA_TEST_CASE(taxes, data::make({1, 2, 3}), n) { BOOST_TEST(n != 2); }
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(outside) { BOOST_TEST(true); }
