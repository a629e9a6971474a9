package parsed

import (
	"fmt"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
)

// GoDiagnostics reads the output of go build and go vet line by line:
//
//	# example.com/p
//	./a.go:3:2: undefined: x
//
// The header names the package. Findings after the header "# [example.com/p]" are those of go
// vet. Call ReadLine for each line, and then Lint.
type GoDiagnostics struct {
	Tool          string // the tool whose output it is, "" to skip lines before the first header
	AllowUnplaced bool   // read errors without a place, such as "no required module …"

	Findings    []goFinding // all findings, equal ones once
	PlacedCount int         // number of lines with a place
	Latest      goFinding   // the last finding with a place

	seen       map[goFinding]bool
	inOutput   bool // a header was read, and no line of another program since
	inVet      bool // the header was one of go vet
	isOpen     bool // an indented line continues the last finding
	isRepeated bool // the last finding is a repetition
}

// goFinding is one message with its place. The file is "" and the line 0 if it has none.
type goFinding struct {
	vet, typed         bool // found by go vet; a type error
	level              metric.Level
	file               string
	lineNumber, column int
	message            string
}

// String returns the finding in the format of the go command.
func (f goFinding) String() string {
	if f.file == "" {
		return f.message
	}
	return fmt.Sprintf("%s:%d: %s", f.file, f.lineNumber, f.message)
}

// The lines of go build and go vet.
var (
	// GoPlacePattern matches a message with its place: "a.go:3:2: undefined: x".
	GoPlacePattern = regexp.MustCompile(`^(vet: )?((?:[A-Za-z]:)?[^:\s][^:]*\.[A-Za-z]+):(\d+)(?::(\d+))?: (.+)$`)
	// GoHeaderPattern matches the header of a package, which is "# example.com/p" with go build
	// and "# [example.com/p]" with go vet.
	GoHeaderPattern = regexp.MustCompile(`^# (\[)?[^\s\[\]]+\]?( \[[^\]]+\])?$`)
	// GoUnplacedPattern matches an error without a place: "package example.com/q is not in
	// std".
	GoUnplacedPattern = regexp.MustCompile(`^(package \S+(?: is not |: |$)|\t?imports \S+(?: from \S+)?: |pattern \S+: |no required module|cannot find (?:package|module|main)|found packages \S+ \(|vet: |go: (?:errors|error|cannot|module|updates|no |go.mod|inconsistent))`)
	// GoLoadPattern matches an error from loading a package, before which there is no header:
	// "a.go:3:2: no required module provides package example.com/q".
	GoLoadPattern = regexp.MustCompile(`^[^:\s][^:]*\.go:\d+:\d+: (no required module|package \S+(?: is not |: )|cannot find|import cycle|use of internal|expected |undefined: |syntax error)`)
)

// ReadLine reads one line, and reports whether it is output of a compiler or of go vet.
func (g *GoDiagnostics) ReadLine(s string) bool {
	s = strings.TrimRight(textstream.StripANSI(s), "\r\n")
	if m := GoHeaderPattern.FindStringSubmatch(s); m != nil {
		g.inOutput, g.inVet, g.isOpen = true, m[1] != "", false
		return true
	}

	if !g.inOutput && g.Tool == "" {
		return false
	}

	if m := GoPlacePattern.FindStringSubmatch(s); m != nil {
		g.PlacedCount++
		g.Latest = g.parseFinding(m)
		g.addFinding(g.Latest)
		return true
	}

	isIndented := strings.HasPrefix(s, "\t") || strings.HasPrefix(s, "    ")
	if isIndented && g.isOpen {
		g.continueMessage(s)
		return true
	}

	g.isOpen = false
	if s = strings.TrimSpace(s); s == "too many errors" {
		return true
	}
	if g.AllowUnplaced && GoUnplacedPattern.MatchString(s) {
		g.addFinding(goFinding{typed: true, level: metric.Error, message: textstream.CleanText(s)})
		return true
	}
	g.inOutput = false
	return false
}

// parseFinding returns the finding of a match of [GoPlacePattern].
func (g *GoDiagnostics) parseFinding(m []string) goFinding {
	f := goFinding{level: metric.Error, file: ToSlash(m[2]), message: textstream.CleanText(m[5])}
	f.lineNumber, _ = strconv.Atoi(m[3]) // digits; 0 if there are too many of them
	f.column, _ = strconv.Atoi(m[4])
	f.vet = g.inVet || g.Tool == "go vet" && !g.inOutput // errors under "# package" are those of the compiler
	f.typed = !f.vet || m[1] != ""
	for prefix, level := range map[string]metric.Level{"warning: ": metric.Warning, "note: ": metric.Note} {
		if rest, ok := strings.CutPrefix(f.message, prefix); ok { // of a C compiler
			f.message, f.level, f.typed = rest, level, false
		}
	}
	return f
}

// addFinding adds a finding, unless an equal one was read before.
func (g *GoDiagnostics) addFinding(f goFinding) {
	if g.seen == nil {
		g.seen = map[goFinding]bool{}
	}
	g.isOpen, g.isRepeated = true, g.seen[f]
	if !g.isRepeated {
		g.seen[f] = true
		g.Findings = AppendLimited(g.Findings, f)
	}
}

// continueMessage adds an indented line to the message of the last finding.
func (g *GoDiagnostics) continueMessage(s string) {
	last := &g.Findings[len(g.Findings)-1]
	if !g.isRepeated && len(last.message) < MaxMessage {
		last.message += " " + textstream.CleanText(s)
	}
}

// Lint returns the findings that were read. It is never nil.
func (g *GoDiagnostics) Lint() *metric.Lint {
	l := &metric.Lint{Findings: []metric.Finding{}}
	if g.Tool != "" {
		l.Tools = []string{g.Tool}
	}
	for _, f := range g.Findings {
		tool := "go build"
		if f.vet {
			tool = "go vet"
		}
		l.Findings = append(l.Findings, metric.Finding{
			Tool: tool, Level: f.level, Type: f.typed, File: f.file, Line: f.lineNumber, Column: f.column, Message: f.message,
		})
	}
	return l
}

// SplitCompilerOutput returns the findings in the message of f, in which a linter reports all
// output of the Go compiler about a package. They have the tool and rule of f. It returns f
// itself if its message has no findings.
func SplitCompilerOutput(f metric.Finding) []metric.Finding {
	var g GoDiagnostics
	for line := range strings.Lines(f.Message) {
		g.ReadLine(line)
	}
	if len(g.Findings) == 0 {
		return []metric.Finding{f}
	}
	list := g.Lint().Findings
	for i := range list {
		list[i].Tool, list[i].Rule = f.Tool, f.Rule
	}
	return list
}
