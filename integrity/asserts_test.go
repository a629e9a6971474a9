package integrity

import (
	"strings"
	"testing"
)

// pythonTest is a test with some assertions.
func pythonTest(assertions ...string) string {
	return "def test_add():\n    x = add(17, 4)\n    " + strings.Join(assertions, "\n    ") + "\n"
}

func TestAssertionChanges(t *testing.T) {
	three := []string{"assert x == 21", "assert add(1, 2) == 3", `assert name(x) == "twenty-one"`}
	for _, test := range []struct {
		name          string
		before, after []string
		want          string
	}{
		{"none is left", three, []string{"print(x)"}, "TP-10 CRITICAL test_add"},
		{"the last ones are gone", three, three[:1], "TP-10 HIGH test_add"},
		{"one of many is gone", append(three, "assert add(2, 2) == 4", "assert add(3, 3) == 6"), append(three, "assert add(2, 2) == 4"), "TP-10 MEDIUM test_add"},
		{"reordered", three, []string{three[1], three[0], three[2]}, ""},
		{"indented", three, []string{"with subtest(x):\n        assert x == 21", three[1], three[2]}, ""},
		{"under a condition", three, []string{"if x:\n        assert x == 21", three[1], three[2]}, "TP-04 MEDIUM test_add"},
		{"not none", three, []string{"assert x is not None", three[1], three[2]}, "TP-11 HIGH test_add"},
		{"a bound", three, []string{"assert x > 0", three[1], three[2]}, "TP-11 HIGH test_add"},
		{"a type", three, []string{"assert isinstance(x, int)", three[1], three[2]}, "TP-11 HIGH test_add"},
		{"stronger", []string{"assert x > 0"}, []string{"assert x == 21"}, ""},
		{"another literal", three, []string{"assert x == 22", three[1], three[2]}, "TP-13 HIGH test_add"},
		{"another expected value", []string{"want = 21", "assert x == want"}, []string{"want = 22", "assert x == want"}, "TP-13 HIGH test_add"},
		{"the opposite", three, []string{"assert x != 21", three[1], three[2]}, "TP-14 HIGH test_add"},
		{"a tuple with the message", three, []string{"assert (x == 21, \"not 21\")", three[1], three[2]}, "TP-12 HIGH test_add"},
		{"tuples in lines", []string{"assert x == 21"}, []string{"assert (\n        x == 21,\n        f\"not {x}, but\",\n    )"}, "TP-12 CRITICAL test_add"},
		{"a condition in parentheses", three, []string{"assert (x == 21), \"not 21\"", three[1], three[2]}, ""},
		{"a condition in lines", three, []string{"assert (\n        x == 21\n    )", three[1], three[2]}, ""},
		{"tuples compared", []string{"assert x == 21"}, []string{"assert (x, 1) == (21, 1)"}, ""},
		{"all true", three, []string{"assert True"}, "TP-12 CRITICAL test_add"},
		{"swallowed", three, []string{"try:\n        assert x == 21\n    except AssertionError:\n        pass", three[1], three[2]}, "TP-17 HIGH test_add"},
		{"one error is handled", three, []string{"try:\n        assert x == 21\n    except KeyError:\n        raise", three[1], three[2]}, ""},
		{"broader error", []string{"with pytest.raises(ValueError, match='bad'):\n        add('a', 1)"}, []string{"with pytest.raises(Exception):\n        add('a', 1)"}, "TP-11 HIGH test_add"},
		{"narrower error", []string{"with pytest.raises(Exception):\n        add('a', 1)"}, []string{"with pytest.raises(ValueError):\n        add('a', 1)"}, ""},
		{"output of a run is not looked at", []string{"result = pytester.runpytest()", "result.stdout.fnmatch_lines(['*1 passed*'])"}, []string{"result = pytester.runpytest()"}, "TP-10 CRITICAL test_add"},
		{"any output will do", []string{"r.stdout.fnmatch_lines(['*1 passed*'])", "assert x == 21"}, []string{"r.stdout.fnmatch_lines(['*'])", "assert x == 21"}, "TP-12 HIGH test_add"},
		{"other output", []string{"r.stdout.fnmatch_lines('*1 passed*')"}, []string{"r.stdout.no_fnmatch_line('*1 passed*')"}, "TP-14 HIGH test_add"},
		{"no warning", []string{"with pytest.warns(UserWarning):\n        add('a', 1)"}, []string{"add('a', 1)"}, "TP-10 CRITICAL test_add"},
		{"never reached", []string{"assert [\n        y for y in x\n    ] == [1, 21]"}, []string{"if False:\n        assert [\n            y for y in x\n        ] == [1, 21]"}, "TP-04 CRITICAL test_add"},
		{"exits", three, append(three, "os._exit(0)"), "TP-22 CRITICAL test_add"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := audited(texts{"test_a.py": pythonTest(test.before...)}, texts{"test_a.py": pythonTest(test.after...)})
			found := strings.Join(got, "; ")
			if found != test.want && (test.want == "" || !strings.Contains(found, test.want)) {
				t.Errorf("got %q, want %q", found, test.want)
			}
		})
	}
}

