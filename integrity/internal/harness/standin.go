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
	// pythonImport matches the imports of Python: the module, and what it is called.
	pythonImport = regexp.MustCompile(`^\s*(?:from\s+([\w.]+)\s+import\s+\(?\s*([\w, ]+)|import\s+([\w.]+)(?:\s+as\s+(\w+))?)`)
	// attributeSet matches a line that gives a value to an attribute, setAttribute one that
	// does so by name, in Python.
	attributeSet = regexp.MustCompile(`^\s*((\w+)(?:\.\w+)*\.(\w+))\s*=\s*([^=].*)$`)
	setAttribute = regexp.MustCompile(`\b(monkeypatch\.setattr|mocker\.patch(?:\.object)?|patch(?:\.object)?|setattr)\(\s*(?:["']([\w.]+)["']|([\w.]+))\s*,?`)
	codeSet      = regexp.MustCompile(`\.__code__\s*=[^=]|\bsetattr\([^,]+,\s*["']__code__["']`)
	modulesSet   = regexp.MustCompile(`\bsys\.modules\[\s*["']([\w.]+)["']\s*\]\s*=`)
	// aFunction matches a value that can be called.
	aFunction = regexp.MustCompile(`^(?:lambda\b|(?:\w+\.)*(?:\w*Mock\w*|create_autospec|partial|wraps)\()`)

	// ownModule matches the import of a module of the project in a script.
	ownModule = regexp.MustCompile(`(?:\bimport\s+(?:\*\s+as\s+(\w+)|(\w+))\s+from\s+|\b(?:const|let|var)\s+(\w+)\s*=\s*(?:require|await import)\(\s*)["'](\.{1,2}/[^"']+)["']`)
	// scriptSet matches a line by which a script exchanges what a module exports.
	scriptSet  = regexp.MustCompile(`^\s*(\w+)(?:\.prototype)?\.\w+(?:\.\w+)*\s*=\s*(?:async\s*)?(?:function\b|\(|\w+\s*=>|` + framework.NodeMock + `\.fn|\w+\s*;?\s*$)|\bObject\.(?:assign|defineProperty|defineProperties)\(\s*(\w+)(?:\.prototype)?\s*,`)
	requireSet = regexp.MustCompile(`\brequire\(\s*["'](\.{1,2}/[^"']+)["']\s*\)(?:\.\w+)+\s*=[^=>]|\brequire\.cache\[`)
)

// standIns finds code that runs around the tests and exchanges functions of the product.
func standIns(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, f := range c.Files {
		if !f.After().Exists() || configtext.DataFolders.MatchString(f.Path) || !f.After().IsTest() && !surelySetUp.MatchString(f.Path) {
			continue
		}
		switch f.After().Language() {
		case source.Python:
			out = append(out, pythonStandIns(c, f)...)
		case source.JavaScript, source.TypeScript:
			out = append(out, scriptStandIns(f)...)
		default:
		}
	}
	return out
}

func pythonStandIns(c *facts.Set, f *facts.ChangedFile) []facts.Finding {
	var out []facts.Finding
	own := sync.OnceValue(func() map[string]bool { return ownNames(c, f.After()) })
	for _, l := range addedCode(f) {
		severity := metric.Severity(0)
		switch {
		case codeSet.MatchString(l.Text):
			severity = metric.High
		case modulesSet.MatchString(l.Text):
			if ownPython(c, modulesSet.FindStringSubmatch(l.Text)[1]) {
				severity = metric.High
			}
		case path.Base(f.Path) != "conftest.py" && !strings.HasPrefix(l.Text, "setattr(") && (l.Text == "" || l.Text[0] == ' ' || l.Text[0] == '\t'):
			// within a test or a fixture of its file: another rule's
		case exchanges(f, own, l.Text):
			severity = metric.High
		default:
			severity = patched(c, f, own, l.Text)
		}
		if severity != 0 {
			out = append(out, facts.Finding{File: f.Path, Line: l.Number, Severity: severity, Evidence: facts.Evidence(l.Text)})
		}
	}
	return out
}

