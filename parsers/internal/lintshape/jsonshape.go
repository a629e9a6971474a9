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

// lintShape says where a JSON report keeps its findings, and how it is
// recognised.
//
// A place in a document is written like "files.[].messages.[]": [] means
// the items of an array, * for the members of an object.
type lintShape struct {
	name   string
	tool   string                  // "" if the report names it
	from   string                  // Tools of the format, "" for tool
	note   string                  // Note of the format
	like   []string                // members that identify the format: all those of one line
	clean  *regexp.Regexp          // a report without findings, which like does not match
	lines  bool                    // JSON Lines
	types  bool                    // errors are type or compiler errors
	levels map[string]metric.Level // in addition to those of [severities]
	lists  []lintList
	facts  []lintFact
}

// lintList is a place whose items are findings. The other fields say where an
// item has its values: "a.b" is member b of member a, "a.0" the first item of
// a; "^a" is a member of the enclosing item, "*" the name under which the item
// or the enclosing one is stored, and "." the item itself. Of several places with
// | between them the first that is not empty counts, and "+1" is added to
// numbers that count from 0.
type lintList struct {
	at                                             string
	file, line, column, rule, message, level, text string
	also                                           string                                          // other places that each looks at
	fixed                                          metric.Level                                    // of items without level
	once                                           bool                                            // equal findings are one
	each                                           func(lintItem, metric.Finding) []metric.Finding // what an item really gives
}

// lintFact is a value that says something about the entire report.
type lintFact struct {
	at    string
	apply func(*shapeReader, lintItem)
}

// total is a fact: how many findings of a level, or of any, the report says it
// has.
func total(at string, level metric.Level) lintFact {
	return lintFact{at, func(s *shapeReader, v lintItem) { s.declare(level, v.number(".")) }}
}

// sign is a fact that identifies a report without findings.
func sign(at string) lintFact { return lintFact{at, func(*shapeReader, lintItem) {}} }

// looked is a fact: the files that were looked at, or how many they are. A
// report of none that has nothing to say about a file is not a clean one.
func looked(at string) lintFact {
	return lintFact{at, func(s *shapeReader, v lintItem) {
		list, _ := v.value.([]any)
		s.idle = len(list) == 0 && v.number(".") == 0
	}}
}

// format returns the row of the shape in the table of formats.
func (s lintShape) format() parsed.Format {
	return parsed.Format{
		Name: s.name, Silent: s.lines, Detect: s.detect, Marks: s.marks(), Tools: cmp.Or(s.from, s.tool), Note: s.note,
		Parse: func(r io.Reader) (parsed.Report, error) { return s.parse(r) },
	}
}

// marks words what the format is recognised by.
func (s lintShape) marks() string {
	var all []string
	for _, like := range s.like {
		all = append(all, "`"+strings.ReplaceAll(like, " ", "`, `")+"`")
	}
	if s.lines {
		return "JSON Lines with " + strings.Join(all, " or ")
	}
	return strings.Join(all, " or ")
}

func (s lintShape) detect(h sniff.Head) bool {
	if s.clean != nil && s.clean.Match(h.Text) {
		return true
	}
	if s.lines && h.Value != "{" {
		return false
	}
	return slices.ContainsFunc(s.like, func(like string) bool { return h.HasMembers(strings.Fields(like)...) })
}

func (s lintShape) parse(r io.Reader) (parsed.Report, error) {
	reader := newShapeReader(s)
	var noise string
	var err error
	if s.lines {
		noise, err = reader.events(r)
	} else {
		noise, err = jsonstream.ReadDocuments(r, func(j *jsonstream.Reader) error { return reader.document(j) })
	}
	reader.fill()
	if err == nil {
		err = reader.check()
	}
	return reader.lint.Report(cmp.Or(s.tool, reader.source), noise, err)
}

// shapeReader reads one report.
type shapeReader struct {
	lintShape
	lint     *parsed.FindingSet
	places   []shapePlace
	items    int // findings as listed in the report
	found    bool
	declared map[metric.Level]int
	seen     map[metric.Finding]bool
	fallback metric.Level // of findings that name no level, 0 for none
	source   string       // the tool that the report names
	idle     bool         // no file was looked at
	failure  string       // why the report is not complete
	names    parsed.Interner
	wanted   lintWanted
}

// shapePlace is the place of a list or fact, cut where its items begin: what
// is above is read piece by piece, an item completely.
type shapePlace struct {
	path  []string
	outer int // names of path up to the first [] or *
	take  func(lintItem) error
}

func newShapeReader(s lintShape) *shapeReader {
	r := &shapeReader{lintShape: s, lint: parsed.NewFindingSet(), declared: map[metric.Level]int{}, seen: map[metric.Finding]bool{}, names: parsed.Interner{}, wanted: lintWanted{}}
	r.lint.Heard(s.tool)
	for _, l := range s.lists {
		r.wanted.list(l)
		r.place(l.at, func(v lintItem) error { return r.finding(l, v) })
	}
	for _, f := range s.facts {
		r.wanted.add(placePath(f.at))
		r.place(f.at, func(v lintItem) error { f.apply(r, v); return nil })
	}
	return r
}

func (s *shapeReader) place(at string, take func(lintItem) error) {
	p := shapePlace{path: placePath(at), take: take}
	p.outer = len(p.path)
	if i := slices.IndexFunc(p.path, func(name string) bool { return name == "[]" || name == "*" }); i >= 0 {
		p.outer = i + 1
	}
	s.places = append(s.places, p)
}