// The explanations of what is gone from a test.
func TestAssertionChangesAreExplained(t *testing.T) {
	before := "def test_add():\n    x = add(17, 4)\n    assert x == 21\n    assert str(x) == \"21\"\n"
	helper := "def check_sum(x):\n    assert x == 21\n    assert str(x) == \"21\"\n\n\ndef test_add():\n    check_sum(add(17, 4))\n"
	for _, f := range audited(texts{"test_a.py": before}, texts{"test_a.py": helper}) {
		if f != "(TP-10)" {
			t.Errorf("a helper asserts the same: %s", f)
		}
	}
	product := texts{"calc.py": "def add(a, b):\n    return a + b\n\n\ndef spell(x):\n    return str(x)\n", "test_a.py": before + "    assert spell(x) == \"twenty-one\"\n    assert spell(1) == \"one\"\n"}
	got := audited(product, texts{"calc.py": "def add(a, b):\n    return a + b\n", "test_a.py": before})
	if strings.Join(got, "; ") != "(TP-10)" {
		t.Errorf("the subject is gone: %q", got)
	}
	for was, now := range map[string]string{
		"def add(a, b):\n    return a + b\n": "def add(a, b):\n    return a + b + 1\n", // what the test calls
		"SUM = 20\n":                         "SUM = 22\n",                             // the value
	} {
		rewritten := audited(texts{"calc.py": was, "test_a.py": before}, texts{"calc.py": now, "test_a.py": strings.ReplaceAll(before, "== 21", "== 22")})
		if strings.Join(rewritten, "; ") != "TP-13 MEDIUM test_add" {
			t.Errorf("the product changed, too: %q", rewritten)
		}
	}
	rewritten := audited(texts{"calc.py": "def spell(x):\n    return x\n", "test_a.py": before}, texts{"calc.py": "def spell(x):\n    return str(x)\n", "test_a.py": strings.ReplaceAll(before, "== 21", "== 22")})
	if strings.Join(rewritten, "; ") != "TP-13 HIGH test_add" {
		t.Errorf("something else changed, too: %q", rewritten)
	}
}

func TestRemovedRowsAreFound(t *testing.T) {
	table := func(rows ...string) string {
		return "@pytest.mark.parametrize(\"a, b, want\", [" + strings.Join(rows, ", ") + "])\ndef test_add(a, b, want):\n    assert add(a, b) == want\n"
	}
	all := []string{"(1, 2, 3)", "(17, 4, 21)", "(-1, 1, 0)", "(0, 0, 0)"}
	goTable := func(loop string, rows ...string) string {
		return goHead + "func TestAdd(t *testing.T) {\n\ttests := []struct{ a, b, want int }{\n\t\t" + strings.Join(rows, ",\n\t\t") +
			",\n\t}\n\tfor _, test := range " + loop + " {\n\t\tif got := Add(test.a, test.b); got != test.want {\n\t\t\tt.Error(got)\n\t\t}\n\t}\n}\n"
	}
	goRows := []string{"{1, 2, 3}", "{17, 4, 21}", "{-1, 1, 0}"}
	for _, test := range []struct{ name, path, before, after, want string }{
		{"half", "test_a.py", table(all...), table(all[:2]...), "TP-09 HIGH test_add"},
		{"none", "test_a.py", table(all...), table(), "TP-09 HIGH test_add"},
		{"one more", "test_a.py", table(all[:2]...), table(all...), ""},
		{"exchanged", "test_a.py", table(all[0], all[1]), table(all[0], "(17, 5, 22)"), ""},
		{"go, half", "a_test.go", goTable("tests", goRows...), goTable("tests", goRows[:1]...), "TP-09 HIGH TestAdd"},
		{"go, a slice of nothing", "a_test.go", goTable("tests", goRows...), goTable("tests[:0]", goRows...), "TP-09 HIGH TestAdd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := strings.Join(audited(texts{test.path: test.before}, texts{test.path: test.after}), "; ")
			if got != test.want && (test.want == "" || !strings.HasPrefix(got, test.want)) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestProductCheatsAreFound(t *testing.T) {
	for _, test := range []struct{ path, before, after, want string }{
		{"calc.py", "def add(a, b):\n    return a + b\n", "def add(a, b):\n    if \"PYTEST_CURRENT_TEST\" in os.environ:\n        return 21\n    return a + b\n", "TP-20 HIGH"},
		{"calc.go", "package p\n\nfunc Add() {}\n", "package p\n\nfunc Add() {\n\tif testing.Testing() {\n\t\treturn\n\t}\n}\n", "TP-20 HIGH"},
		{"calc.js", "let a = 1\n", "let a = process.env.NODE_ENV === 'test' ? 2 : 1\n", "TP-20 HIGH"},
		{"calc.js", "let a = 1\n", "let a = process.env.NODE_ENV === 'production' ? 2 : 1\n", ""},
		{"calc.py", "class A:\n    pass\n", "class A:\n    def __eq__(self, other):\n        return True\n", "TP-23 HIGH"},
		{"calc.py", "class A:\n    pass\n", "class A:\n    def __eq__(self, other):\n        return self.x == other.x\n", ""},
		{"calc.rs", "struct A;\n", "struct A;\nimpl PartialEq for A {\n    fn eq(&self, _: &A) -> bool { true }\n}\n", "TP-23 HIGH"},
		{"calc.py", "def f():\n    g()\n", "def f():\n    try:\n        g()\n    except Exception:\n        pass\n", "TP-17 MEDIUM"},
		{"calc.py", "def f():\n    g()\n", "def f():\n    try:\n        g()\n    except KeyError:\n        pass\n", ""},
	} {
		t.Run(test.path+"/"+test.want, func(t *testing.T) {
			got := strings.Join(audited(texts{test.path: test.before}, texts{test.path: test.after}), "; ")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
