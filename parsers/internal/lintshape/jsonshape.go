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
// A path in a document looks like "files.[].messages.[]": [] stands for the items of an
// array, and * for the members of an object.
type lintShape struct {
	name          string
	tool          string                  // "" if the report names it
	tools         string                  // Tools of the format, "" for tool
	note          string                  // Note of the format
	marks         []string                // sets of members that identify the format, separated by spaces
	cleanPattern  *regexp.Regexp          // matches a report without findings, which has none of the marks
	isLines       bool                    // JSON Lines
	isTypeChecker bool                    // errors are type or compiler errors
	levels        map[string]metric.Level // by name in lower case, before [parsed.LevelOf]
	lists         []lintList
	facts         []lintFact
}

// lintList is a list of findings. The fields file to text are the places of the values in
// an item:
//
//	a.b   member b of member a
//	a.0   the first item of array a
//	^a    member a of the enclosing item
//	*     the name of the member that the item, or an enclosing one, is the value of
//	.     the item itself
//	a+1   a number that counts from 0
//	a|b   the first of several places that is not empty
type lintList struct {
	path                                           string
	file, line, column, rule, message, level, text string
	extra                                          string                                          // other places that convert needs
	defaultLevel                                   metric.Level                                    // of items without a level
	unique                                         bool                                            // equal findings count once
	convert                                        func(lintItem, metric.Finding) []metric.Finding // changes, splits or skips a finding
}

// lintFact is a value that describes the entire report.
type lintFact struct {
	path  string
	apply func(*shapeReader, lintItem)
}

// statedTotal is the fact that states how many findings of a level the report has, of any
// level for 0.
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

// marksText describes what identifies the format.
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

func (s lintShape) detect(h sniff.Head) bool {
	if s.cleanPattern != nil && s.cleanPattern.Match(h.Text) {
		return true
	}
	if s.isLines && h.Value != "{" {
		return false
	}
	return slices.ContainsFunc(s.marks, func(like string) bool { return h.HasMembers(strings.Fields(like)...) })
}

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
	places        []shapePlace
	items         int // findings as listed in the report
	found         bool
	stated        map[metric.Level]int
	seen          map[metric.Finding]bool
	defaultLevel  metric.Level // of findings that name no level, 0 for none
	reportedTool  string       // the tool that the report names
	checkedNoFile bool         // no file was looked at
	failure       string       // why the report is not complete
	names         parsed.Interner
	wanted        wantedMembers
}

// shapePlace is the path of a list or fact. The outer part is read as a stream, and the
// values there are decoded completely.
type shapePlace struct {
	path  []string
	outer int // length of the outer part: up to the first [] or *
	take  func(lintItem) error
}

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

func (s *shapeReader) addPlace(at string, take func(lintItem) error) {
	p := shapePlace{path: splitPath(at), take: take}
	p.outer = len(p.path)
	if i := slices.IndexFunc(p.path, func(name string) bool { return name == "[]" || name == "*" }); i >= 0 {
		p.outer = i + 1
	}
	s.places = append(s.places, p)
}

// readEvents reads JSON Lines.
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

// walk reads the value at the path. Key is its member name, "" for an item of an array.
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

// addFinding adds the finding of an item of the list.
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

// newFinding returns a finding with clean texts.
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

// levelOf returns the level by its name. It is 0 if the report may have a default level.
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