// events reads JSON Lines.
func (s *shapeReader) events(r io.Reader) (noise string, err error) {
	err = jsonstream.ReadEvents(r, nil, jsonstream.Sink{
		Event: func(raw []byte, at textstream.Line) error {
			var v any
			if err := jsonstream.Unmarshal(raw, &v); err != nil {
				return at.Error("%v", err)
			}
			return s.takeValue(nil, lintItem{value: v})
		},
		Noise: func(text []byte, _ textstream.Line) {
			if noise == "" {
				noise = textstream.CleanText(string(text[:min(len(text), parsed.MaxLine)]))
			}
		},
	})
	s.found = s.found || noise == ""
	return noise, err
}

func (s *shapeReader) document(j *jsonstream.Reader) error {
	return s.walk(j, nil, "")
}

// walk reads the value at the path.
func (s *shapeReader) walk(j *jsonstream.Reader, path []string, key string) error {
	next := map[string]bool{}
	here := false
	for _, p := range s.places {
		if matches(p.path, path, p.outer) {
			here = here || len(path) == p.outer
			if len(path) < p.outer {
				next[p.path[len(path)]] = true
			}
		}
	}
	switch {
	case here:
		v, err := s.wanted.at(path).read(j)
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
	return s.inside(j, path, next)
}

func (s *shapeReader) inside(j *jsonstream.Reader, path []string, next map[string]bool) error {
	path = path[:len(path):len(path)]
	list := next["[]"] || next["*"]
	switch kind := j.Kind(); {
	case kind == '{' && !(len(next) == 1 && next["[]"]):
		return j.Object(func(name string) error {
			s.found = s.found || next[name] || next["*"]
			return s.walk(j, append(path, name), name)
		})
	case kind == '[' && list:
		s.found = true
		return j.Array(func() error { return s.walk(j, append(path, "[]"), "") })
	case kind == 'n' && len(path) > 0:
		return j.Skip()
	}
	return j.Error("this is not what the format %s has there", s.name)
}

// matches reports whether a document's path leads to the place, or is it.
func matches(place, path []string, outer int) bool {
	return len(path) <= outer && slices.EqualFunc(place[:len(path)], path, func(want, have string) bool { return want == have || want == "*" })
}

// takeValue takes a value that is read completely to all whose place it is.
func (s *shapeReader) takeValue(path []string, v lintItem) error {
	for _, p := range s.places {
		if len(path) == p.outer && matches(p.path, path, p.outer) {
			if err := v.reach(p.path[p.outer:], p.take); err != nil {
				return err
			}
		}
	}
	return nil
}

// finding keeps what the item says.
func (s *shapeReader) finding(l lintList, v lintItem) error {
	f := metric.Finding{
		Tool: s.tool, Rule: s.names.Of(textstream.CleanName(v.text(l.rule))), Line: v.number(l.line), Column: v.number(l.column),
		Message: textstream.ClipText(v.text(l.message)), Text: textstream.ClipText(textstream.FirstLine(v.text(l.text))),
	}
	if file := v.text(l.file); file != "" {
		f.File = s.names.Of(parsed.URIPath(strings.ReplaceAll(file, "%", "%25")))
	}
	f.Level = s.level(l, v.text(l.level))
	f.Type = s.types && f.Level == metric.Error
	s.found = true
	s.items++
	list := []metric.Finding{f}
	if l.each != nil {
		list = l.each(v, f)
	}
	for _, f := range list {
		if l.once && s.seen[f] {
			continue
		}
		if l.once {
			s.seen[f] = true
		}
		s.lint.Keep(f)
	}
	return nil
}

// level returns the level by its name; 0 if the report may still name one.
func (s *shapeReader) level(l lintList, name string) metric.Level {
	name = strings.ToLower(name)
	if level, ok := s.levels[name]; ok {
		return level
	}
	if name == "" {
		return l.fixed
	}
	return parsed.LevelOf(name)
}

func (s *shapeReader) declare(level metric.Level, n int) { s.declared[level] += n }

// levelsOf are what a total may count; 0 means all.
var levelsOf = map[metric.Level]string{0: "findings", metric.Error: "errors", metric.Warning: "warnings", metric.Note: "notes"}

// fill completes the findings with facts that follow them in the report.
func (s *shapeReader) fill() {
	for i := range s.lint.Findings {
		f := &s.lint.Findings[i]
		f.Tool = cmp.Or(f.Tool, s.source)
		if f.Level == 0 {
			f.Level = cmp.Or(s.fallback, metric.Error)
			f.Type = f.Level == metric.Error && (s.types || parsed.ChecksTypes(f.Tool))
		}
	}
	s.lint.Heard(s.source)
}

// check compares the totals that the report declares, and looks whether it is a
// complete one.
func (s *shapeReader) check() error {
	count := map[metric.Level]int{0: s.items}
	for _, f := range s.lint.Findings {
		count[f.Level]++
	}
	for _, level := range slices.Sorted(maps.Keys(s.declared)) {
		if n := s.declared[level]; n != count[level] {
			s.lint.Problems.Add("the report says it has %d %s and holds %d", n, levelsOf[level], count[level])
		}
	}
	switch {
	case !s.found:
		return fmt.Errorf("%w: there is nothing of the format %s in it", parsed.ErrUnknownFormat, s.name)
	case s.failure != "":
		return &parsed.SyntaxError{Problem: s.failure}
	case s.idle && !slices.ContainsFunc(s.lint.Findings, func(f metric.Finding) bool { return f.File != "" }):
		return &parsed.SyntaxError{Problem: s.tool + " looked at no file: its arguments or its configuration name none"}
	}
	return nil
}
