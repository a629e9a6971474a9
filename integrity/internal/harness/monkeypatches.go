package harness

import (
	"path"
	"slices"
	"strings"
	"sync"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

var (
	// pythonImportRE matches an import of Python: "from shop import Cart, total" or "import
	// shop.cart as cart". The groups are the module and what it is called.
	pythonImportRE = regexp.MustCompile(`^\s*(?:from\s+([\w.]+)\s+import\s+\(?\s*([\w, ]+)|import\s+([\w.]+)(?:\s+as\s+(\w+))?)`)
	// attributeAssignmentRE matches a line that assigns to an attribute, as in "shop.cart.total =
	// fake". setAttributeCallRE matches one that does so by name, as in
	// monkeypatch.setattr("shop.cart.total", fake). codeReplacementRE matches one that replaces the
	// code of a function, and moduleReplacementRE one that replaces a module, as in
	// sys.modules["shop"] = fake.
	attributeAssignmentRE = regexp.MustCompile(`^\s*((\w+)(?:\.\w+)*\.(\w+))\s*=\s*([^=].*)$`)
	setAttributeCallRE    = regexp.MustCompile(`\b(monkeypatch\.setattr|mocker\.patch(?:\.object)?|patch(?:\.object)?|setattr)\(\s*(?:["']([\w.]+)["']|([\w.]+))\s*,?`)
	codeReplacementRE     = regexp.MustCompile(`\.__code__\s*=[^=]|\bsetattr\([^,]+,\s*["']__code__["']`)
	moduleReplacementRE   = regexp.MustCompile(`\bsys\.modules\[\s*["']([\w.]+)["']\s*\]\s*=`)
	// callableValueRE matches a value that can be called, as in "lambda: 3" and "Mock()".
	callableValueRE = regexp.MustCompile(`^(?:lambda\b|(?:\w+\.)*(?:\w*Mock\w*|create_autospec|partial|wraps)\()`)

	// projectImportRE matches the import of a module of the project in a script, as in: import cart
	// from "./cart".
	projectImportRE = regexp.MustCompile(`(?:\bimport\s+(?:\*\s+as\s+(\w+)|(\w+))\s+from\s+|\b(?:const|let|var)\s+(\w+)\s*=\s*(?:require|await import)\(\s*)["'](\.{1,2}/[^"']+)["']`)
	// exportReplacementRE matches a line by which a script exchanges what a module exports, as in
	// "cart.total = () => 3". requireReplacementRE matches one that does so without a name, as in
	// require("./cart").total = fake.
	exportReplacementRE  = regexp.MustCompile(`^\s*(\w+)(?:\.prototype)?\.\w+(?:\.\w+)*\s*=\s*(?:async\s*)?(?:function\b|\(|\w+\s*=>|` + framework.NodeMock + `\.fn|\w+\s*;?\s*$)|\bObject\.(?:assign|defineProperty|defineProperties)\(\s*(\w+)(?:\.prototype)?\s*,`)
	requireReplacementRE = regexp.MustCompile(`\brequire\(\s*["'](\.{1,2}/[^"']+)["']\s*\)(?:\.\w+)+\s*=[^=>]|\brequire\.cache\[`)
)

// findMonkeypatches finds code that runs around the tests and exchanges functions of the product.
func findMonkeypatches(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	if !f.After().Exists() || configtext.DataFolderRE.MatchString(f.Path) || !f.After().IsTestFile() && !certainSetUpFileRE.MatchString(f.Path) {
		return
	}
	switch {
	case f.After().Language() == source.Python:
		findPythonMonkeypatches(c, f, report)
	case f.After().IsScript():
		findScriptMonkeypatches(f, report)
	}
}

// findPythonMonkeypatches finds the lines that do so in a Python file. Outside of conftest.py,
// indented lines count only if they replace the code of a function or a module.
func findPythonMonkeypatches(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	own := sync.OnceValue(func() map[string]bool { return projectNames(c, f.After()) })
	for _, l := range addedCodeLines(f) {

		severity := metric.Severity(0)
		switch {
		case codeReplacementRE.MatchString(l.Text):
			severity = metric.High
		case moduleReplacementRE.MatchString(l.Text):
			if isProjectModule(c, moduleReplacementRE.FindStringSubmatch(l.Text)[1]) {
				severity = metric.High
			}
		case path.Base(f.Path) != "conftest.py" && !strings.HasPrefix(l.Text, "setattr(") && (l.Text == "" || l.Text[0] == ' ' || l.Text[0] == '\t'):
			// within a test or a fixture of its file: another rule's
		case replacesFunction(f, own, l.Text):
			severity = metric.High
		default:
			severity = patchSeverity(c, f, own, l.Text)
		}

		if severity != 0 {
			report(f.NewFinding(l.Number, l.Text).WithSeverity(severity))
		}
	}
}

// replacesFunction reports whether a line gives another function to an attribute of the product.
// own returns the names that lead to product code, see projectNames.
func replacesFunction(f *facts.ChangedFile, own func() map[string]bool, text string) bool {
	m := attributeAssignmentRE.FindStringSubmatch(text)
	return m != nil && (callableValueRE.MatchString(m[4]) || definesFunction(f, strings.TrimSpace(m[4]))) && own()[m[2]]
}

// definesFunction reports whether a file defines a function of that name.
func definesFunction(f *facts.ChangedFile, name string) bool {
	return slices.ContainsFunc(f.After().Inspection().Functions, func(fn source.Function) bool { return facts.LastName(fn.Name) == name })
}

// patchSeverity returns the severity of a line that exchanges something of the product by its name,
// 0 if the line does not. It is lower for what a fixture takes back.
func patchSeverity(c *facts.Change, f *facts.ChangedFile, own func() map[string]bool, text string) metric.Severity {
	m := setAttributeCallRE.FindStringSubmatch(text)
	if m == nil || path.Base(f.Path) != "conftest.py" && m[1] != "setattr" {
		return 0
	}
	first, _, _ := strings.Cut(m[3], ".")
	if m[2] != "" && !isProjectModule(c, m[2]) || m[2] == "" && !own()[first] {
		return 0
	}
	if m[1] == "setattr" || strings.Contains(text, ").start()") {
		return metric.High
	}
	return metric.Medium
}

// projectNames returns the names in a Python file that are modules of the project, or come from
// one.
func projectNames(c *facts.Change, s *facts.Side) map[string]bool {
	out := map[string]bool{}
	for _, l := range facts.SplitLines(s.WithoutStrings()) {
		m := pythonImportRE.FindStringSubmatch(l.Text)
		switch {
		case m == nil:
		case m[1] != "" && isProjectModule(c, m[1]):
			for _, name := range strings.Split(m[2], ",") {
				words := strings.Fields(name)
				if len(words) > 0 {
					out[words[len(words)-1]] = true
				}
			}
		case m[3] != "" && isProjectModule(c, m[3]):
			name, _, _ := strings.Cut(m[3], ".")
			if m[4] != "" {
				name = m[4]
			}
			out[name] = true
		}
	}
	return out
}

// isProjectModule reports whether a module, given by its dotted name, belongs to the product.
func isProjectModule(c *facts.Change, module string) bool {
	top, _, _ := strings.Cut(module, ".")
	if top == "" || top == "tests" || top == "test" || top == "conftest" {
		return false
	}
	is := func(name string) bool {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "src/"), "lib/")
		return name == top+".py" || strings.HasPrefix(name, top+"/") && strings.HasSuffix(name, ".py")
	}
	there, _ := c.BaseFiles()
	return slices.ContainsFunc(there, is) || slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return is(f.Path) })
}

// findScriptMonkeypatches finds the lines of a script that exchange what a module of the project
// exports. Only lines at the top level count, except in set-up files.
func findScriptMonkeypatches(f *facts.ChangedFile, report facts.Report) {
	own := map[string]bool{}
	for _, m := range projectImportRE.FindAllStringSubmatch(string(f.After().WithoutComments()), -1) {
		if !testHelperModuleRE.MatchString(m[4]) {
			own[m[1]+m[2]+m[3]] = true
		}
	}

	for _, l := range addedCodeLines(f) {
		m := exportReplacementRE.FindStringSubmatch(l.Text)
		top := !strings.HasPrefix(l.Text, " ") && !strings.HasPrefix(l.Text, "\t") || certainSetUpFileRE.MatchString(f.Path)
		if m != nil && own[m[1]+m[2]] && top || requireReplacementRE.MatchString(l.Text) && top {
			report(f.NewFinding(l.Number, l.Text))
		}
	}
}

// testHelperModuleRE matches the paths of modules that help tests, such as "./mocks/cart".
var testHelperModuleRE = regexp.MustCompile(`(?i)(?:^|/)(?:test|spec|mock|fixture|helper|setup|__)|\.(?:json|css|snap)$`)
