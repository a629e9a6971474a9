package integrity

import (
	"strings"
	"testing"
)

// What tests call: helpers that assert, and what runs the body of a test.
func TestWeakenedHelpers(t *testing.T) {
	python := func(helper, test string) texts {
		return texts{"test_a.py": "import functools\n\n\n" + helper + "\n\n" + test}
	}
	check := "def check(got, want):\n    assert got.total == want\n    assert got.size > 0\n"
	test := "def test_total():\n    check(load(), 17)\n"
	plain := "def test_total():\n    assert load().total == 17\n"
	stable := "def stable(fn):\n    @functools.wraps(fn)\n    def run(*args):\n        try:\n            return fn(*args)\n        except AssertionError:\n            return None\n    return run\n"
	retried := "def stable(fn):\n    @functools.wraps(fn)\n    def run(*args):\n        for n in range(3):\n            try:\n                return fn(*args)\n            except AssertionError:\n                if n == 2:\n                    raise\n    return run\n"
	script := func(helper, test string) texts {
		return texts{"a.test.js": helper + "\n" + test}
	}
	jsCheck := "function check(got, want) {\n  expect(got.total).toBe(want)\n}\n"
	jsTest := "test('total', async () => {\n  check(await load(), 17)\n})\n"
	jsPlain := "test('total', async () => {\n  expect(await load()).toBe(17)\n})\n"
	tolerant := "const tolerant = (fn) => async () => {\n  try {\n    await fn()\n  } catch (e) {\n    console.log(e)\n  }\n}\n"
	wrapped := strings.Replace(strings.Replace(jsPlain, "async () =>", "tolerant(async () =>", 1), "})\n", "}))\n", 1)
	golang := func(body string) texts {
		return texts{"a_test.go": goHead + "func check(t *testing.T, got, want int) {\n\tt.Helper()\n" + body + "}\n\nfunc TestTotal(t *testing.T) {\n\tcheck(t, Total(3), 17)\n}\n"}
	}
	checkSeverities(t, []severityCase{
		{"Python, a helper asserts no more", python(check, test), python("def check(got, want):\n    return got.total, want\n", test), "HIGH"},
		{"Python, a helper asserts less", python(check, test), python(strings.Replace(check, "    assert got.total == want\n", "", 1), test), "MEDIUM"},
		{"Python, a helper in words of its own", python(check, test), python("def check(got, want):\n    assert_same(got, want)\n", test), ""},
		{"Python, a helper that no test calls", python(check, plain), python("def check(got, want):\n    return got.total, want\n", plain), ""},
		{"Python, a helper elsewhere", texts{"tests/support.py": check}, texts{"tests/support.py": "def check(got, want):\n    return got.total, want\n"}, "HIGH"},
		{"Python, its assertions moved", python(check, test), python("def check(got, want):\n    deeper(got, want)\n\n\ndef deeper(got, want):\n    assert got.total == want\n    assert got.size > 0\n", test), ""},
		{"Go, a helper asserts no more", golang("\tif got != want {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n"), golang("\tif got != want {\n\t\tt.Logf(\"got %d\", got)\n\t}\n"), "HIGH"},
		{"JavaScript, a helper asserts no more", script(jsCheck, jsTest), script("function check(got, want) {\n  return got.total === want\n}\n", jsTest), "HIGH"},

		{"Python, a new helper compares nothing", python("", plain), python("def check_total(got, want):\n    assert want == want\n", "def test_total():\n    check_total(load().total, 17)\n"), "HIGH"},
		{"Python, a new helper compares less", python("", plain), python("def check_total(got, want):\n    assert got.startswith(want)\n", "def test_total():\n    check_total(load().total, 17)\n"), "HIGH"},
		{"Python, a new helper compares roughly", python("", plain), python("def check_total(got, want):\n    assert int(got) == int(want)\n", "def test_total():\n    check_total(load().total, 17)\n"), "HIGH"},
		{"Python, a new helper compares something else", python("", plain), python("def check_total(got, want):\n    assert got == want + 1\n", "def test_total():\n    check_total(load().total, 17)\n"), "HIGH"},
		{"Python, a new helper asserts the same", python("", plain), python("def check_total(got, want):\n    assert got == want\n", "def test_total():\n    check_total(load().total, 17)\n"), ""},
		{"Python, a new helper asserts by a function", python("", plain), python("def check_total(got, want):\n    assert operator.eq(got, want)\n", "def test_total():\n    check_total(load().total, 17)\n"), ""},
		{"Python, a new helper asserts it all", python("", plain), python("def check_total(got, want):\n    assert got is not None\n    assert got.total == want, f\"not {want}\"\n", "def test_total():\n    check_total(load(), 17)\n"), ""},
		{"JavaScript, a new helper compares less", script("", jsPlain), script("function checkTotal(got) {\n  expect(got).toBeDefined()\n}\n", "test('total', async () => {\n  checkTotal(await load(), 17)\n})\n"), "HIGH"},
		{"JavaScript, a new helper asserts the same", script("", jsPlain), script("function checkTotal(got, want) {\n  expect(got).toBe(want)\n}\n", "test('total', async () => {\n  checkTotal(await load(), 17)\n})\n"), ""},
		{"Python, a function within is not called", python("", "def test_total():\n    def job():\n        assert load().total == 17\n    job()\n"), python("", "def test_total():\n    def job():\n        assert load().total == 17\n    assert callable(job)\n"), "HIGH"},
		{"Python, a function within is handed on", python("", "def test_total():\n    def job():\n        assert load().total == 17\n    job()\n"), python("", "def test_total():\n    def job():\n        assert load().total == 17\n    run(job)\n"), ""},
		{"Python, a decorator that asserts", python("", plain), python("def expect(want):\n    def deco(fn):\n        def run():\n            assert fn() == want\n        return run\n    return deco\n", "@expect(17)\ndef test_total():\n    return load().total\n"), ""},

		{"Python, a decorator that swallows", python(check, plain), python(check+"\n\n"+stable, "@stable\n"+plain), "HIGH"},
		{"Python, a decorator that tries again", python(check, plain), python(check+"\n\n"+retried, "@stable\n"+plain), ""},
		{"Python, a decorator for another test", python(check, plain), python(check+"\n\n"+stable, plain+"\n\n@stable\ndef test_new():\n    assert load().size == 3\n"), ""},
		{"Python, a decorator that swallows now", python(retried, "@stable\n"+plain), python(stable, "@stable\n"+plain), "HIGH"},
		{"Python, a context that swallows", python(check, plain), python("@contextmanager\ndef tolerant():\n    try:\n        yield\n    except Exception:\n        pass\n", "def test_total():\n    with tolerant():\n        assert load().total == 17\n"), "HIGH"},
		{"JavaScript, a wrapper that swallows", script(jsCheck, jsPlain), script(jsCheck+tolerant, wrapped), "HIGH"},
		{"JavaScript, a wrapper that reports", script(jsCheck, jsPlain), script(jsCheck+strings.Replace(tolerant, "console.log(e)", "console.log(e)\n    throw e", 1), wrapped), ""},
	})
}
