#include "unity_fixture.h"

TEST_GROUP(calc);
TEST_SETUP(calc) {}
TEST_TEAR_DOWN(calc) {}
TEST(calc, adds) { TEST_ASSERT_EQUAL_INT(4, 2 + 2); }
TEST(calc, subtracts) { TEST_ASSERT_EQUAL_INT(1, 3 - 1); }
IGNORE_TEST(calc, divides) {}
TEST_GROUP_RUNNER(calc)
{
	RUN_TEST_CASE(calc, adds);
	RUN_TEST_CASE(calc, subtracts);
	RUN_TEST_CASE(calc, divides);
}
static void all(void) { RUN_TEST_GROUP(calc); }

int main(int argc, const char **argv) { return UnityMain(argc, argv, all); }
