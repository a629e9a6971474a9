#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static void test_adds(void) { TEST_ASSERT_EQUAL_INT(4, 2 + 2); }
static void test_subtracts(void) { TEST_ASSERT_EQUAL_INT_MESSAGE(1, 3 - 1, "off by one: again"); }
static void test_divides(void) { TEST_IGNORE_MESSAGE("not yet"); }
static void test_later(void) { TEST_IGNORE(); }
static void test_says(void) { TEST_MESSAGE("a word"); }

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(test_adds);
	RUN_TEST(test_adds);
	RUN_TEST(test_subtracts);
	RUN_TEST(test_divides);
	RUN_TEST(test_later);
	RUN_TEST(test_says);
	return UNITY_END();
}
