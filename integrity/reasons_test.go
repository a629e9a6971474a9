package integrity

import (
	"strings"
	"testing"

	"supervise/metric"
)

// A skip without a reason is CRITICAL; with one it is HIGH, and CRITICAL where the test
// ran.
func TestSkipWithReasonIsHigh(t *testing.T) {
	for _, test := range []struct {
		lang, mark, put string
		reason          bool
	}{
		{"go", "<first>", `t.Skip("flaky")`, true},
		{"go", "<first>", `t.Skip("#51")`, true},
		{"go", "<first>", `t.Skip("")`, false},
		{"go", "<first>", `t.SkipNow()`, false},
		{"go", "<first>", "// The server is slow to start.\n\tt.SkipNow()", true},
		{"go", "<first>", "t.SkipNow() // the server is slow to start", true},
		{"go", "<first>", "//nolint:paralleltest // it is one\n\tt.SkipNow()", false},
		{"go", "<first>", "// got := Sub(17, 4)\n\tt.SkipNow()", false},
		{"python", "<before>", "@pytest.mark.skip", false},
		{"python", "<before>", "# TODO\n@pytest.mark.skip", false},
		{"python", "<before>", "# TODO: broken since the new parser\n@pytest.mark.skip", true},
		{"python", "<before>", `@pytest.mark.skip("no")`, false},
		{"python", "<before>", `@pytest.mark.xfail(strict=False, reason="broken")`, true},
		{"python", "<before>", "@pytest.mark.xfail", false},
		{"unittest", "<before>", `@unittest.skip("later")`, true},
		{"unittest", "<before>", `@unittest.expectedFailure`, false},
		{"unittest", "<first>", `raise unittest.SkipTest("later")`, true},
		{"js", "<call>", "it.skip", false},
		{"js", "<call>", "xit", false},
		{"js", "<call>", "// RC2 is not supported on Node.js 17\n  // eslint-disable-next-line ava/no-skip-test\n  it.skip", true},
		{"js", "<call>", "// eslint-disable-next-line ava/no-skip-test\n  it.skip", false},
		{"js", "<first>", "this.skip()", false},
		{"java", "<before>", `@Ignore`, false},
		{"java", "<before>", `@Ignore // TODO Not currently implemented.`, true},
		{"java", "<before>", `@Disabled("somehow different on Windows")`, true},
		{"kotlin", "<before>", `@Ignore`, false},
		{"rust", "<before>", `#[ignore]`, false},
		{"rust", "<before>", `#[ignore = "needs a network"]`, true},
		{"rspec", "<call>", "xit", false},
		{"rspec", "<call>", "skip", false},
		{"rspec", "<opt>", ", skip: 'flaky'", true},
		{"rspec", "<opt>", ", :skip", false},
		{"minitest", "<first>", "skip", false},
		{"minitest", "<first>", "skip 'flaky'", true},
		{"php", "<first>", `$this->markTestSkipped();`, false},
		{"php", "<first>", `$this->markTestIncomplete('not done yet');`, true},
		{"csharp", "<before>", `[Ignore]`, false},
		{"csharp", "<fact>", `[Fact(Skip = "")]`, false},
		{"csharp", "<fact>", `[Fact(Skip = "see #12")]`, true},
		{"gtest", "<first>", `GTEST_SKIP();`, false},
		{"gtest", "<first>", `GTEST_SKIP() << "no device";`, true},
		{"gtest", "<name>", `DISABLED_`, false},
		{"xctest", "<first>", `throw XCTSkip()`, false},
		{"xctest", "<first>", `throw XCTSkip("no device")`, true},
		{"swift", "<args>", `(.disabled())`, false},
		{"exunit", "<before>", "@tag :skip", false},
		{"exunit", "<before>", "@tag skip: \"flaky\"", true},
		{"exunit", "<file>", "@moduletag :skip", false},
		{"exunit", "<file>", "@moduletag skip: \"flaky\"", true},
	} {
		t.Run(test.lang+"/"+test.put, func(t *testing.T) {
			s := samples[test.lang]
			files := []File{oneFile(s.path, s.with(nil), s.with(map[string]string{test.mark: test.put}))}
			want := [2]metric.Severity{metric.Critical, 0}
			if test.reason {
				want = [2]metric.Severity{metric.High, metric.Critical}
			}
			found := Audit(files, Options{})
			if len(found) == 0 || [2]metric.Severity{found[0].Severity, found[0].SeverityIfRan} != want {
				t.Errorf("got %+v, want %v", found, want)
			}
		})
	}
}

// The same of tests that are comments now.
func TestCommentedOutWithReasonIsHigh(t *testing.T) {
	keep := "\nfunc TestAdd(t *testing.T) {\n\tif Add(17, 4) != 21 {\n\t\tt.Error(\"add\")\n\t}\n}\n"
	body := "func TestSub(t *testing.T) {\n\t// the sum of both\n\tallowNegative = false\n\tgot := Sub(17, 4)\n\tif got != 13 {\n\t\tt.Errorf(\"sub: %d\", got)\n\t}\n}\n"
	lines := "// " + strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n// ") + "\n"
	head := "package p\n\nimport \"testing\"\n\n"
	product := "package p\n\nfunc Sub(a, b int) int {\n\tif a < b && !allowNegative {\n\t\tpanic(\"less\")\n\t}\n\treturn a - b\n}\n"
	silent := strings.Replace(product, "\tif a < b && !allowNegative {\n\t\tpanic(\"less\")\n\t}\n", "\t// if a < b && !allowNegative {\n\t// \tpanic(\"less\")\n\t// }\n", 1)
	for _, test := range []struct {
		name, text string
		product    string
		want       metric.Severity
	}{
		{"without a word", head + lines + keep, product, metric.Critical},
		{"within a comment", head + "/*" + body + "*/\n" + keep, product, metric.Critical},
		{"with a reason", head + "// NOTE: it fails now and then on slow machines.\n" + lines + keep, product, metric.High},
		{"with a reason, and a blank line", head + "// It fails now and then on slow machines.\n\n" + lines + keep, product, metric.High},
		{"within a comment that says so", head + "/* legacy tests\n" + body + "*/\n" + keep, product, metric.High},
		{"with a word elsewhere", head + lines + keep + "\n// It fails now and then on slow machines.\n", product, metric.Critical},
		{"with what it tests", head + lines + keep, silent, metric.High},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := Audit([]File{oneFile("a_test.go", head+body+keep, test.text), oneFile("a.go", product, test.product)}, Options{})
			if len(found) == 0 || found[0].Type != "commented_out" || found[0].Severity != test.want {
				t.Fatalf("got %+v, want %v", found, test.want)
			}
			if want := test.want == metric.High; (found[0].SeverityIfRan == metric.Critical) != want {
				t.Errorf("where it ran: %v", found[0].SeverityIfRan)
			}
		})
	}
}
