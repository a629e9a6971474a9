package detector

import (
	"path"
	"slices"
	"strings"

	"supervise/detector/internal/naming"
	"supervise/metric"
)

// AffectedTests returns the tests of before that the finding names, or all tests of its
// file where it names none. defs are the definitions before the change, renamed
// the new paths of renamed files.
func (t Tampering) AffectedTests(before *metric.Tests, defs []TestSource, renamed map[string]string) []metric.Test {
	if before == nil {
		return nil
	}
	own := slices.DeleteFunc(place(defs, suitesOf(metric.Set{Tests: before})), func(d TestSource) bool {
		return d.File != t.File && renamed[d.File] != t.File
	})
	known := newDefinitions(own)
	var sure, maybe []metric.Test
	for _, c := range before.Cases {
		switch d := known.defining(c); {
		case d == nil || t.Test != "" && d.Def.Name != t.Test:
		case d.exact() || max(naming.RefersTo(c.File, d.File), naming.RefersTo(c.Suite, d.File), naming.RefersTo(c.Class, d.File)) > 0:
			sure = append(sure, c)
		default:
			maybe = append(maybe, c)
		}
	}
	if len(sure)+len(maybe) == 0 && t.Test == "" {
		return expecting(t.File, before)
	}
	if len(sure) == 0 {
		return maybe
	}
	return sure
}

// expecting returns the tests whose expected output a file holds, by where it
// is: next to the test file that it is named after, or below the folder of the
// tests.
func expecting(file string, before *metric.Tests) []metric.Test {
	dir, name := path.Split(file)
	dir = strings.TrimSuffix(dir, "/")
	owner, folder := "", ""
	switch base := path.Base(dir); {
	case base == "__snapshots__":
		owner = path.Join(path.Dir(dir), strings.TrimSuffix(strings.Replace(name, ".ambr", ".py", 1), ".snap"))
	case strings.HasSuffix(name, ".snap"):
		owner = strings.TrimSuffix(file, ".snap")
	default:
		i := strings.LastIndex("/"+dir+"/", "/testdata/")
		if i < 0 {
			return nil
		}
		folder = strings.Trim(("/" + dir)[:i], "/")
	}
	var out []metric.Test
	for _, c := range before.Cases {
		sameFolder := folder != "" && (c.Suite == folder || strings.HasSuffix(c.Suite, "/"+folder))
		if sameFolder || owner != "" && max(naming.RefersTo(c.File, owner), naming.RefersTo(c.Suite, owner), naming.RefersTo(c.Class, owner)) == 2 {
			out = append(out, c)
		}
	}
	return out
}

// defining returns the definition of a test, or of the nearest test around it.
func (d *definitions) defining(c metric.Test) *TestSource {
	for {
		if at := d.of(c); len(at) > 0 {
			return &d.list[at[0]]
		}
		parent, ok := c.Parent()
		if !ok {
			return nil
		}
		c.ID = parent
	}
}

// DefinitionsOf returns the definitions of tests, of those that have one among defs.
func DefinitionsOf(tests *metric.Tests, defs []TestSource) map[metric.ID]TestSource {
	out := map[metric.ID]TestSource{}
	if tests == nil || len(defs) == 0 {
		return out
	}
	known := newDefinitions(place(defs, suitesOf(metric.Set{Tests: tests})))
	named, maybe := map[string]bool{}, map[metric.ID]TestSource{}
	for _, c := range tests.Cases {
		switch d := known.defining(c); {
		case d == nil:
		case d.exact() || max(naming.RefersTo(c.File, d.File), naming.RefersTo(c.Suite, d.File), naming.RefersTo(c.Class, d.File)) > 0:
			out[c.ID], named[d.File] = *d, true
		default:
			maybe[c.ID] = *d
		}
	}
	for id, d := range maybe { // of a file that no report names
		if !named[d.File] {
			out[id] = d
		}
	}
	return out
}

// TestsExpecting returns the tests whose expected output a file holds, by where it is.
func TestsExpecting(file string, before *metric.Tests) []metric.Test {
	if before == nil {
		return nil
	}
	return expecting(file, before)
}
