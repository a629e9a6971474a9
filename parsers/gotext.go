package parsers

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
)

// goText reads what go build and go vet print: lines "file:line:col: message"
// under headers "# package". Under "# [package]" stands what vet found.
type goText struct {
	findings []goFinding
	seen     map[goFinding]bool
	only     string // the one tool that prints, "" where it is told by headers
	loose    bool   // a line that is none of these can be an error without a place

	headed  bool // a header was seen, and nothing foreign since
	inVet   bool
	open    bool // an indented line goes on with the last finding
	repeat  bool // which was there before
	located int
	latest  goFinding
}

type goFinding struct {
	vet, typed         bool
	level              metric.Level
	file               string
	lineNumber, column int
	message            string
}

// place returns the finding as the tool printed it.
func (f goFinding) place() string {
	if f.file == "" {
		return f.message
	}
	return fmt.Sprintf("%s:%d: %s", f.file, f.lineNumber, f.message)
}

var (
	goPlace  = regexp.MustCompile(`^(vet: )?((?:[A-Za-z]:)?[^:\s][^:]*\.[A-Za-z]+):(\d+)(?::(\d+))?: (.+)$`)
	goHeader = regexp.MustCompile(`^# (\[)?[^\s\[\]]+\]?( \[[^\]]+\])?$`)
	goOther  = regexp.MustCompile(`^(package \S+(?: is not |: |$)|\t?imports \S+(?: from \S+)?: |pattern \S+: |no required module|cannot find (?:package|module|main)|found packages \S+ \(|vet: |go: (?:errors|error|cannot|module|updates|no |go.mod|inconsistent))`)
	goLoad   = regexp.MustCompile(`^[^:\s][^:]*\.go:\d+:\d+: (no required module|package \S+(?: is not |: )|cannot find|import cycle|use of internal|expected |undefined: |syntax error)`)
)

// goClause is in sources as well.
var goClause = regexp.MustCompile(`^package \S+$`)

func detectVet(h sniff.Head) bool {
	return h.Line(func(l string) bool {
		return strings.HasPrefix(l, "vet: ") || strings.HasPrefix(l, "# [") && goHeader.MatchString(l)
	})
}

func detectBuild(h sniff.Head) bool {
	return h.Line(goHeader.MatchString) && h.Line(goPlace.MatchString) || h.Line(goLoad.MatchString) ||
		h.Line(func(l string) bool { return goOther.MatchString(l) && !goClause.MatchString(l) })
}

// maxLineDetect is the longest line that can be one of a compiler.
const maxLineDetect = 16 << 10

func parseVet(r io.Reader) (Report, error)   { return parseGoText(r, "go vet") }
func parseBuild(r io.Reader) (Report, error) { return parseGoText(r, "go build") }

func parseGoText(r io.Reader, tool string) (Report, error) {
	g := goText{only: tool, loose: true}
	err := textstream.EachLine(r, func(l textstream.Line) {
		g.line(string(l.Text[:min(len(l.Text), maxLineDetect)]))
	})
	return Report{Producer: tool, Lint: g.lint()}, err
}

// line takes one line, and reports whether it belongs to the output of a
// compiler or of vet.
func (g *goText) line(s string) bool {
	s = strings.TrimRight(textstream.StripANSI(s), "\r\n")
	if m := goHeader.FindStringSubmatch(s); m != nil {
		g.headed, g.inVet, g.open = true, m[1] != "", false
		return true
	}
	if !g.headed && g.only == "" {
		return false
	}
	if m := goPlace.FindStringSubmatch(s); m != nil {
		g.located++
		g.latest = g.finding(m)
		g.add(g.latest)
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
	if g.loose && goOther.MatchString(s) {
		g.add(goFinding{typed: true, level: metric.Error, message: textstream.CleanText(s)})
		return true
	}
	g.headed = false
	return false
}

// finding returns what a line that names a file says.
func (g *goText) finding(m []string) goFinding {
	f := goFinding{level: metric.Error, file: slashed(m[2]), message: textstream.CleanText(m[5])}
	f.lineNumber, _ = strconv.Atoi(m[3]) // digits; 0 where there are too many of them
	f.column, _ = strconv.Atoi(m[4])
	f.vet = g.inVet || g.only == "go vet" && !g.headed // under "# package" alone stands the compiler's word
	f.typed = !f.vet || m[1] != ""
	for prefix, level := range map[string]metric.Level{"warning: ": metric.Warning, "note: ": metric.Note} {
		if rest, ok := strings.CutPrefix(f.message, prefix); ok { // of a C compiler
			f.message, f.level, f.typed = rest, level, false
		}
	}
	return f
}

func (g *goText) add(f goFinding) {
	if g.seen == nil {
		g.seen = map[goFinding]bool{}
	}
	g.open, g.repeat = true, g.seen[f]
	if !g.repeat {
		g.seen[f] = true
		g.findings = keep(g.findings, f)
	}
}

// goOn adds an indented line to the last message.
func (g *goText) goOn(s string) {
	last := &g.findings[len(g.findings)-1]
	if !g.repeat && len(last.message) < maxMessage {
		last.message += " " + textstream.CleanText(s)
	}
}

func slashed(file string) string { return path.Clean(strings.ReplaceAll(file, `\`, "/")) }

// lint returns the findings; never nil.
func (g *goText) lint() *metric.Lint {
	l := &metric.Lint{Findings: []metric.Finding{}}
	if g.only != "" {
		l.Tools = []string{g.only}
	}
	for _, f := range g.findings {
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

// maxMessage is how many bytes of a message of several lines are gathered.
const maxMessage = 2 << 10
