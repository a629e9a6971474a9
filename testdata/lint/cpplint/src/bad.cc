#include <vector>
#include <string>

template <typename T> T add(T a, T b) { return a + b.nosuch(); }

int main()
{
	std::vector<std::string> v;
	v.push_back(1.5);
	add(1, 2);
	int unused;
	return "x";
}
