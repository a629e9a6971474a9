package coverage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/tools/cover"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
)

// goBlock matches a block of a profile, as in "calc/calc.go:3.20,5.2 1 0":
// file:line.column,line.column, number of statements and count. The groups are the location, the
// statements and the count.
var goBlock = regexp.MustCompile(`^(.+:\d{1,9}\.\d{1,9},\d{1,9}\.\d{1,9}) (\d{1,9}) (\d+)$`)

// goMode matches the first line of a profile, as in "mode: set".
var goMode = regexp.MustCompile(`^mode: (set|count|atomic)$`)

// maxGoLine is the maximum length of a line. It is shorter than the limit of x/tools/cover.
const maxGoLine = 16 << 10

// tooLong replaces a line that is longer than maxGoLine.
var tooLong = []byte("…")

// detectGo recognizes a mode line or a block.
func detectGo(h sniff.Head) bool {
	return h.MatchesLine(func(l string) bool {
		l = strings.TrimSpace(l)
		return goMode.MatchString(l) || goBlock.MatchString(l)
	})
}

// parseGo reads a profile of go test -coverprofile. Concatenated profiles are one report, and
// their blocks are merged.
func parseGo(r io.Reader) (Report, error) {
	clean := &goCleaner{src: bufio.NewReaderSize(r, maxGoLine), places: map[string]string{}}
	profiles, err := cover.ParseProfilesFromReader(clean)
	report := Report{Coverage: goCoverage(profiles), Problems: clean.problems()}
	switch {
	case clean.err != nil:
		return report, fmt.Errorf("read Go profile: %w", clean.err)
	case err != nil:
		return Report{Problems: report.Problems}, &SyntaxError{Problem: err.Error()}
	case clean.cut > 0:
		return report, &SyntaxError{Line: clean.cut, Problem: "the profile ends in the middle of a line: the tests were stopped, or the file was cut off"}
	}
	return report, nil
}

// goCoverage returns the coverage of all files of a profile.
func goCoverage(profiles []*cover.Profile) *metric.Coverage {
	c := &metric.Coverage{Unit: metric.Statements}
	for _, p := range profiles {
		f := goFile(p)
		c.Covered += f.Covered
		c.Total += f.Total
		c.Files = append(c.Files, f)
	}
	return c
}

// goFile counts the statements of a file. Its lines are those of its blocks. A line is executed
// if it contains a part of an executed block.
func goFile(p *cover.Profile) metric.FileCoverage {
	f := metric.FileCoverage{Path: textstream.CleanName(p.FileName)}
	var hit, missed []metric.Span
	for _, b := range p.Blocks {
		f.Total += int64(b.NumStmt)
		lines := metric.Span{First: b.StartLine, Last: b.EndLine}
		switch {
		case b.Count > 0:
			f.Covered += int64(b.NumStmt)
			hit = append(hit, lines)
		default:
			missed = append(missed, lines)
		}
	}
	f.Hit = metric.UnionSpans(nil, hit)
	f.Missed = metric.SubtractSpans(metric.UnionSpans(nil, missed), f.Hit)
	return f
}

// goCleaner is a reader that returns only the lines of a profile that x/tools/cover
// understands: one mode line, and well-formed blocks. Counts are reduced to 0 or 1, because
// larger ones may overflow.
type goCleaner struct {
	src     *bufio.Reader
	out     []byte // output that Read returns next
	read    int    // number of bytes of out that Read returned
	started bool   // the mode line was written
	number  int    // number of the current line

	places map[string]string // number of statements of each block, by location
	noise  int               // number of invalid lines
	first  int               // line number of the first invalid line
	odd    int               // number of blocks with another number of statements than before
	cut    int               // line number of an incomplete last line
	err    error             // error of src
}

// Read implements [io.Reader].
func (g *goCleaner) Read(p []byte) (int, error) {
	for g.read == len(g.out) {
		g.out, g.read = g.out[:0], 0
		if !g.started {
			g.started = true
			g.out = append(g.out, "mode: set\n"...)
			continue
		}
		line, complete, err := g.line()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				g.err = err
			}
			return 0, io.EOF
		}
		g.take(line, complete)
	}
	n := copy(p, g.out[g.read:])
	g.read += n
	return n, nil
}

// line returns the next line, and whether it was complete. A line that is too long is replaced by
// tooLong.
func (g *goCleaner) line() (line []byte, complete bool, err error) {
	line, err = g.src.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = g.src.ReadSlice('\n') // too long to be a block
		line = tooLong
	}
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return nil, false, err
	}
	g.number++
	return bytes.TrimSpace(line), err == nil, nil
}

// take writes a block to the output, and counts other lines.
func (g *goCleaner) take(line []byte, complete bool) {
	m := goBlock.FindSubmatch(line)
	switch {
	case m != nil:
		g.block(m)
	case len(line) == 0, goMode.Match(line):
	case !complete:
		g.cut = g.number
	default:
		if g.noise++; g.noise == 1 {
			g.first = g.number
		}
	}
}

// block writes the block of a match of goBlock to the output, unless an earlier block with the
// same location has another number of statements.
func (g *goCleaner) block(m [][]byte) {
	place, statements := string(m[1]), string(m[2])
	if known, ok := g.places[place]; !ok {
		g.places[place] = statements
	} else if known != statements { // the block is from another version of the file
		g.odd++
		return
	}
	hit := byte('0')
	if len(bytes.Trim(m[3], "0")) > 0 {
		hit = '1'
	}
	g.out = append(g.out, place...)
	g.out = append(g.out, ' ')
	g.out = append(g.out, statements...)
	g.out = append(g.out, ' ', hit, '\n')
}

// problems returns the problems of the profile as text.
func (g *goCleaner) problems() []string {
	var out []string
	if g.noise > 0 {
		out = append(out, fmt.Sprintf("%d lines are no blocks of a profile, the first is line %d", g.noise, g.first))
	}
	if g.odd > 0 {
		out = append(out, fmt.Sprintf("%d blocks have another number of statements than the same block before: profiles of two versions of the code were joined", g.odd))
	}
	return out
}
