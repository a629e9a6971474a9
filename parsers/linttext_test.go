package parsers_test

import "testing"

func FuzzLintText(f *testing.F) { fuzz(f, "lint-text", "a.c:1:2: error: x\n") }
