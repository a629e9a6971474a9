package checks

import "testing"

// Of what a build printed, the line that says what failed is named.
func TestFirstError(t *testing.T) {
	for output, want := range map[string]string{
		"[  2%] Building CXX object error.cpp.o\nc++: fatal error: Killed signal terminated program cc1plus\ngmake[1]: *** [all] Error 2\n": "c++: fatal error: Killed signal terminated program cc1plus",
		"-- The C compiler is GNU\ngmake[1]: *** [Makefile:98: all] Error 2\n":                                                              "gmake[1]: *** [Makefile:98: all] Error 2",
		"# m\nno required module provides package x\n":                                                                                      "no required module provides package x",
		"": "make all ended with status 2",
	} {
		if got := (Run{Check: Check{Name: "make all"}, ExitCode: 2, Output: output}).FirstError(); got != want {
			t.Errorf("%q: %s, want %s", output, got, want)
		}
	}
}
