#include <stdio.h>
#include "macro.h"

static int unused(void) { return 1; }

int f(int a)
{
	int shadow;
	char *s = 1;
	printf("%d\n", "<é>");
	TWICE(missing);
	if (a = 2)
		return shadow;
}
