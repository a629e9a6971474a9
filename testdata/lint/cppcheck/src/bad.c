#include <stdlib.h>
#include <string.h>

int f(int a)
{
	char *p = malloc(10);
	strcpy(p, "<é>");
	if (a == 1)
		return 1;
	if (a)
		;
	int z = a / 0;
	return z + (int)*(p + 1);
}
