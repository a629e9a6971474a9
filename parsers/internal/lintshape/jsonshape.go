package lintshape

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// lintShape describes where the findings of a JSON report are, and what identifies it.
//
// A path in a document looks like "files.[].messages.[]": [] represents the items of an array,
// and * the members of an object. Each text in marks is a set of such paths, separated by
// spaces. The format is detected if the report has all paths of one set.
type lintShape struct {
	name          string
	tool          string                  // name of the tool, "" if the report names it
	tools         string                  // Tools of the format, "" if they are the tool
	note          string                  // Note of the format
	marks         []string                // sets of paths that identify the format
	cleanPattern  *regexp.Regexp          // matches a report without findings and marks; may be nil
	isLines       bool                    // the report has one item a line (JSON Lines)
	isTypeChecker bool                    // errors are type or compiler errors
	levels        map[string]metric.Level // levels by their names in lower case, before [parsed.LevelOf]
	lists         []lintList              // where the findings are
	facts         []lintFact              // what the report says about itself
}

// lintList is a list of findings. The fields file to text are the places of the values in an
// item, "" if it does not have the value:
//
//	a.b   member b of member a
//	a.0   the first item of array a
//	^a    member a of the enclosing item
//	*     the name of the member that the item, or an enclosing one, is the value of
//	.     the item itself
//	a+1   a number that counts from 0
//	a|b   the first of several places that is not empty
//
// For example, the list {path: "files.[].messages.[]", file: "^name", line: "pos.line"} finds
// the file "a.js" and the line 3 in
//
//	{"files": [{"name": "a.js", "messages": [{"pos": {"line": 3}}]}]}
type lintList struct {
	path                                           string // of the items, from the start of the document
	file, line, column, rule, message, level, text string
	extra                                          string                                          // other places that convert needs
	defaultLevel                                   metric.Level                                    // of items without a level
	unique                                         bool                                            // equal findings count once
	convert                                        func(lintItem, metric.Finding) []metric.Finding // changes, splits or skips a finding
}

// lintFact is a value that describes the complete report. Apply stores it in the reader.
type lintFact struct {
	path  string
	apply func(*shapeReader, lintItem)
}

// statedTotal is the fact that states how many findings of a level the report has. The level 0
// is for findings of any level. [shapeReader.check] compares the sums with the findings.
func statedTotal(at string, level metric.Level) lintFact {
	return lintFact{at, func(s *shapeReader, v lintItem) { s.stated[level] += v.number(".") }}
}

// presence is a fact that only identifies a report, which may have no findings.
func presence(at string) lintFact { return lintFact{at, func(*shapeReader, lintItem) {}} }

// checkedFiles is the fact that lists or counts the checked files. If the tool checked no
// file, the report is not clean.
func checkedFiles(at string) lintFact {
	return lintFact{at, func(s *shapeReader, v lintItem) {
		list, _ := v.value.([]any)
		s.checkedNoFile = len(list) == 0 && v.number(".") == 0
	}}
}

// toFormat returns the format of the shape.
func (s lintShape) toFormat() parsed.Format {
	return parsed.Format{
		Name: s.name, Silent: s.isLines, Detect: s.detect, Marks: s.marksText(), Tools: cmp.Or(s.tools, s.tool), Note: s.note,
		Parse: func(r io.Reader) (parsed.Report, error) { return s.parse(r) },
	}
}

// marksText returns the Markdown that describes what identifies the format.
func (s lintShape) marksText() string {
	var all []string
	for _, like := range s.marks {
		all = append(all, "`"+strings.ReplaceAll(like, " ", "`, `")+"`")
	}
	if s.isLines {
		return "JSON Lines with " + strings.Join(all, " or ")
	}
	return strings.Join(all, " or ")
}

// detect reports whether the head is of a report with the shape.
func (s lintShape) detect(h sniff.Head) bool {
	if s.cleanPattern != nil && s.cleanPattern.Match(h.Text) {
		return true
	}
	if s.isLines && h.Value != "{" {
		return false
	}
	return slices.ContainsFunc(s.marks, func(like string) bool { return h.HasMembers(strings.Fields(like)...) })
}

// parse reads a report with the shape. It is an error if nothing of the shape is in it, or if
// the report says that it is not complete.
func (s lintShape) parse(r io.Reader) (parsed.Report, error) {
	reader := newShapeReader(s)
	var noise string
	var err error
	if s.isLines {
		noise, err = reader.readEvents(r)
	} else {
		noise, err = jsonstream.ReadDocuments(r, func(j *jsonstream.Reader) error { return reader.walk(j, nil, "") })
	}
	reader.completeFindings()
	if err == nil {
		err = reader.check()
	}
	return reader.lint.Report(cmp.Or(s.tool, reader.reportedTool), noise, err)
}

