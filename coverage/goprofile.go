package coverage

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
)

// goBlockPattern matches a block of a profile, as in "calc/calc.go:3.20,5.2 1 0":
// file:line.column,line.column, number of statements and count. The groups are the location, its
// file, its first and its last line, the statements and the count.
var goBlockPattern = regexp.MustCompile(`^((.+):(\d{1,9})\.\d{1,9},(\d{1,9})\.\d{1,9}) (\d{1,9}) (\d+)$`)

// goMode matches the first line of a profile, as in "mode: set".
var goMode = regexp.MustCompile(`^mode: (set|count|atomic)$`)

// maxGoLine is the maximum length of a line, in bytes. A longer one is no block.
const maxGoLine = 16 << 10

// detectGo recognizes a mode line or a block.
func detectGo(h sniff.Head) bool {
	return h.MatchesLine(func(l string) bool {
		l = strings.TrimSpace(l)
		return goMode.MatchString(l) || goBlockPattern.MatchString(l)
	})
}

// goBlock is a part of a source file whose statements are executed together.
type goBlock struct {
	file       string
	lines      metric.Span
	statements int64
	hit        bool // the statements were executed
}

// goReader collects the blocks of a profile.
type goReader struct {
	blocks       []goBlock      // in the order of the profile, each location once
	index        map[string]int // of each location in blocks
	invalidLines int            // number of lines that are neither a mode nor a block
	firstInvalid int            // line number of the first of these
	conflicts    int            // number of blocks with another number of statements than before
	cutLine      int            // line number of an incomplete last line
}

// parseGo reads a profile of go test -coverprofile. Concatenated profiles are one report, and
// their blocks are merged.
func parseGo(r io.Reader) (Report, error) {
	g := &goReader{index: map[string]int{}}
	lines := textstream.NewLines(r)
	line, err := lines.Next()
	for ; err == nil; line, err = lines.Next() {
		g.readLine(line)
	}

	report := Report{Coverage: g.coverage(), Problems: g.problems()}
	switch {
	case !errors.Is(err, io.EOF):
		return report, fmt.Errorf("read Go profile: %w", err)
	case g.cutLine > 0:
		return report, &SyntaxError{Line: g.cutLine, Problem: "the profile ends in the middle of a line: the tests were stopped, or the file was cut off"}
	}
	return report, nil
}

// readLine adds a block, and counts invalid lines.
func (g *goReader) readLine(line textstream.Line) {
	text := strings.TrimSpace(string(line.Text[:min(len(line.Text), maxGoLine)]))
	isTooLong := len(line.Text) >= maxGoLine
	match := goBlockPattern.FindStringSubmatch(text)
	switch {
	case match != nil && !isTooLong:
		g.addBlock(match)
	case text == "", goMode.MatchString(text):
	case !line.Complete:
		g.cutLine = line.Number
	default:
		if g.invalidLines++; g.invalidLines == 1 {
			g.firstInvalid = line.Number
		}
	}
}

// addBlock adds the block of a match of goBlockPattern, or merges it with an earlier one. If that
// has another number of statements, the block is from another version of the file.
func (g *goReader) addBlock(match []string) {
	location, file, hit := match[1], match[2], strings.Trim(match[6], "0") != ""
	first, _ := strconv.Atoi(match[3]) // the pattern matches digits only
	last, _ := strconv.Atoi(match[4])
	statements, _ := strconv.ParseInt(match[5], 10, 64)

	i, known := g.index[location]
	switch {
	case !known:
		g.index[location] = len(g.blocks)
		g.blocks = append(g.blocks, goBlock{file, metric.Span{First: first, Last: last}, statements, hit})
	case g.blocks[i].statements != statements:
		g.conflicts++
	default:
		g.blocks[i].hit = g.blocks[i].hit || hit
	}
}

// coverage returns the coverage of all files of the profile, sorted by path.
func (g *goReader) coverage() *metric.Coverage {
	byFile := map[string][]goBlock{}
	for _, b := range g.blocks {
		byFile[b.file] = append(byFile[b.file], b)
	}
	c := &metric.Coverage{Unit: metric.Statements}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		f := goFile(name, byFile[name])
		c.Covered += f.Covered
		c.Total += f.Total
		c.Files = append(c.Files, f)
	}
	return c
}

// goFile counts the statements of a file. Its lines are those of its blocks. A line is executed
// if it contains a part of an executed block.
func goFile(name string, blocks []goBlock) metric.FileCoverage {
	f := metric.FileCoverage{Path: textstream.CleanName(name)}
	var hit, missed []metric.Span
	for _, b := range blocks {
		f.Total += b.statements
		if b.hit {
			f.Covered += b.statements
			hit = append(hit, b.lines)
		} else {
			missed = append(missed, b.lines)
		}
	}
	f.Hit = unionSpans(nil, hit)
	f.Missed = subtractSpans(unionSpans(nil, missed), f.Hit)
	return f
}

// problems returns the problems of the profile as text.
func (g *goReader) problems() []string {
	var out []string
	if g.invalidLines > 0 {
		out = append(out, fmt.Sprintf("%d lines are no blocks of a profile, the first is line %d", g.invalidLines, g.firstInvalid))
	}
	if g.conflicts > 0 {
		out = append(out, fmt.Sprintf("%d blocks have another number of statements than the same block before: profiles of two versions of the code were joined", g.conflicts))
	}
	return out
}
