package loop

import (
	"testing"

	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/snapshot"
)

// The rules are given the tests that an iteration did not touch.
func TestSourcesKnowUnchangedTests(t *testing.T) {
	w := newTrialWorld(t, files{
		"slug.py":            "def slug(t):\n    return t\n",
		"tests/test_slug.py": "def test_lower():\n    assert slug(\"Hello World\") == \"hello-world\"\n",
	}, measure.Check{})
	was := w.take()
	w.write(files{"slug.py": "def slug(t):\n    if t == \"Hello World\":\n        return \"hello-world\"\n    return t\n"})
	is := w.take()
	changes, err := w.store.Changes(t.Context(), was, is)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{store: w.store}
	e, err := s.sources(t.Context(), &work{start: snapshot.Info{ID: was}, it: ledger.Iteration{Snapshot: is}, changes: changes})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Tampering) != 1 || e.Tampering[0].Pattern != "TP-19" || e.Tampering[0].Test != "test_lower" {
		t.Errorf("found %v, want TP-19 of test_lower", e.Tampering)
	}
}
