package metric_test

import (
	"testing"

	"supervise/metric"
)

func TestFind(t *testing.T) {
	var cases []metric.Test
	for _, id := range []metric.ID{
		{Suite: "example.org/calc", Name: "TestAdd"},
		{Suite: "example.org/calc", Name: "TestAdd/zero"},
		{Suite: "example.org/text", Name: "TestAdd"},
		{Suite: "tests.test_a", Name: "test_b"},
		{Suite: "tests.test_a", Name: "test_c[1-2]"},
		{Suite: "tests.test_a", Name: "test_c[3-4]"},
		{Suite: "calc.test.js", Name: "adds two numbers"},
		{Class: "TestX", Name: "test_only"},
	} {
		cases = append(cases, metric.Test{ID: id, Status: metric.Passed})
	}
	tests := metric.NewTests(cases)
	for _, tt := range []struct{ name, want string }{
		{"example.org/calc: TestAdd", "example.org/calc: TestAdd"},
		{"example.org/calc TestAdd", "example.org/calc: TestAdd"},
		{"TestAdd/zero", "example.org/calc: TestAdd/zero"},
		{"tests/test_a.py::test_b", "tests.test_a: test_b"},
		{"test_b", "tests.test_a: test_b"},
		{"other/test_z.py::test_b", "tests.test_a: test_b"}, // there is no other
		{"tests/test_a.py::test_c", "tests.test_a: test_c"},
		{"test_c[1-2]", "tests.test_a: test_c[1-2]"},
		{"calc.test.js > adds two numbers", "calc.test.js: adds two numbers"},
		{"TestX::test_only", "TestX.test_only"},
		{"TestAdd", ""},   // two
		{"my_test_b", ""}, // another name
		{"é test_b", "tests.test_a: test_b"},
		{"étest_b", ""},
		{"*", ""},
		{"", ""},
	} {
		id, ok := tests.Find(tt.name)
		if got := id.String(); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("Find(%q) = %q, %v; want %q", tt.name, got, ok, tt.want)
		}
	}
	if _, ok := (*metric.Tests)(nil).Find("x"); ok {
		t.Error("a test was found among none")
	}
}
