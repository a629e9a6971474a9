package linttext_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/parsers"
	"supervise/test/reports"
)

func FuzzLintText(f *testing.F) {
	reports.Fuzz(f, "lint-text", "a.c:1:2: error: x [-Wx]\n", "##teamcity[inspection typeId='a' message='b|nc' file='d' line='1' SEVERITY='INFO']\n",
		"x.js\n  1:2  error  m  r\n\n✖ 1 problem (1 error, 0 warnings)\n", "error[E1]: m\n --> a.rs:1:2\n  |\n1 | x\n  | ^\n")
}

// textSamples are texts of tools that are not captured, and mixtures, with what
// they hold: "tool rule level place: message", a ! after the level of type
// errors.
var textSamples = []struct{ name, report, want string }{
	{"MSBuild repeats itself at its end", `  1>C:\src\My App\A.cs(3,5): error CS1002: ; expected [C:\src\My App\p.csproj]
     C:\src\My App\A.cs(4,7,4,9): warning CS0168: unused [C:\src\My App\p.csproj::TargetFramework=net8.0]
MSBUILD : error MSB1009: Project file does not exist.
Build FAILED.
       C:\src\My App\A.cs(3,5): error CS1002: ; expected [C:\src\My App\p.csproj]
    1 Warning(s)
    2 Error(s)`, `csc CS1002 error! C:/src/My App/A.cs:3:5: ; expected
csc CS0168 warning C:/src/My App/A.cs:4:7: unused
msbuild MSB1009 error MSBUILD:0:0: Project file does not exist.`},
	{
		"eslint and tsc in one script", "\n> p@1 lint\n> eslint . && tsc\n\n/p/a.js\n  1:2  error  no  r\n\n✖ 1 problem (1 error, 0 warnings)\n\nb.ts(1,2): error TS2322: m\n  more\n",
		"eslint r error /p/a.js:1:2: no\ntsc TS2322 error! b.ts:1:2: m more",
	},
	{"kotlinc", "e: file:///p/A.kt:3:5 Unresolved reference: x\nw: /p/B.kt: (4, 6): unused\n", "kotlinc  error! /p/A.kt:3:5: Unresolved reference: x\nkotlinc  warning /p/B.kt:4:6: unused"},
	{"messages to GitHub", "::group::x\n::error file=a b.py,line=1,col=2,title=ruff (F401)::one%0Atwo%2C three\n::warning::no place\n::endgroup::\n", "ruff F401 error a b.py:1:2: one\ntwo, three"},
	{"messages to TeamCity", "##teamcity[inspection typeId='r' message='a |'b|' |[c|] ||' file='x.go' line='3' SEVERITY='WARNING']\n", " r warning x.go:3:0: a 'b' [c] |"},
	{"in a build of parallel branches", "[linux] 12:00:01 a.c:1:2: warning: w [-Wx]\n[linux] a.c:1:2: warning: w [-Wx]\n", "gcc -Wx warning a.c:1:2: w"},
	{"PHPStan", " ------ ------\n  Line   src/A.php\n ------ ------\n  3      Call to f()\n         with too much.\n ------ ------\n\n [ERROR] Found 1 error\n", "phpstan  error src/A.php:3:0: Call to f() with too much."},
	{"PHP", "PHP Parse error:  syntax error, unexpected end of file in /p/a.php on line 7\nNo syntax errors detected in b.php\n", "php  error /p/a.php:7:0: syntax error, unexpected end of file"},
	{"ty", "error[invalid-assignment]: Object of type `str` is not assignable\n --> a.py:1:10\n  |\n1 | x: int = \"a\"\n  |          ^^^\ninfo: rule is enabled by default\n\nFound 1 diagnostic\n", "ty invalid-assignment error! a.py:1:10: Object of type `str` is not assignable"},
	{"dart", "Analyzing...\n\n  error • Undefined name 'x' • lib/a.dart:3:5 • undefined_identifier\n\n1 issue found.\n", "dart undefined_identifier error lib/a.dart:3:5: Undefined name 'x'"},
	{"ghc", "src/A.hs:3:5: error: [GHC-88464]\n    Variable not in scope: x\n", "ghc GHC-88464 error! src/A.hs:3:5: Variable not in scope: x"},
	{
		"Maven on Windows", "[WARNING] /C:/p/src/A.java:[3,5] [deprecation] f() in B has been deprecated\n[ERROR] /C:/p/src/A.java:[9,17] cannot find symbol\n",
		"javac deprecation warning C:/p/src/A.java:3:5: f() in B has been deprecated\njavac  error! C:/p/src/A.java:9:17: cannot find symbol",
	},
	{
		"MSBuild, with a rule of one digit", "A.cs(3,5): warning CS0168: unused [/p/p.csproj]\nMSBUILD : error SPT6: no tool [/p/p.csproj]\nSPTOOL: error SPT6: bad\n",
		"csc CS0168 warning A.cs:3:5: unused\nmsbuild SPT6 error MSBUILD:0:0: no tool\nmsbuild SPT6 error SPTOOL:0:0: bad",
	},
	{
		"rubocop of old, without cops", "Gemfile:4:1: C: Extra blank line detected.\nbin/run:3:25: W: Do not suppress exceptions.\n",
		"rubocop  note Gemfile:4:1: Extra blank line detected.\nrubocop  warning bin/run:3:25: Do not suppress exceptions.",
	},
	{
		"haml-lint and slim-lint", "app/a.html.haml:33 [W] ImplicitDiv: no div\napp/b.html.slim:4 [W] RuboCop: Style/X: no\napp/c.html.haml:5 [E] broken\n",
		"haml-lint ImplicitDiv warning app/a.html.haml:33:0: no div\nslim-lint RuboCop warning app/b.html.slim:4:0: Style/X: no\nhaml-lint  error app/c.html.haml:5:0: broken",
	},
	{
		"standard", "standard: Use JavaScript Standard Style\n  /p/a.js:4:12: Extra semicolon.\n  app/b.rb:4:5: Style/X: no comma.\n",
		"standard  error /p/a.js:4:12: Extra semicolon.\nstandard Style/X error app/b.rb:4:5: no comma.",
	},
	{
		"reek", "app/a.rb -- 2 warnings:\n  [3, 7]:IrresponsibleModule: A has no comment [https://host/x.md]\n  app/a.rb:9: UtilityFunction: A#b\n",
		"reek IrresponsibleModule warning app/a.rb:3:0: A has no comment [https://host/x.md]\nreek UtilityFunction warning app/a.rb:9:0: A#b",
	},
	{"puppet-lint", "m/a.pp - ERROR: not in autoload layout on line 7\nm/a.pp - WARNING: tab on line 8 (check: hard_tabs)\n", "puppet-lint  error m/a.pp:7:0: not in autoload layout\npuppet-lint hard_tabs warning m/a.pp:8:0: tab"},
	{"psalm", "src/a.php:8:4:error - InvalidGlobal: no\nINFO: MixedReturn - src/b.php:3:5 - mixed (see https://host/1)\n", "psalm InvalidGlobal error src/a.php:8:4: no\npsalm MixedReturn note src/b.php:3:5: mixed (see https://host/1)"},
	{"tslint", "ERROR: src/a.ts:3:5 - no var\nWARNING: src/b.tsx[4, 6]: no semicolon\nsrc/c.ts[1, 2]: no\n", "tslint  error src/a.ts:3:5: no var\ntslint  warning src/b.tsx:4:6: no semicolon\ntslint  error src/c.ts:1:2: no"},
	{"hlint", "src/A.hs:11:18: Suggestion: Redundant bracket\nFound:\n  (a)\nsrc/A.hs:(3,1)-(5,8): Warning: Use map\n", "hlint  note src/A.hs:11:18: Redundant bracket\nhlint  warning src/A.hs:3:1: Use map"},
	{"scalastyle", "error file=/p/A.scala message=File is long\nwarning file=/p/A.scala message=Bad name line=6 column=7\n", "scalastyle  error /p/A.scala:0:0: File is long\nscalastyle  warning /p/A.scala:6:7: Bad name"},
	{"dotenv-linter", ".env:2 LowercaseKey: The foo key should be in uppercase\n", "dotenv-linter LowercaseKey warning .env:2:0: The foo key should be in uppercase"},
	{"merger of Android's manifests", "/p/src/AndroidManifest.xml:20:5-21:31 Warning:\n\tElement x was tagged\n", "manifest-merger  warning /p/src/AndroidManifest.xml:20:5: Element x was tagged"},
	{"MSBuild finds nothing", "  p -> /p/bin/p.dll\n\nBuild succeeded.\n    0 Warning(s)\n    0 Error(s)\n", ""},
	{"swiftlint finds nothing", "Linting 'a.swift' (1/1)\nDone linting! Found 0 violations, 0 serious in 1 file.\n", ""},
	{
		"oxlint", "\n  ! Unused eslint-disable directive (no problems were reported).\n   ,-[a.vue:6:1]\n 5 | x\n   `----\n\n  x eslint(no-debugger): `debugger` is not allowed\n   ╭─[b.js:1:2]\n 1 | x\n   `----\n\nFound 1 warning and 1 error.\n",
		"oxlint  warning a.vue:6:1: Unused eslint-disable directive (no problems were reported).\noxlint eslint(no-debugger) error b.js:1:2: `debugger` is not allowed",
	},
	{
		"ruff with names of rules", "a.py:1:8: unused-import: [*] `os` unused\n\nundefined-name: no y\n --> b.py:2:5\n\nc.py:\n  1:8 unused-import [*] m\n  3:1 invalid-syntax: n\n\nFound 5 errors (1 fixed, 4 remaining).\n",
		"ruff unused-import error a.py:1:8: `os` unused\nruff undefined-name error b.py:2:5: no y\nruff unused-import error c.py:1:8: m\nruff invalid-syntax error c.py:3:1: n",
	},
	{
		"a notebook", "a.ipynb:cell 1:2:8: F401 [*] `os` unused\nF841 no x\n --> a.ipynb:cell 3:4:5\n  |\nFound 2 errors.\n",
		"ruff F401 error a.ipynb:2:8: `os` unused\nruff F841 error a.ipynb:4:5: no x",
	},
	{"ruff mended all", "Found 1 error (1 fixed, 0 remaining).\n", ""},
	{"biome, concise", "× a.ts:1:1: assist/source/organizeImports: Sort these.\n! a.ts:4:3: lint/x/y: No.\nFound 1 error.\nFound 1 warning.\n", "biome assist/source/organizeImports error a.ts:1:1: Sort these.\nbiome lint/x/y warning a.ts:4:3: No."},
	{"messages to Azure", "##vso[task.logissue type=error;sourcepath=app/[id]/a.py;linenumber=1;columnnumber=8;code=F401;]unused\n##vso[task.logissue type=warning;sourcepath=b.py]no\n", " F401 error app/[id]/a.py:1:8: unused\n  warning b.py:0:0: no"},
	{"icc", "C:\\p\\a.cpp(14): (col. 20) remark: LOOP WAS VECTORIZED.\n", "icc  note C:/p/a.cpp:14:20: LOOP WAS VECTORIZED."},
	{"oxlint finds nothing", "Found 0 warnings and 0 errors.\nFinished in 5ms on 1 file with 90 rules using 2 threads.\n", ""},
	{"bandit finds nothing", "Test results:\n\tNo issues identified.\n\nCode scanned:\n", ""},
	{"markdownlint finds nothing", "Finding: **/*.md\nLinting: 1 file(s)\nSummary: 0 error(s)\n", ""},
	{"clang-tidy, with nothing of the user's code", "12 warnings generated.\n7 warnings generated.\nSuppressed 19 warnings (19 in non-user code).\nUse -header-filter=.* to display errors from all non-system headers.\n", ""},
	{"clang-tidy", "13 warnings generated.\n/p/a.cpp:3:5: warning: use nullptr [modernize-use-nullptr]\nSuppressed 12 warnings (12 in non-user code).\n", "clang-tidy modernize-use-nullptr warning /p/a.cpp:3:5: use nullptr"},
	{"swiftlint", "/p/A.swift:3:5: warning: Line Length Violation: too long (line_length)\n", "swiftlint line_length warning /p/A.swift:3:5: Line Length Violation: too long"},
}

