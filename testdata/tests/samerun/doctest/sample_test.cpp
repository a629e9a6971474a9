#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <stdexcept>

TEST_SUITE("sums") {
	TEST_CASE("adds") { CHECK(1 + 1 == 2); }
	TEST_CASE("fails") {
		CHECK(1 == 2);
		REQUIRE(2 == 3);
	}
}

TEST_CASE("throws <tag> & \"more\"") { throw std::runtime_error("broken"); }
TEST_CASE("grüßt die Welt 世界") { CHECK(true); }
TEST_CASE("without an assertion") {}
TEST_CASE("left out" * doctest::skip()) { CHECK(false); }
TEST_CASE("may fail" * doctest::may_fail()) { CHECK(1 == 2); }
TEST_CASE("should fail" * doctest::should_fail()) { CHECK(1 == 2); }
TEST_CASE("should fail and does not" * doctest::should_fail()) { CHECK(1 == 1); }
TEST_CASE("warns") { WARN(1 == 2); }

TEST_CASE("with subcases") {
	SUBCASE("one") { CHECK(true); }
	SUBCASE("deeper") {
		SUBCASE("two") { FAIL_CHECK("a message"); }
		SUBCASE("three") { CHECK(true); }
	}
}

TEST_CASE_TEMPLATE("of types", T, int, char) { CHECK(sizeof(T) == sizeof(int)); }
