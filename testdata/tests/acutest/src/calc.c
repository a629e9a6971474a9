#include <stdio.h>
#include <stdlib.h>
#include "acutest.h"

static void adds(void) { TEST_CHECK(2 + 2 == 4); }
static void speaks(void) { printf("a line\nand a part of one"); }
static void subtracts(void) { TEST_CHECK(3 - 1 == 1); TEST_MSG("have: %d", 3 - 1); }
static void crashes(void) { abort(); }

TEST_LIST = {
	{"adds", adds},
	{"speaks", speaks},
#ifdef BAD
	{"subtracts: a long name", subtracts},
	{"crashes", crashes},
#endif
	{NULL, NULL}
};
