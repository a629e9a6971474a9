#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <iostream>
#include <stdexcept>

TEST_CASE("adds", "[fast]") { std::cout << "a line to standard output\n"; REQUIRE(1 + 1 == 2); }
TEST_CASE("fails") { CHECK(1 == 2); REQUIRE(2 == 3); }
TEST_CASE("throws <tag> & \"more\"") { throw std::runtime_error("broken"); }
TEST_CASE("is hidden", "[.]") {}
TEST_CASE("may fail", "[!mayfail]") { REQUIRE(1 == 2); }
TEST_CASE("should fail", "[!shouldfail]") { REQUIRE(1 == 2); }
TEST_CASE("should fail and does not", "[!shouldfail]") { REQUIRE(1 == 1); }
TEST_CASE("has no assertion") {}
TEST_CASE("grüßt die Welt 世界") { REQUIRE(true); }
TEST_CASE("with sections") {
  SECTION("one") { REQUIRE(true); }
  SECTION("two") {
    REQUIRE(true);
    SECTION("deeper") { REQUIRE(false); }
  }
}
TEST_CASE("generated") {
  auto n = GENERATE(1, 2, 3);
  REQUIRE(n != 2);
}