func TestLintText(t *testing.T) {
	for _, s := range textSamples {
		t.Run(s.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(s.report), s.name)
			if err != nil {
				t.Fatal(err)
			}
			lines := make([]string, 0, len(r.Lint.Findings))
			for _, f := range r.Lint.Findings {
				level := f.Level.String()
				if f.Type {
					level += "!"
				}
				lines = append(lines, fmt.Sprintf("%s %s %s %s:%d:%d: %s", f.Tool, f.Rule, level, f.File, f.Line, f.Column, f.Message))
			}
			if diff := cmp.Diff(s.want, strings.Join(lines, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// notFindings are texts without a finding: of tools that broke off, of programs
// and of people.
var notFindings = []struct{ name, text string }{
	{"a traceback", "Traceback (most recent call last):\n  File \"/p/a.py\", line 8, in <module>\n    main()\nImportError: No module named x\n"},
	{"a crash of node", "node:internal/modules/cjs/loader:1080\n  throw err;\n  ^\n\nError: Cannot find module '/p/x.js'\n    at Module._resolve (node:internal/modules/cjs/loader:1077:15)\n"},
	{"an exception of Ruby", "/usr/lib/ruby/b.rb:319:in `block in c': can't find executable rubocop (Gem::Exception)\n\tfrom /usr/lib/ruby/d.rb:347:in `e'\n\tfrom /usr/bin/rubocop:25:in `<main>'\n"},
	{"an exception of Ruby 3.4", "bin/lint:3:in 'Object#a': no (RuntimeError)\n\tfrom bin/lint:5:in '<main>'\n"},
	{"no such command", "bash: line 1: eslint: command not found\n"},
	{"no such command in a script", "./lint.sh: line 3: eslint: command not found\n"},
	{"no such command, zsh", "zsh:1: command not found: eslint\n"},
	{"dash", "sh: 1: eslint: not found\n"},
	{"a panic", "panic: runtime error\n\ngoroutine 1 [running]:\nmain.main()\n\t/p/a.go:12 +0x1d\n"},
	{"prose", "Note: this is all.\nSee the docs: at 10:30: start.\nIn chapter 3:4 it says: error\nWarning: be careful\n"},
	{"a log of a server", "2026-01-02T03:04:05Z INFO started\n12:30:45 error: no route\n127.0.0.1:8080: refused\nhttp://localhost:8080: refused\nlevel=error msg=x\n"},
	{"results of tests", "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n    a_test.go:12: got 1, want 2\nFAIL\n1 passing (3ms)\n2) suite\n   at Context.<anonymous> (test/a.js:3:5)\n"},
	{"npm", "npm error code ELIFECYCLE\nnpm error errno 1\nnpm warn deprecated x@1: no\n"},
	{"a listing", "src/a.js\nsrc/b.js\n\n1 file changed, 2 insertions(+)\n"},
	{"warnings of clang-tidy without what it counts", "13 warnings generated.\nSuppressed 12 warnings (12 in non-user code).\n"},
	{"a summary without what it counts", "Found 3 errors in 2 files (checked 4 source files)\n"},
	{"git", "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -1,2 +3,4 @@ int main()\n-  a\n+  b\n"},
}

func TestOtherTextHasNoFindings(t *testing.T) {
	for _, s := range notFindings {
		for _, format := range []string{"lint-text", "errorformat"} {
			r, err := parsers.ParseAs(strings.NewReader(s.text), format)
			if err == nil {
				t.Errorf("%s: read as %s with %v", s.name, format, r.Lint.Findings)
			}
		}
		if r, err := parsers.Parse(strings.NewReader(s.text), s.name); err == nil && r.Tests == nil {
			t.Errorf("%s: read as %s with %+v", s.name, r.Format, r.Lint)
		}
	}
}

// TestToolThatBrokeOffIsAnError reads the output of tools that did not finish.
func TestToolThatBrokeOffIsAnError(t *testing.T) {
	r, err := parsers.Parse(strings.NewReader("a.py:1:1: F401 unused\nTraceback (most recent call last):\n  File \"x.py\", line 1, in f\n"), "report")
	var syntax *parsers.SyntaxError
	if !errors.As(err, &syntax) || syntax.Line != 2 || len(r.Lint.Findings) != 1 {
		t.Errorf("error %v after %v", err, r.Lint)
	}
	_, err = parsers.Parse(strings.NewReader("× a.ts:4:3: lint/x/y: No.\nDiagnostics not shown: 59.\nFound 60 errors.\n"), "report")
	if err == nil || !strings.Contains(err.Error(), "left out 59 diagnostics") {
		t.Errorf("diagnostics that are not shown: error %v", err)
	}
}

func FuzzErrorformat(f *testing.F) { reports.Fuzz(f, "errorformat") }
