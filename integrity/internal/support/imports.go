package support

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/source"
)

// importers says who imports a file.
type importers struct {
	product  bool // product code does
	tests    bool // tests do, or what they depend on
	complete bool // all files that might were read
}

// isUsedByProduct reports whether product code imports a file, as far as it can be read.
func (t *tree) isUsedByProduct(name string, lang source.Language) bool {
	return t.findImporters(name, lang, false).product
}

// isTestHelper reports whether a file outside of the folders of tests is for tests alone: its
// name or its text says so, tests import it and product code does not, and it is not what
// they test. Languages that load files by convention are left out.
func (t *tree) isTestHelper(name string, lang source.Language) bool {
	if !t.looksLikeTestCode(name, lang) || t.hasOwnTest(name, lang) || !t.hasOtherProduct(name, lang) {
		return false
	}
	u := t.findImporters(name, lang, true)
	return u.complete && u.tests && !u.product
}

var (
	nameWordRE = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)
	// testWords are words in the names of what tests share.
	testWords = strings.Fields("test tests testing testutil testutils testhelper testhelpers testkit testlib testsupport testtools testenv helper helpers fixture fixtures mock mocks mocked mocking fake fakes " +
		"stub stubs dummy dummies assert asserts assertion assertions matcher matchers expect expected expectation expectations golden goldens factory factories cases testcases samples harness")
	frameworkImportREs = map[source.Language]*regexp.Regexp{
		source.Python:     framework.PythonImport,
		source.Go:         regexp.MustCompile(`(?m)^\s*(?:import\s+)?(?:[\w.]+\s+)?"(?:testing|github\.com/stretchr/testify/\w+|gotest\.tools/.*|github\.com/onsi/\w+|github\.com/google/go-cmp/cmp)"`),
		source.JavaScript: framework.NodeImport,
		source.TypeScript: framework.NodeImport,
	}
)

// looksLikeTestCode reports whether a file looks as if it was made for tests.
func (t *tree) looksLikeTestCode(name string, lang source.Language) bool {
	re, known := frameworkImportREs[lang]
	if !known {
		return false
	}
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	dir := path.Base(path.Dir(name))
	named := dir
	if lang != source.Go { // there the package counts
		named += "_" + stem
	}
	for _, w := range nameWordRE.FindAllString(named, -1) {
		if slices.Contains(testWords, strings.ToLower(w)) {
			return true
		}
	}
	return lang == source.Go && strings.HasSuffix(dir, "test") || re.Match(t.text(name))
}

// hasOwnTest reports whether there is a test that is named after a file. Of Go, tests in the
// package itself make it one.
func (t *tree) hasOwnTest(name string, lang source.Language) bool {
	want := facts.SubjectName(name)
	return slices.ContainsFunc(t.paths, func(p string) bool {
		if lang == source.Go {
			return path.Dir(p) == path.Dir(name) && strings.HasSuffix(p, "_test.go")
		}
		return p != name && facts.SubjectName(p) == want && source.IsTestFile(path.Base(p), source.DetectLanguage(p, nil))
	})
}

// hasOtherProduct reports whether there is other code that may be the product.
func (t *tree) hasOtherProduct(name string, lang source.Language) bool {
	return slices.ContainsFunc(t.paths, func(p string) bool {
		role, sure := pathRole(p)
		mayBeProduct := role == Product && !sure && !mixedConfigRE.MatchString(p)
		isSeparate := p != name && (lang != source.Go || path.Dir(p) != path.Dir(name))
		return mayBeProduct && isSeparate && isSameFamily(source.DetectLanguage(p, nil), lang)
	})
}

func isSameFamily(a, b source.Language) bool {
	script := func(l source.Language) bool { return l == source.JavaScript || l == source.TypeScript }
	return a == b || script(a) && script(b)
}

// findImporters looks for the files that import another: product code first, until some does.
// Tests are looked for only if wanted.
func (t *tree) findImporters(name string, lang source.Language, tests bool) importers {
	product, others := t.importCandidates(name, lang)
	own := func(p string) bool { return lang == source.Go && path.Dir(p) == path.Dir(name) } // the same package
	out := importers{complete: len(product) <= maxImporters}
	t.eachImporter(sortNearest(product, name), name, func(p string) bool {
		switch {
		case own(p):
		case t.role(p).IsTestRelated(): // its path only suggests that it is product code
			out.tests = true
		default:
			out.product = true
		}
		return !out.product
	})
	if out.complete = out.complete && t.bytesLeft > 0; out.product || !tests {
		return out
	}
	t.eachImporter(sortNearest(others, name), name, func(p string) bool {
		out.tests = out.tests || !own(p)
		return !out.tests
	})
	return out
}

