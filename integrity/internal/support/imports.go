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

// importers says which kinds of files import a file.
type importers struct {
	product  bool // product code does
	tests    bool // tests do, or what they depend on
	complete bool // all files that may import it were read
}

// isUsedByProduct reports whether product code imports a file, as far as it can be read.
func (t *tree) isUsedByProduct(name string, lang source.Language) bool {
	return t.findImporters(name, lang, false).product
}

// isTestHelper reports whether a file outside of the folders of tests is for tests alone: its name
// or text suggests it, tests import it and product code does not, and no test is named after it.
// Languages that load files by convention are left out.
func (t *tree) isTestHelper(name string, lang source.Language) bool {
	if !t.looksLikeTestCode(name, lang) || t.hasOwnTest(name, lang) || !t.hasOtherProduct(name, lang) {
		return false
	}
	u := t.findImporters(name, lang, true)
	return u.complete && u.tests && !u.product
}

var (
	// nameWordRE matches the words in the name of a file: "Cart" and "Helper" of CartHelper.
	nameWordRE = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)
	// testWords are words in the names of what tests share.
	testWords = strings.Fields("test tests testing testutil testutils testhelper testhelpers testkit testlib testsupport testtools testenv helper helpers fixture fixtures mock mocks mocked mocking fake fakes " +
		"stub stubs dummy dummies assert asserts assertion assertions matcher matchers expect expected expectation expectations golden goldens factory factories cases testcases samples harness")
	// frameworkImportREs match, by language, code that imports a framework for tests.
	frameworkImportREs = map[source.Language]*regexp.Regexp{
		source.Python:     framework.PythonImport,
		source.Go:         regexp.MustCompile(`(?m)^\s*(?:import\s+)?(?:[\w.]+\s+)?"(?:testing|github\.com/stretchr/testify/\w+|gotest\.tools/.*|github\.com/onsi/\w+|github\.com/google/go-cmp/cmp)"`),
		source.JavaScript: framework.NodeImport,
		source.TypeScript: framework.NodeImport,
	}
)

// looksLikeTestCode reports whether the name of a file has a word for what tests share, or its text
// imports a framework for tests.
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

// hasOwnTest reports whether a test is named after a file. In Go, it reports whether the package of
// the file has tests.
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

// isSameFamily reports whether files of two languages can import each other.
func isSameFamily(a, b source.Language) bool {
	script := func(l source.Language) bool { return l == source.JavaScript || l == source.TypeScript }
	return a == b || script(a) && script(b)
}

// findImporters looks for the files that import another. It stops at the first product file that
// does. It looks among test files only if tests is true.
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

// importCandidates returns the files of the same language that may import another: those that may
// be product code by their paths, and the others.
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

// sortNearest sorts paths so that those which share most folders with name come first, and returns
// at most maxImporters of them. It changes paths.
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

// Expressions for imports. The first group is the module: pythonImportRE matches "import shop.cart",
// pythonFromRE "from shop import cart", scriptImportRE from "./cart", and goImportRE a line with
// "example.com/shop/cart". dottedNameRE matches the dotted name of a module in a string, and
// goModuleRE the name of the module in go.mod.
var (
	pythonImportRE = regexp.MustCompile(`(?m)^[ \t]*import[ \t]+([^\n#]+)`)
	pythonFromRE   = regexp.MustCompile(`(?m)^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#]+)`)
	dottedNameRE   = regexp.MustCompile(`["']([A-Za-z_]\w*(?:\.\w+)+)(?::\w+)?["']`)
	scriptImportRE = regexp.MustCompile(`(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\(|\b` + framework.NodeMock + `\.\w+\()\s*["'\x60]([^"'\x60\n]+)["'\x60]`)
	goImportRE     = regexp.MustCompile(`(?m)^\s*(?:import\s+)?(?:[\w.]+\s+)?"([^"\s]+)"\s*(?://.*)?$`)
	goModuleRE     = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)
)

// imports reports whether a file, whose text was read, imports another. It is false for languages
// whose imports are not read.
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

// importsModule reports whether a file of Python imports another. text is that of the first.
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

// isModule reports whether a dotted reference in a file leads to a module, which is given as a path
// without its extension. A reference may begin with dots for the folder of the file and those above
// it.
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

// importsScriptModule reports whether a file of JavaScript or TypeScript imports another. text is
// that of the first.
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

// goImportPath returns the import path of a folder, going by the nearest go.mod in it or above it.
// It returns the folder itself if there is none.
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

// rustTestModuleRE matches the declaration of a module that is compiled only for tests, as in
// "#[cfg(test)] mod helpers;".
var rustTestModuleRE = regexp.MustCompile(`#\[cfg\((?:test|any\(test|all\(test)[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;`)

// isRustTestModule reports whether a module of Rust is declared only for tests.
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

// testDataRE matches the paths of data that tests compare with or read, such as data/expected.json.
var testDataRE = regexp.MustCompile(`(?i)(^|[/._-])(expect(ed|ations?)?|goldens?|fixtures?|snapshots?|samples?|(test[_-]?)?cases|want(ed)?|approved|baselines?|cassettes?|mocks?|stubs?|tests?[_-]?\w*)([/._-]|$)`)

// dataRole returns the role of a file that is not source code. It is [Support] if the path suggests
// it, and tests contain the name of the file and product code does not; otherwise it is the
// suggested role.
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

// anyFile reads files and reports whether ok is true for one of them.
func (t *tree) anyFile(paths []string, ok func(string) bool) bool {
	for names := range slices.Chunk(paths, batchSize) {
		t.fetch(names)
		if slices.ContainsFunc(names, ok) {
			return true
		}
	}
	return false
}
