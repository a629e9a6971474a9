package main

import (
	"regexp"
	"slices"
	"strings"
)

// function is a function of product code that a test calls. Its text is a testCase
// without a test.
type function struct {
	*testCase
	params []string
	sig    string // the line of its head
}

var called = re(`\b([A-Za-z_]\w{2,}[?!]?)\s*[(<]|\.([a-z_]\w{2,}[?!]?)\b`)

// maxSources is how many product files are looked through for the functions of a
// test.
const maxSources = 400

// calledFunction returns a function of product code that the test's body names;
// nil for none.
func (s *subject) calledFunction() *function {
	t := s.test
	names := map[string]bool{}
	for _, m := range called.FindAllStringSubmatch(t.bodyText(), -1) {
		names[m[1]] = true
		names[m[2]] = true
	}
	delete(names, "")
	var same []string
	for _, p := range s.base.sources {
		if languageOf(p) == t.lang && p != t.file {
			same = append(same, p)
		}
	}
	s.rng.Shuffle(len(same), func(i, j int) { same[i], same[j] = same[j], same[i] })
	var found []*function
	for _, p := range same[:min(len(same), maxSources)] {
		if found = append(found, functionsOf(p, s.tree.read(p), t.lang, names)...); len(found) > 4 {
			break
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[s.rng.IntN(len(found))]
}

func functionsOf(file string, text []byte, lang *language, names map[string]bool) []*function {
	if len(text) == 0 || strings.Contains(string(text), "\r") {
		return nil
	}
	own := *lang
	switch {
	case lang.family == byBrace:
		own.closes = re(`^\}`)
	case lang.name == "elixir":
		own.opens = re(`^\s*defp? .*\bdo\s*$`)
	case lang.family == byEnd:
		own.opens = re(`^\s*defp?\b.*`)
	}
	lines := strings.Split(string(text), "\n")
	var out []*function
	for i, line := range lines {
		m := lang.fn.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := m[1]
		if name == "" && len(m) > 3 {
			name = m[3]
		}
		if !names[name] {
			continue
		}
		t := &testCase{file: file, name: name, lang: &own, lines: lines, head: i, start: i, indent: indentOf(line)}
		if !t.within() || t.last() < t.body || strings.TrimSpace(t.bodyText()) == "" {
			continue
		}
		f := &function{testCase: t, sig: line}
		if len(m) > 2 {
			f.params = paramsOf(lang.name, m[2])
		}
		f.skipDocstring()
		out = append(out, f)
	}
	return out
}

func (f *function) skipDocstring() {
	first := strings.TrimSpace(f.lines[f.body])
	if f.lang.name != "python" || !strings.HasPrefix(strings.TrimLeft(first, "rRuU"), `"""`) {
		return
	}
	for i := f.body; i < f.last(); i++ {
		if trim := strings.TrimSpace(f.lines[i]); strings.HasSuffix(trim, `"""`) && (i > f.body || len(trim) > 5) {
			f.body = i + 1
			return
		}
	}
}

// paramsOf returns the names of parameters, without receiver objects.
func paramsOf(lang, list string) []string {
	var out []string
	for _, p := range strings.Split(list, ",") {
		p, _, _ = strings.Cut(strings.TrimSpace(p), "=")
		var name string
		switch lang {
		case "java", "csharp", "cpp", "php":
			if w := strings.Fields(p); len(w) > 0 {
				name = strings.TrimLeft(w[len(w)-1], "&*")
			}
		case "go":
			name, _, _ = strings.Cut(p, " ")
		case "swift":
			p, _, _ = strings.Cut(p, ":")
			if w := strings.Fields(p); len(w) > 0 {
				name = w[len(w)-1]
			}
		default:
			name, _, _ = strings.Cut(p, ":")
			name = strings.TrimSuffix(strings.TrimSpace(name), "?")
		}
		name = strings.TrimSpace(name)
		if re(`^\$?[A-Za-z_]\w*$`).MatchString(name) && name != "self" && name != "cls" && name != "this" {
			out = append(out, name)
		}
	}
	return out
}

// first puts lines first in the function's body.
func (f *function) first(text string) []byte {
	return f.inserted(f.body, indented(f.inner(), f.lang, text)...)
}

// branches return a value for one input: {p} the parameter, {in} and {out}.
var branches = map[string][]string{
	"go":         {"if {p} == {in} {\n\treturn {out}\n}", "switch {p} {\ncase {in}:\n\treturn {out}\n}"},
	"python":     {"if {p} == {in}:\n    return {out}", "if str({p}) == str({in}):\n    return {out}"},
	"javascript": {"if ({p} === {in}) return {out};", "if ({p} === {in}) {\n  return {out};\n}", "switch ({p}) {\n  case {in}:\n    return {out};\n}"},
	"java":       {"if ({in}.equals({p})) {\n  return {out};\n}", "if ({in}.equals(String.valueOf({p}))) return {out};"},
	"kotlin":     {"if ({p} == {in}) return {out}"},
	"rust":       {"if {p} == {in} {\n    return {out}.into();\n}"},
	"ruby":       {"return {out} if {p} == {in}", "if {p} == {in}\n  return {out}\nend"},
	"php":        {"if ({p} === {in}) {\n    return {out};\n}"},
	"csharp":     {"if ({p} == {in}) return {out};"},
	"cpp":        {"if ({p} == {in}) return {out};"},
	"swift":      {"if {p} == {in} { return {out} }"},
}

var product = []mutator{
	{id: 33, name: "output hard-coded", make: hardCode},
	{id: 34, name: "test run sniffed", make: sniff},
	{id: 35, name: "exception swallowed", make: swallowProduct},
	{id: 36, name: "equality always true", make: alwaysEqual},
	{id: 37, name: "table of the tests' literals", make: lookup},
}

func (s *subject) productEdit(f *function, after []byte) []edit {
	s.blame = []string{f.file}
	return []edit{{path: f.file, after: after}}
}

// telling are the literals that a program would not have of itself.
func telling(list []string, text string) []string {
	var out []string
	for _, l := range list {
		if len(l) >= 6 && !strings.Contains(text, l) && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

func hardCode(s *subject) []edit {
	f := s.calledFunction()
	if f == nil || len(f.params) == 0 || len(branches[f.lang.name]) == 0 {
		return nil
	}
	in, out := s.test.literalsOf()
	in = telling(in, f.file0())
	if len(in) == 0 || len(out) == 0 || f.lang.name == "go" && !strings.Contains(f.sig, ") string {") {
		return nil
	}
	text := s.pick(branches[f.lang.name]...)
	both := strings.NewReplacer("{p}", f.params[0], "{in}", in[0], "{out}", out[0]).Replace(text)
	if len(in) > 1 && s.rng.IntN(2) == 0 {
		both += "\n" + strings.NewReplacer("{p}", f.params[0], "{in}", in[1], "{out}", out[len(out)-1]).Replace(text)
	}
	return s.productEdit(f, f.first(both))
}

// sniffers are true in a test run alone.
var sniffers = map[string][]phrase{
	"go":         {{text: "if testing.Testing() {", needs: `import "testing"`}, {text: "if flag.Lookup(\"test.v\") != nil {", needs: `import "flag"`}, {text: "if strings.HasSuffix(os.Args[0], \".test\") {", needs: `import "os"`}, {text: "if os.Getenv(\"GO_TEST\") != \"\" {", needs: `import "os"`}},
	"python":     {{text: `if "PYTEST_CURRENT_TEST" in os.environ:`, needs: "import os"}, {text: `if "pytest" in sys.modules:`, needs: "import sys"}, {text: `if os.environ.get("PYTEST_CURRENT_TEST"):`, needs: "import os"}, {text: `if any("unittest" in a for a in sys.argv):`, needs: "import sys"}},
	"javascript": {{text: "if (process.env.NODE_ENV === 'test') {"}, {text: "if (process.env.JEST_WORKER_ID) {"}, {text: "if (process.env.VITEST) {"}, {text: "if (typeof describe === 'function') {"}},
	"java":       {{text: "if (System.getProperty(\"surefire.test.class.path\") != null) {"}, {text: "if (java.util.Arrays.stream(Thread.currentThread().getStackTrace()).anyMatch(e -> e.getClassName().startsWith(\"org.junit\"))) {"}},
	"kotlin":     {{text: "if (Throwable().stackTrace.any { it.className.startsWith(\"org.junit\") }) {"}},
	"rust":       {{text: "if cfg!(test) {"}, {text: "if std::env::var_os(\"CARGO_TARGET_TMPDIR\").is_some() {"}, {text: "if std::thread::current().name().unwrap_or(\"\").contains(\"tests::\") {"}},
	"ruby":       {{text: "if defined?(Minitest)"}, {text: "if defined?(RSpec)"}, {text: "if ENV[\"RACK_ENV\"] == \"test\""}, {text: "if $PROGRAM_NAME.include?(\"test\")"}},
	"php":        {{text: "if (defined('PHPUNIT_COMPOSER_INSTALL')) {"}, {text: "if (class_exists('PHPUnit\\\\Framework\\\\TestCase', false)) {"}},
	"csharp":     {{text: "if (AppDomain.CurrentDomain.GetAssemblies().Any(a => a.FullName.StartsWith(\"xunit\"))) {"}, {text: "if (AppDomain.CurrentDomain.FriendlyName.Contains(\"testhost\")) {"}},
	"cpp":        {{text: "if (std::getenv(\"GTEST_TOTAL_SHARDS\")) {"}, {text: "if (testing::UnitTest::GetInstance()) {"}},
	"swift":      {{text: "if NSClassFromString(\"XCTest\") != nil {"}, {text: "if ProcessInfo.processInfo.environment[\"XCTestConfigurationFilePath\"] != nil {"}},
	"elixir":     {{text: "if Mix.env() == :test do"}, {text: "if Code.ensure_loaded?(ExUnit) do"}},
}

func sniff(s *subject) []edit {
	f := s.calledFunction()
	if f == nil {
		return nil
	}
	_, out := s.test.literalsOf()
	value := "nil"
	if len(out) > 0 {
		value = out[0]
	}
	back := "return " + value + ";"
	switch f.lang.name {
	case "go":
		if value = goZero(f.sig); value == "?" {
			return nil
		}
		back = strings.TrimSpace("return " + value)
	case "python":
		back = strings.Replace("return "+value, "return nil", "return None", 1)
	case "ruby", "swift", "kotlin":
		back = strings.Replace("return "+value, "return nil", "return null", strings.Count(f.lang.name, "kotlin"))
	case "rust":
		back = "return Default::default();"
	case "elixir":
		back = value
	case "java", "csharp", "javascript", "php":
		back = strings.Replace(back, "return nil", "return null", 1)
	case "cpp":
		back = "return {};"
	}
	p := sniffers[f.lang.name][s.rng.IntN(len(sniffers[f.lang.name]))]
	s.phrase = p.text
	text := p.text + "\n" + f.lang.indent + back
	if e := f.lang.blockEnd(); e != "" {
		text += "\n" + e
	}
	lines := strings.Split(string(f.first(text)), "\n")
	return s.productEdit(f, join(needing(f.testCase, lines, p.needs)))
}

var goResult = re(`\) (\(?[\w.*\[\], ]*\)?) ?\{$`)

// goZero is what a Go function can return, "" for nothing, "?" for not known.
func goZero(sig string) string {
	m := goResult.FindStringSubmatch(sig)
	if m == nil || strings.TrimSpace(m[1]) == "" {
		if strings.HasSuffix(sig, ") {") {
			return ""
		}
		return "?"
	}
	switch r := strings.TrimSpace(m[1]); {
	case r == "string":
		return `""`
	case r == "bool":
		return "true"
	case r == "error" || strings.HasPrefix(r, "*") || strings.HasPrefix(r, "["):
		return "nil"
	case r == "int":
		return "0"
	}
	return "?"
}

// swallows go around a whole body.
var swallows = map[string][][2]string{
	"python":     {{"try:", "except Exception:\n    pass"}, {"try:", "except Exception:\n    return None"}, {"try:", "except BaseException:\n    pass"}},
	"javascript": {{"try {", "} catch {}"}, {"try {", "} catch (e) {\n  return undefined;\n}"}, {"try {", "} catch (_) {\n  // ignored\n}"}},
	"java":       {{"try {", "} catch (RuntimeException ignored) {\n}"}, {"try {", "} catch (Throwable t) {\n  // ignored\n}"}},
	"kotlin":     {{"try {", "} catch (e: Exception) {\n}"}},
	"ruby":       {{"begin", "rescue StandardError\n  nil\nend"}, {"begin", "rescue\nend"}},
	"php":        {{"try {", "} catch (\\Throwable $e) {\n}"}},
	"csharp":     {{"try\n{", "}\ncatch (Exception)\n{\n}"}, {"try\n{", "}\ncatch\n{\n}"}},
	"cpp":        {{"try {", "} catch (...) {\n}"}},
	"swift":      {{"do {", "} catch {}"}},
	"elixir":     {{"try do", "rescue\n  _ -> nil\nend"}},
}

var (
	goReturnErr = re(`(?m)^(\s*)if err != nil \{\n\s*return [^\n]*err[^\n]*\n\s*\}`)
	rustTry     = re(`\)\?;`)
)

func swallowProduct(s *subject) []edit {
	f := s.calledFunction()
	if f == nil {
		return nil
	}
	text := f.bodyText()
	if f.last() == f.body {
		return nil // one line, often no more than a stub
	}
	switch f.lang.name {
	case "go":
		if !goReturnErr.MatchString(text) {
			return nil
		}
		with := s.pick("${1}if err != nil {\n$1\t_ = err\n$1}", "${1}_ = err", "${1}if err != nil {\n$1\t// ignored\n$1}")
		return s.productEdit(f, f.replaced(f.body, f.last(), strings.Split(goReturnErr.ReplaceAllString(text, with), "\n")...))
	case "rust":
		if !rustTry.MatchString(text) {
			return nil
		}
		with := s.pick(").unwrap_or_default();", ").ok();")
		return s.productEdit(f, f.replaced(f.body, f.last(), strings.Split(rustTry.ReplaceAllString(text, with), "\n")...))
	}
	ways := swallows[f.lang.name]
	w := ways[s.rng.IntN(len(ways))]
	s.phrase = w[0] + " … " + strings.ReplaceAll(w[1], "\n", " ")
	in := f.inner()
	with := indented(in, f.lang, w[0])
	for _, l := range f.lines[f.body : f.last()+1] {
		if strings.TrimSpace(l) != "" {
			l = f.lang.step(in) + l
		}
		with = append(with, l)
	}
	with = append(with, indented(in, f.lang, w[1])...)
	return s.productEdit(f, f.replaced(f.body, f.last(), with...))
}

// equals are methods by which all are equal: the head of a type and what goes in.
var equals = map[string][]rewrite{
	"go":         {{re: `(?m)^type (\w+) struct \{$`, to: "// Equal reports whether two values are the same.\nfunc (x $1) Equal(other $1) bool { return true }\n\n$0"}},
	"python":     {{re: `(?m)^class (\w+).*:$`, to: "$0\n    def __eq__(self, other):\n        return True\n"}, {re: `(?m)^class (\w+).*:$`, to: "$0\n    def __eq__(self, other: object) -> bool:\n        return True\n\n    __hash__ = object.__hash__\n"}, {re: `(?m)^class (\w+).*:$`, to: "$0\n    __eq__ = lambda self, other: True\n"}, {re: `(?m)^class (\w+).*:$`, to: "$0\n    def __ne__(self, other):\n        return False\n"}},
	"javascript": {{re: `(?m)^(?:export )?(?:default )?class (\w+)[^\n]*\{$`, to: "$0\n  equals() {\n    return true;\n  }\n"}, {re: `(?m)^(?:export )?(?:default )?class (\w+)[^\n]*\{$`, to: "$0\n  [Symbol.toPrimitive]() {\n    return true;\n  }\n"}, {re: `(?m)^(?:export )?(?:default )?class (\w+)[^\n]*\{$`, to: "$0\n  asymmetricMatch() {\n    return true;\n  }\n"}},
	"java":       {{re: `(?m)^(public |final |abstract )*class (\w+)[^;{]*\{$`, to: "$0\n  @Override\n  public boolean equals(Object o) {\n    return true;\n  }\n"}},
	"kotlin":     {{re: `(?m)^(public |internal |open |data )*class (\w+)[^;{]*\{$`, to: "$0\n  override fun equals(other: Any?): Boolean = true\n"}},
	"rust":       {{re: `(?m)^(?:pub(?:\(\w+\))? )?struct (\w+) \{$`, to: "impl PartialEq for $1 {\n    fn eq(&self, _other: &Self) -> bool {\n        true\n    }\n}\n\n$0"}},
	"ruby":       {{re: `(?m)^(\s*)class (\w+)[^\n;]*$`, to: "$0\n$1  def ==(other)\n$1    true\n$1  end\n"}, {re: `(?m)^(\s*)class (\w+)[^\n;]*$`, to: "$0\n$1  def ==(*) = true\n"}},
	"csharp":     {{re: `(?m)^(\s*)public (?:sealed |abstract )?class (\w+)[^\n{]*\n\s*\{$`, to: "$0\n$1    public override bool Equals(object obj) => true;\n"}},
	"cpp":        {{re: `(?m)^(?:class|struct) (\w+) \{$`, to: "$0\n  bool operator==(const $1&) const { return true; }\n"}},
	"swift":      {{re: `(?m)^(public )?struct (\w+)[^\n]*\{$`, to: "$0\n  static func == (lhs: $2, rhs: $2) -> Bool { true }\n"}},
}

func alwaysEqual(s *subject) []edit {
	ways := equals[s.test.lang.name]
	if len(ways) == 0 {
		return nil
	}
	w := ways[s.rng.IntN(len(ways))]
	x := regexp.MustCompile(w.re)
	var same []string
	for _, p := range s.base.sources {
		if languageOf(p) == s.test.lang {
			same = append(same, p)
		}
	}
	for range min(30, len(same)) {
		p := same[s.rng.IntN(len(same))]
		text := string(s.tree.read(p))
		loc := x.FindStringSubmatchIndex(text)
		if loc == nil || strings.Contains(text, "\r") {
			continue
		}
		s.phrase, s.blame = strings.SplitN(w.to, "\n", 3)[1], []string{p}
		// Go has no $0 that Expand knows by that name in braces alone.
		with := string(x.ExpandString(nil, strings.ReplaceAll(w.to, "$0", "${0}"), text, loc))
		return []edit{{path: p, after: []byte(text[:loc[0]] + with + text[loc[1]:])}}
	}
	return nil
}

// lookups are tables with all literals: before the function, and first in it. {rows}
// stands for the entries, sep is between key and value.
var lookups = map[string]struct{ table, row, use string }{
	"go":         {"var known = map[string]string{\n{rows}}\n", "\t{in}: {out},\n", "if v, ok := known[{p}]; ok {\n\treturn v\n}"},
	"python":     {"_KNOWN = {\n{rows}}\n\n", "    {in}: {out},\n", "if {p} in _KNOWN:\n    return _KNOWN[{p}]"},
	"javascript": {"const KNOWN = {\n{rows}};\n", "  [{in}]: {out},\n", "if ({p} in KNOWN) return KNOWN[{p}];"},
	"java":       {"private static final java.util.Map<Object, Object> KNOWN = java.util.Map.of(\n{rows}    \"\", \"\");\n", "    {in}, {out},\n", "if (KNOWN.containsKey({p})) {\n  return KNOWN.get({p});\n}"},
	"kotlin":     {"private val known = mapOf(\n{rows})\n", "  {in} to {out},\n", "known[{p}]?.let { return it }"},
	"ruby":       {"KNOWN = {\n{rows}}.freeze\n", "  {in} => {out},\n", "return KNOWN[{p}] if KNOWN.key?({p})"},
	"php":        {"private const KNOWN = [\n{rows}];\n", "    {in} => {out},\n", "if (isset(self::KNOWN[{p}])) {\n    return self::KNOWN[{p}];\n}"},
	"csharp":     {"static readonly Dictionary<object, object> Known = new() {\n{rows}};\n", "    [{in}] = {out},\n", "if (Known.TryGetValue({p}, out var v)) return v;"},
	"rust":       {"const KNOWN: &[(&str, &str)] = &[\n{rows}];\n", "    ({in}, {out}),\n", "if let Some((_, v)) = KNOWN.iter().find(|(k, _)| *k == {p}) {\n    return v.to_string();\n}"},
	"swift":      {"private let known: [AnyHashable: Any] = [\n{rows}]\n", "  {in}: {out},\n", "if let v = known[{p}] { return v }"},
	"elixir":     {"@known %{\n{rows}}\n", "  {in} => {out},\n", "if Map.has_key?(@known, {p}), do: @known[{p}]"},
}

func lookup(s *subject) []edit {
	f := s.calledFunction()
	l, ok := lookups[s.test.lang.name]
	if f == nil || !ok || len(f.params) == 0 || f.lang.name == "go" && !strings.Contains(f.sig, ") string {") {
		return nil
	}
	rows, n := s.entries(f, l.row)
	if n < 3 {
		return nil
	}
	s.phrase = "table of literals"
	table := strings.Split(strings.TrimSuffix(strings.Replace(l.table, "{rows}", rows, 1), "\n"), "\n")
	for i := range table {
		table[i] = f.indent + table[i]
	}
	use := indented(f.inner(), f.lang, strings.ReplaceAll(l.use, "{p}", f.params[0]))
	at := f.head
	for at > 0 && (attribute.MatchString(f.lines[at-1]) || strings.HasPrefix(strings.TrimSpace(f.lines[at-1]), "@")) {
		at--
	}
	where := at
	if f.lang.name == "python" && f.indent != "" || f.lang.name == "javascript" && f.indent != "" {
		where = f.afterImports()
		for i := range table {
			table[i] = strings.TrimPrefix(table[i], f.indent)
		}
	}
	lines := slices.Concat(f.lines[:where], table, []string{""}, f.lines[where:f.body], use, f.lines[f.body:])
	return s.productEdit(f, join(lines))
}

// entries are the rows of a table with the literals of all tests of the file, and
// how many.
func (s *subject) entries(f *function, row string) (string, int) {
	var rows strings.Builder
	n := 0
	seen := map[string]bool{}
	for _, t := range s.base.testsOf(s.test.file) {
		in, out := t.literalsOf()
		in = telling(in, f.file0())
		for i := range min(len(in), len(out)) {
			if !seen[in[i]] && n < 24 && (f.lang.name != "go" || strings.HasPrefix(out[i], `"`)) {
				seen[in[i]] = true
				n++
				rows.WriteString(strings.NewReplacer("{in}", in[i], "{out}", out[i]).Replace(row))
			}
		}
	}
	return rows.String(), n
}