// importCandidates are the files that may import another: by their paths those of product code,
// and the others.
func (t *tree) importCandidates(name string, lang source.Language) (product, others []string) {
	for _, p := range t.paths {
		if p == name || !isSameFamily(source.DetectLanguage(p, nil), lang) || source.IsVendored(p) {
			continue
		}
		if role, sure := pathRole(p); role.IsTestRelated() || sure {
			others = append(others, p)
		} else {
			product = append(product, p)
		}
	}
	return product, others
}

// sortNearest sorts paths, those that share most folders with another first.
func sortNearest(paths []string, name string) []string {
	shared := func(p string) int {
		n := 0
		for n < len(p) && n < len(name) && p[n] == name[n] {
			n++
		}
		return strings.Count(p[:n], "/")
	}
	slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(shared(b), shared(a)) })
	return paths[:min(len(paths), maxImporters)]
}

// eachImporter calls use with the files that import another, until it returns false.
func (t *tree) eachImporter(paths []string, name string, use func(string) bool) {
	for names := range slices.Chunk(paths, batchSize) {
		t.fetch(names)
		for _, p := range names {
			if t.imports(p, name) && !use(p) {
				return
			}
		}
	}
}

var (
	pythonImportRE = regexp.MustCompile(`(?m)^[ \t]*import[ \t]+([^\n#]+)`)
	pythonFromRE   = regexp.MustCompile(`(?m)^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#]+)`)
	dottedNameRE   = regexp.MustCompile(`["']([A-Za-z_]\w*(?:\.\w+)+)(?::\w+)?["']`)
	scriptImportRE = regexp.MustCompile(`(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\(|\b` + framework.NodeMock + `\.\w+\()\s*["'\x60]([^"'\x60\n]+)["'\x60]`)
	goImportRE     = regexp.MustCompile(`(?m)^\s*(?:import\s+)?(?:[\w.]+\s+)?"([^"\s]+)"\s*(?://.*)?$`)
	goModuleRE     = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)
)

// imports reports whether a file imports another.
func (t *tree) imports(by, name string) bool {
	text := string(t.texts[by])
	switch source.DetectLanguage(name, nil) {
	case source.Python:
		return importsModule(by, name, text)
	case source.JavaScript, source.TypeScript:
		return importsScriptModule(by, name, text)
	case source.Go:
		want := t.goImportPath(path.Dir(name))
		return slices.ContainsFunc(goImportRE.FindAllStringSubmatch(text, -1), func(m []string) bool { return m[1] == want })
	default:
		return false
	}
}

// importsModule reports whether a module of Python imports another.
func importsModule(by, name, text string) bool {
	module := strings.TrimSuffix(strings.TrimSuffix(name, ".py"), "/__init__")
	if !strings.Contains(text, path.Base(module)) {
		return false
	}
	is := func(ref string) bool { return isModule(by, module, ref) }
	for _, m := range pythonImportRE.FindAllStringSubmatch(text, -1) {
		for one := range strings.SplitSeq(m[1], ",") {
			if first, _, _ := strings.Cut(strings.TrimSpace(one), " "); is(first) {
				return true
			}
		}
	}
	for _, m := range pythonFromRE.FindAllStringSubmatch(text, -1) {
		if is(m[1]) {
			return true
		}
		for one := range strings.SplitSeq(strings.Trim(m[2], "() \n"), ",") {
			first, _, _ := strings.Cut(strings.TrimSpace(one), " ")
			parent := m[1]
			if strings.Trim(parent, ".") != "" {
				parent += "."
			}
			if first != "" && is(parent+first) {
				return true
			}
		}
	}
	return slices.ContainsFunc(dottedNameRE.FindAllStringSubmatch(text, -1), func(m []string) bool { return is(m[1]) })
}

// isModule reports whether a reference in a file, dotted, leads to a module, given as a
// path without its ending.
func isModule(by, module, ref string) bool {
	rel := strings.TrimLeft(ref, ".")
	file := strings.ReplaceAll(rel, ".", "/")
	if dots := len(ref) - len(rel); dots > 0 {
		return path.Join(path.Dir(by), strings.Repeat("../", dots-1), file) == module
	}
	if module == file {
		return true
	}
	root, ok := strings.CutSuffix(module, "/"+file)
	return ok && (strings.Contains(file, "/") || root == path.Dir(by) || slices.Contains([]string{"src", "lib", "tests", "test"}, root))
}

