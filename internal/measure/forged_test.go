package measure_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"supervise/internal/measure"
	"supervise/metric"
)

// names are the tests that passed, and those that were forged.
func names(t *metric.Tests) (passed, forged []string) {
	for _, c := range t.Cases {
		if c.Status == metric.Passed {
			passed = append(passed, c.Name)
		}
	}
	for _, id := range t.Forged {
		forged = append(forged, id.Name)
	}
	slices.Sort(forged)
	return passed, forged
}

// change writes files into a tree.
func change(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What a TestMain prints is no test, in plain text and as events; new tests with subtests
// are.
func TestPrintedGoTestsDoNotCount(t *testing.T) {
	needGo(t)
	for arg, mark := range map[string]string{"-v": "", "-json": "\\x16"} { // test2json wants a mark
		root := tree(t, map[string]string{
			"go.mod": "module example.com/m\n\ngo 1.21\n", "a.go": "package m\n",
			"a_test.go": "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n",
		})
		check := measure.Check{Kind: measure.Test, Name: "go test", Runner: "go", Command: []string{"go", "test", arg, "./..."}}
		before := run(t, root, nil, check).Set.Tests
		change(t, root, map[string]string{"b_test.go": "package m\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n)\n\n" +
			"func TestMain(m *testing.M) {\n\tcode := m.Run()\n\tfmt.Println(\"" + mark + "=== RUN   TestForged\")\n\tfmt.Println(\"" + mark + "--- PASS: TestForged (0.00s)\")\n\tos.Exit(code)\n}\n\n" +
			"func TestB(t *testing.T) {\n\tt.Run(\"some case\", func(t *testing.T) {})\n}\n\nfunc FuzzC(f *testing.F) {\n\tf.Add(1)\n\tf.Fuzz(func(t *testing.T, n int) {})\n}\n"})
		res := run(t, root, before, check)
		for name, set := range map[string]metric.Set{"later": res.Set, "baseline": run(t, root, nil, check).Set} {
			passed, forged := names(set.Tests)
			if !slices.Equal(passed, []string{"FuzzC", "FuzzC/seed#0", "TestA", "TestB", "TestB/some_case"}) || !slices.Equal(forged, []string{"TestForged"}) {
				t.Errorf("%s, %s: passed %q, forged %q; problems %q", arg, name, passed, forged, res.Runs[0].Problems)
			}
		}
	}
}

// What is only in the report of pytest is no test. Parameters, tests that are made when
// they are collected, and those of plugins are.
func TestForgedCasesOfPytestDoNotCount(t *testing.T) {
	if err := exec.Command("python3", "-m", "pytest", "--version").Run(); err != nil {
		t.Skip("there is no pytest")
	}
	root := tree(t, map[string]string{"test_a.py": "def test_a():\n    pass\n"})
	check := measure.Check{
		Kind: measure.Test, Name: "pytest", Runner: "pytest", Reports: []string{measure.ReportDir + "/r.xml"},
		Command:   []string{"python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", "--junitxml=" + measure.ReportDir + "/r.xml"},
		Inventory: []string{"python3", "-m", "pytest", "--collect-only", "--verbosity=-1", "--color=no", "-p", "no:cacheprovider", "--doctest-modules"},
	}
	before := run(t, root, nil, check).Set.Tests
	change(t, root, map[string]string{
		"test_b.py": "import unittest\nimport pytest\n\n@pytest.mark.parametrize(\"x\", [\"a::b\", \"c (d)\"])\ndef test_b(x):\n    pass\n\n" +
			"class TestMade(unittest.TestCase):\n    pass\n\nfor n in range(2):\n    setattr(TestMade, f\"test_made_{n}\", lambda self: None)\n\ndef f():\n    \"\"\"\n    >>> 1\n    1\n    \"\"\"\n",
		"conftest.py": "import re\n\ndef pytest_sessionfinish(session):\n    import atexit\n    path = session.config.option.xmlpath\n    def more():\n        text = open(path).read()\n" +
			"        text = text.replace('</testsuite>', '<testcase classname=\"test_a\" name=\"test_more\" time=\"0\"/></testsuite>')\n        text = re.sub(r'tests=\"\\d+\"', lambda m: 'tests=\"%d\"' % (int(m.group()[7:-1]) + 1), text)\n        open(path, 'w').write(text)\n    if path:\n        atexit.register(more)\n",
	})
	res := run(t, root, before, check)
	passed, forged := names(res.Set.Tests)
	if len(passed) != 6 || !slices.Equal(forged, []string{"test_more"}) {
		t.Errorf("passed %q, forged %q; problems %q", passed, forged, res.Runs[0].Problems)
	}
}