// shapeReader reads one report.
type shapeReader struct {
	lintShape
	lint          *parsed.FindingSet
	places        []shapePlace            // of all lists and facts
	items         int                     // listed findings, including those that convert skips or splits
	found         bool                    // the report has something of the format
	stated        map[metric.Level]int    // sums of the stated totals, by level
	seen          map[metric.Finding]bool // findings of lists with unique items
	defaultLevel  metric.Level            // of findings that name no level, 0 for errors
	reportedTool  string                  // the tool that the report names
	checkedNoFile bool                    // no file was looked at
	failure       string                  // why the report is not complete, "" if it is
	names         parsed.Interner         // stored copies of rules and files
	wanted        wantedMembers           // the members to decode
}

// shapePlace is the path of a list or fact. The outer part is read as a stream. The value at
// its end is decoded, and take is called with each value at the complete path.
type shapePlace struct {
	path  []string
	outer int // how many names the outer part has: up to the first [] or *
	take  func(lintItem) error
}

// newShapeReader returns a reader with the places of all lists and facts of the shape.
func newShapeReader(s lintShape) *shapeReader {
	r := &shapeReader{lintShape: s, lint: parsed.NewFindingSet(), stated: map[metric.Level]int{}, seen: map[metric.Finding]bool{}, names: parsed.Interner{}, wanted: wantedMembers{}}
	r.lint.AddTool(s.tool)

	for _, l := range s.lists {
		r.wanted.addList(l)
		r.addPlace(l.path, func(v lintItem) error { return r.addFinding(l, v) })
	}

	for _, f := range s.facts {
		r.wanted.add(splitPath(f.path))
		r.addPlace(f.path, func(v lintItem) error { f.apply(r, v); return nil })
	}
	return r
}

// addPlace adds a place. It calls take with each value at the path.
func (s *shapeReader) addPlace(at string, take func(lintItem) error) {
	p := shapePlace{path: splitPath(at), take: take}
	p.outer = len(p.path)
	if i := slices.IndexFunc(p.path, func(name string) bool { return name == "[]" || name == "*" }); i >= 0 {
		p.outer = i + 1
	}
	s.places = append(s.places, p)
}

// readEvents reads JSON Lines, each of which is one value. It returns the first text of another
// program between them. A report without any text is clean.
func (s *shapeReader) readEvents(r io.Reader) (noise string, err error) {
	noise, err = parsed.ReadEvents(r, func(raw []byte, line textstream.Line) error {
		var v any
		if err := jsonstream.Unmarshal(raw, &v); err != nil {
			return line.Error("%v", err)
		}
		return s.takeValue(nil, lintItem{value: v})
	})
	s.found = s.found || noise == ""
	return noise, err
}

// walk reads the value at the path. It decodes the value if the outer part of a place ends
// there, continues with its members or items if a place may be in it, and skips it otherwise.
// Key is the name of the member with the value, "" for an item of an array.
func (s *shapeReader) walk(j *jsonstream.Reader, path []string, key string) error {
	next := map[string]bool{} // names that continue the path to a place
	isPlace := false
	for _, p := range s.places {
		if !isPrefixOf(p.path, path, p.outer) {
			continue
		}
		if len(path) == p.outer {
			isPlace = true
		} else {
			next[p.path[len(path)]] = true
		}
	}

	switch {
	case isPlace:
		v, err := s.wanted.find(path).read(j)
		if err != nil {
			return err
		}
		if err := s.takeValue(path, lintItem{value: v, key: key}); err != nil {
			return j.Error("%v", err)
		}
		return nil
	case len(next) == 0:
		return j.Skip()
	}
	return s.walkInto(j, path, next)
}

// walkInto reads the members or items of the value at the path that are in next.
func (s *shapeReader) walkInto(j *jsonstream.Reader, path []string, next map[string]bool) error {
	path = path[:len(path):len(path)]
	wantsArray, wantsOnlyArray := next["[]"] || next["*"], len(next) == 1 && next["[]"]
	switch kind := j.Kind(); {
	case kind == '{' && !wantsOnlyArray:
		return j.Object(func(name string) error {
			s.found = s.found || next[name] || next["*"]
			return s.walk(j, append(path, name), name)
		})
	case kind == '[' && wantsArray:
		s.found = true
		return j.Array(func() error { return s.walk(j, append(path, "[]"), "") })
	case kind == 'n' && len(path) > 0:
		return j.Skip()
	}
	return j.Error("this is not what the format %s has there", s.name)
}

