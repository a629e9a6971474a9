package parsed

import (
	"fmt"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
)

// GoText reads what go build and go vet print: lines "file:line:col: message"
// under headers "# package". Findings under "# [package]" are those of vet.
type GoText struct {
	Findings []goFinding
	seen     map[goFinding]bool
	Only     string // the one tool that prints, "" where headers name it
	Loose    bool   // a line that is none of these can be an error without a place

	headed  bool // a header was seen, and nothing foreign since
	inVet   bool
	open    bool // an indented line continues the last finding
	repeat  bool // which was there before
	Located int
	Latest  goFinding
}

type goFinding struct {
	vet, typed         bool
	level              metric.Level
	file               string
	lineNumber, column int
	message            string
}

// Place returns the finding as the tool printed it.
func (f goFinding) Place() string {
	if f.file == "" {
		return f.message
	}
	return fmt.Sprintf("%s:%d: %s", f.file, f.lineNumber, f.message)
}

// The lines of go build and go vet: a message with its place, the header of a
// package, an error without a place, an error of loading a package.
var (
	GoPlace  = regexp.MustCompile(`^(vet: )?((?:[A-Za-z]:)?[^:\s][^:]*\.[A-Za-z]+):(\d+)(?::(\d+))?: (.+)$`)
	GoHeader = regexp.MustCompile(`^# (\[)?[^\s\[\]]+\]?( \[[^\]]+\])?$`)
	GoOther  = regexp.MustCompile(`^(package \S+(?: is not |: |$)|\t?imports \S+(?: from \S+)?: |pattern \S+: |no required module|cannot find (?:package|module|main)|found packages \S+ \(|vet: |go: (?:errors|error|cannot|module|updates|no |go.mod|inconsistent))`)
	GoLoad   = regexp.MustCompile(`^[^:\s][^:]*\.go:\d+:\d+: (no required module|package \S+(?: is not |: )|cannot find|import cycle|use of internal|expected |undefined: |syntax error)`)
)

// Line takes one line, and reports whether it belongs to the output of a
// compiler or of vet.
func (g *GoText) Line(s string) bool {
	s = strings.TrimRight(textstream.StripANSI(s), "\r\n")
	if m := GoHeader.FindStringSubmatch(s); m != nil {
		g.headed, g.inVet, g.open = true, m[1] != "", false
		return true
	}
	if !g.headed && g.Only == "" {
		return false
	}
	if m := GoPlace.FindStringSubmatch(s); m != nil {
		g.Located++
		g.Latest = g.finding(m)
		g.add(g.Latest)
		return true
	}
	if (strings.HasPrefix(s, "\t") || strings.HasPrefix(s, "    ")) && g.open {
		g.goOn(s)
		return true
	}
	g.open = false
	if s = strings.TrimSpace(s); s == "too many errors" {
		return true
	}
	if g.Loose && GoOther.MatchString(s) {
		g.add(goFinding{typed: true, level: metric.Error, message: textstream.CleanText(s)})
		return true
	}
	g.headed = false
	return false
}

// finding returns what a line that names a file says.
func (g *GoText) finding(m []string) goFinding {
	f := goFinding{level: metric.Error, file: Slashed(m[2]), message: textstream.CleanText(m[5])}
	f.lineNumber, _ = strconv.Atoi(m[3]) // digits; 0 if there are too many of them
	f.column, _ = strconv.Atoi(m[4])
	f.vet = g.inVet || g.Only == "go vet" && !g.headed // errors under "# package" are those of the compiler
	f.typed = !f.vet || m[1] != ""
	for prefix, level := range map[string]metric.Level{"warning: ": metric.Warning, "note: ": metric.Note} {
		if rest, ok := strings.CutPrefix(f.message, prefix); ok { // of a C compiler
			f.message, f.level, f.typed = rest, level, false
		}
	}
	return f
}

func (g *GoText) add(f goFinding) {
	if g.seen == nil {
		g.seen = map[goFinding]bool{}
	}
	g.open, g.repeat = true, g.seen[f]
	if !g.repeat {
		g.seen[f] = true
		g.Findings = Keep(g.Findings, f)
	}
}

// goOn adds an indented line to the last message.
func (g *GoText) goOn(s string) {
	last := &g.Findings[len(g.Findings)-1]
	if !g.repeat && len(last.message) < MaxMessage {
		last.message += " " + textstream.CleanText(s)
	}
}

// Lint returns the findings; never nil.
func (g *GoText) Lint() *metric.Lint {
	l := &metric.Lint{Findings: []metric.Finding{}}
	if g.Only != "" {
		l.Tools = []string{g.Only}
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

// Compiled returns the findings in the message of f, which holds all that the
// Go compiler printed about a package, or f alone.
func Compiled(f metric.Finding) []metric.Finding {
	var g GoText
	for line := range strings.Lines(f.Message) {
		g.Line(line)
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