// exchanges reports whether a line gives another function to an attribute of the product.
func exchanges(f *facts.ChangedFile, own func() map[string]bool, text string) bool {
	m := attributeSet.FindStringSubmatch(text)
	return m != nil && (aFunction.MatchString(m[4]) || defines(f, strings.TrimSpace(m[4]))) && own()[m[2]]
}

// defines reports whether a file defines a function of that name.
func defines(f *facts.ChangedFile, name string) bool {
	return slices.ContainsFunc(f.After().Source().Functions, func(fn source.Function) bool { return facts.LastName(fn.Name) == name })
}

// patched is the severity of a line that exchanges something of the product by its name:
// what a fixture takes back is less.
func patched(c *facts.Set, f *facts.ChangedFile, own func() map[string]bool, text string) metric.Severity {
	m := setAttribute.FindStringSubmatch(text)
	if m == nil || path.Base(f.Path) != "conftest.py" && m[1] != "setattr" {
		return 0
	}
	first, _, _ := strings.Cut(m[3], ".")
	if m[2] != "" && !ownPython(c, m[2]) || m[2] == "" && !own()[first] {
		return 0
	}
	if m[1] == "setattr" || strings.Contains(text, ").start()") {
		return metric.High
	}
	return metric.Medium
}

// ownNames are the names of a Python file that stand for modules of the project, or for
// what is in them.
func ownNames(c *facts.Set, s *facts.Side) map[string]bool {
	out := map[string]bool{}
	for _, l := range facts.Lines(s.WithoutStrings()) {
		m := pythonImport.FindStringSubmatch(l.Text)
		switch {
		case m == nil:
		case m[1] != "" && ownPython(c, m[1]):
			for _, name := range strings.Split(m[2], ",") {
				words := strings.Fields(name)
				if len(words) > 0 {
					out[words[len(words)-1]] = true
				}
			}
		case m[3] != "" && ownPython(c, m[3]):
			name, _, _ := strings.Cut(m[3], ".")
			if m[4] != "" {
				name = m[4]
			}
			out[name] = true
		}
	}
	return out
}

// ownPython reports whether a module is one of the product's.
func ownPython(c *facts.Set, module string) bool {
	top, _, _ := strings.Cut(module, ".")
	if top == "" || top == "tests" || top == "test" || top == "conftest" {
		return false
	}
	is := func(name string) bool {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "src/"), "lib/")
		return name == top+".py" || strings.HasPrefix(name, top+"/") && strings.HasSuffix(name, ".py")
	}
	there, _ := c.FilesBefore()
	return slices.ContainsFunc(there, is) || slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return is(f.Path) })
}

func scriptStandIns(f *facts.ChangedFile) []facts.Finding {
	var out []facts.Finding
	own := map[string]bool{}
	for _, m := range ownModule.FindAllStringSubmatch(string(f.After().WithoutComments()), -1) {
		if !aid.MatchString(m[4]) {
			own[m[1]+m[2]+m[3]] = true
		}
	}
	for _, l := range addedCode(f) {
		m := scriptSet.FindStringSubmatch(l.Text)
		top := !strings.HasPrefix(l.Text, " ") && !strings.HasPrefix(l.Text, "\t") || surelySetUp.MatchString(f.Path)
		if m != nil && own[m[1]+m[2]] && top || requireSet.MatchString(l.Text) && top {
			out = append(out, facts.Finding{File: f.Path, Line: l.Number, Evidence: facts.Evidence(l.Text)})
		}
	}
	return out
}

// aid matches modules that help tests.
var aid = regexp.MustCompile(`(?i)(?:^|/)(?:test|spec|mock|fixture|helper|setup|__)|\.(?:json|css|snap)$`)