// isPrefixOf reports whether a path in the document leads to the outer part of a place, or
// is the outer part itself.
func isPrefixOf(place, path []string, outer int) bool {
	return len(path) <= outer && slices.EqualFunc(place[:len(path)], path, func(want, have string) bool { return want == have || want == "*" })
}

// takeValue passes a decoded value to all places with its path.
func (s *shapeReader) takeValue(path []string, v lintItem) error {
	for _, p := range s.places {
		if len(path) == p.outer && isPrefixOf(p.path, path, p.outer) {
			if err := v.eachAt(p.path[p.outer:], p.take); err != nil {
				return err
			}
		}
	}
	return nil
}

// addFinding adds the finding of an item of the list. Convert may change it, skip it, or split
// it.
func (s *shapeReader) addFinding(l lintList, v lintItem) error {
	f := newFinding(s.names, s.tool, findingTexts{v.text(l.file), v.text(l.rule), v.text(l.message), v.text(l.text)})
	f.Line, f.Column = v.number(l.line), v.number(l.column)
	f.Level = s.levelOf(l, v.text(l.level))
	f.Type = s.isTypeChecker && f.Level == metric.Error

	s.found = true
	s.items++

	findings := []metric.Finding{f}
	if l.convert != nil {
		findings = l.convert(v, f)
	}

	for _, f := range findings {
		if l.unique && s.seen[f] {
			continue
		}
		if l.unique {
			s.seen[f] = true
		}
		s.lint.Add(f)
	}
	return nil
}

// findingTexts are the texts of a finding as the report has them.
type findingTexts struct{ file, rule, message, text string }

// newFinding returns a finding of the tool with clean texts. Names stores the copies of rules
// and files that are used by all findings.
func newFinding(names parsed.Interner, tool string, t findingTexts) metric.Finding {
	f := metric.Finding{
		Tool: tool, Rule: names.Intern(textstream.CleanName(t.rule)), Message: textstream.ClipText(t.message),
		Text: textstream.ClipText(textstream.FirstLine(t.text)),
	}
	if t.file != "" {
		f.File = names.Intern(parsed.URIPath(strings.ReplaceAll(t.file, "%", "%25"))) // a path, not an escaped URI
	}
	return f
}

// levelOf returns the level with a name. Without a name it returns the default of the list,
// which is 0 if the report may have a default.
func (s *shapeReader) levelOf(l lintList, name string) metric.Level {
	name = strings.ToLower(name)
	if level, ok := s.levels[name]; ok {
		return level
	}
	if name == "" {
		return l.defaultLevel
	}
	return parsed.LevelOf(name)
}

// levelNouns names the findings of a level, and of all levels for 0.
var levelNouns = map[metric.Level]string{0: "findings", metric.Error: "errors", metric.Warning: "warnings", metric.Note: "notes"}

// completeFindings sets what facts after the findings in the report say about them.
func (s *shapeReader) completeFindings() {
	for i := range s.lint.Findings {
		f := &s.lint.Findings[i]
		f.Tool = cmp.Or(f.Tool, s.reportedTool)
		if f.Level == 0 {
			f.Level = cmp.Or(s.defaultLevel, metric.Error)
			f.Type = f.Level == metric.Error && (s.isTypeChecker || parsed.IsTypeChecker(f.Tool))
		}
	}
	s.lint.AddTool(s.reportedTool)
}

// check compares the totals of the report with the findings, and returns an error if the
// report is not complete.
func (s *shapeReader) check() error {
	count := map[metric.Level]int{0: s.items}
	for _, f := range s.lint.Findings {
		count[f.Level]++
	}
	for _, level := range slices.Sorted(maps.Keys(s.stated)) {
		if n := s.stated[level]; n != count[level] {
			s.lint.Problems.Add("the report says it has %d %s and holds %d", n, levelNouns[level], count[level])
		}
	}

	switch {
	case !s.found:
		return fmt.Errorf("%w: there is nothing of the format %s in it", parsed.ErrUnknownFormat, s.name)
	case s.failure != "":
		return &parsed.SyntaxError{Problem: s.failure}
	case s.checkedNoFile && !slices.ContainsFunc(s.lint.Findings, func(f metric.Finding) bool { return f.File != "" }):
		return &parsed.SyntaxError{Problem: s.tool + " looked at no file: its arguments or its configuration name none"}
	}
	return nil
}