// importsScriptModule reports whether a module of JavaScript imports another.
func importsScriptModule(by, name, text string) bool {
	plain := strings.TrimSuffix(name, path.Ext(name))
	folder := strings.TrimSuffix(plain, "/index")
	return slices.ContainsFunc(scriptImportRE.FindAllStringSubmatch(text, -1), func(m []string) bool {
		ref := m[1]
		switch path.Ext(ref) {
		case ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".jsx", ".tsx":
			ref = strings.TrimSuffix(ref, path.Ext(ref))
		}
		if strings.HasPrefix(ref, ".") {
			full := path.Join(path.Dir(by), ref)
			return full == plain || full == folder
		}
		ref = strings.TrimPrefix(strings.TrimLeft(ref, "@~#"), "/") // an alias of a folder
		return strings.Contains(ref, "/") && (strings.HasSuffix("/"+plain, "/"+ref) || strings.HasSuffix("/"+folder, "/"+ref))
	})
}

// goImportPath is the import path of a folder, by the nearest go.mod.
func (t *tree) goImportPath(dir string) string {
	if t.importPaths == nil {
		t.importPaths = map[string]string{}
	}
	if known, ok := t.importPaths[dir]; ok {
		return known
	}
	for at := dir; ; at = path.Dir(at) {
		if m := goModuleRE.FindSubmatch(t.text(path.Join(at, "go.mod"))); m != nil {
			rel := strings.TrimPrefix(strings.TrimPrefix(dir, at), "/")
			if at == "." && dir != "." {
				rel = dir
			} else if dir == at {
				rel = ""
			}
			t.importPaths[dir] = path.Join(string(m[1]), rel)
			break
		}
		if at == "." || at == "/" {
			t.importPaths[dir] = dir
			break
		}
	}
	return t.importPaths[dir]
}

var rustTestModuleRE = regexp.MustCompile(`#\[cfg\((?:test|any\(test|all\(test)[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;`)

// isRustTestModule reports whether a module of Rust is compiled for tests alone.
func (t *tree) isRustTestModule(name string) bool {
	dir, stem := path.Dir(name), strings.TrimSuffix(path.Base(name), ".rs")
	if stem == "mod" {
		dir, stem = path.Dir(dir), path.Base(dir)
	}
	for _, parent := range []string{path.Join(dir, "lib.rs"), path.Join(dir, "main.rs"), path.Join(dir, "mod.rs"), dir + ".rs"} {
		for _, m := range rustTestModuleRE.FindAllSubmatch(t.text(parent), -1) {
			if string(m[1]) == stem {
				return true
			}
		}
	}
	return false
}

// testDataRE matches the names of data that tests compare with or read.
var testDataRE = regexp.MustCompile(`(?i)(^|[/._-])(expect(ed|ations?)?|goldens?|fixtures?|snapshots?|samples?|(test[_-]?)?cases|want(ed)?|approved|baselines?|cassettes?|mocks?|stubs?|tests?[_-]?\w*)([/._-]|$)`)

// dataRole decides about a file that is not source code. One whose name says so, and which
// tests name and product code does not, is theirs.
func (t *tree) dataRole(name string, suggested Role) Role {
	if !testDataRE.MatchString(name) {
		return suggested
	}
	base := path.Base(name)
	names := func(p string) bool { return strings.Contains(string(t.texts[p]), base) }
	var product, tests []string
	for _, p := range t.paths {
		if source.DetectLanguage(p, nil) == source.Unknown || source.IsVendored(p) {
			continue
		}
		if role, _ := pathRole(p); role.IsTestRelated() {
			tests = append(tests, p)
		} else {
			product = append(product, p)
		}
	}
	if !t.anyFile(sortNearest(tests, name), names) || len(product) > maxImporters || t.anyFile(sortNearest(product, name), names) || t.bytesLeft <= 0 {
		return suggested
	}
	return Support
}

func (t *tree) anyFile(paths []string, ok func(string) bool) bool {
	for names := range slices.Chunk(paths, batchSize) {
		t.fetch(names)
		if slices.ContainsFunc(names, ok) {
			return true
		}
	}
	return false
}
