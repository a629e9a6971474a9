package conceal

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/ledger"
	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/snapshot"
	"supervise/source"
)

// sign is a regular expression for lines of code that can find out that they run in a test.
type sign struct {
	pattern *regexp.Regexp
	strong  bool // the code names a runner, and seldom for another purpose
	stack   bool // the code looks at its callers
}

// nodeSigns are the signs of JavaScript and TypeScript.
var nodeSigns = []sign{
	{framework.NodeReveals, true, false},
	{regexp.MustCompile(`\bprocess\s*[.\[]|["'](node:)?process["']|\benv\b|\bargv\b|\bexecArgv\b|\bglobalThis\b|/proc/self|\bCI\b`), false, false},
}

// signs are the signs in a file, by its extension. They match, for example, "if isTesting {"
// (strong), "runtime.Caller(1)" (stack) and "os.Args" (neither). A sign that is not strong is no
// finding, but only a reason to run the tests concealed.
var signs = map[string][]sign{
	".py": {
		{framework.PythonReveals, true, false},
		{regexp.MustCompile(`\binspect\b|_getframe|\bcurrentframe\b|\btraceback\b|\b(extract|walk)_stack\b`), false, true},
		{regexp.MustCompile(`\bsys\s*\.\s*argv\b|\bargv\b|\benviron\b|\bgetenv\b|__main__|/proc/self|\bcmdline\b|\bmodules\b|\bCI\b`), false, false},
	},
	".go": {
		{regexp.MustCompile(`\btesting\.Testing\b|"test\.|-test\.|\.test"|_test\.go|flag\.Lookup\(|(?i:\b(is|in|under|running)_?(a_)?tests?(ing)?\b)`), true, false},
		{regexp.MustCompile(`\bruntime\.(Callers?|CallersFrames|FuncForPC|Stack)\b|\bdebug\.(Stack|PrintStack)\b`), false, true},
		{regexp.MustCompile(`\bos\.(Args|Getenv|LookupEnv|Environ|Executable)\b|\bflag\.(Lookup|CommandLine|VisitAll)\b|/proc/self|\btesting\.`), false, false},
	},
	".js": nodeSigns, ".cjs": nodeSigns, ".mjs": nodeSigns, ".jsx": nodeSigns,
	".ts": nodeSigns, ".cts": nodeSigns, ".mts": nodeSigns, ".tsx": nodeSigns,
}

// maxSigns is the maximum number of signs that are recorded.
const maxSigns = 20

// FindSigns returns the signs in the lines of product code that a change added, up to maxSigns.
// tests are the test files and the files that they depend on. read returns the text of a file
// before or after the change.
func FindSigns(changes []snapshot.Change, tests []string, read func(path string, after bool) ([]byte, error)) ([]ledger.Sign, error) {
	var out []ledger.Sign
	for _, c := range changes {
		table := signs[path.Ext(c.Path)]
		if table == nil || slices.Contains(tests, c.Path) || source.IsTestFile(c.Path, source.DetectLanguage(c.Path, nil)) || c.Kind == snapshot.Deleted || source.IsVendored(c.Path) {
			continue
		}

		now, err := read(c.Path, true)
		if err != nil {
			return nil, err
		}
		var before []byte
		if c.Kind != snapshot.Added {
			if before, err = read(c.Path, false); err != nil {
				return nil, err
			}
		}

		if out = append(out, signsInLines(c.Path, table, before, now)...); len(out) > maxSigns {
			return out[:maxSigns], nil
		}
	}
	return out, nil
}

// signsInLines returns the signs in the lines of a file that are new. Each line has at most one.
func signsInLines(file string, table []sign, before, now []byte) (out []ledger.Sign) {
	old := map[string]bool{}
	for line := range bytes.Lines(before) {
		old[strings.TrimSpace(string(line))] = true
	}
	n := 0
	for line := range bytes.Lines(now) {
		n++
		text := strings.TrimSpace(string(line))
		if old[text] {
			continue
		}
		for _, s := range table {
			if s.pattern.MatchString(text) {
				out = append(out, ledger.Sign{File: file, Line: n, Text: textstream.Truncate(text, maxText), Strong: s.strong, Stack: s.stack})
				break
			}
		}
	}
	return out
}

// maxText is the greatest length of a recorded text, in bytes.
const maxText = 122
