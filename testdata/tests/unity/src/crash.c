#include <stdlib.h>
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static void test_fine(void) {}
static void test_crashes(void) { abort(); }

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(test_fine);
	RUN_TEST(test_crashes);
	return UNITY_END();
}
