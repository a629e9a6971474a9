package measure_test

import (
	"io"
	"strings"
	"sync"
	"testing"

	"supervise/internal/measure"
	"supervise/internal/treecopy"
)

// Who watches is given both outputs of each check that starts, in another tree as well,
// and closed when it has ended.
func TestWatch(t *testing.T) {
	watched := &watching{printed: map[string]string{}, ended: map[string]bool{}}
	check := shell(measure.Test, `echo out; echo err >&2; echo '`+junit+`' >report.xml`, "report.xml")
	check.Name = "one"
	m := measure.New(measure.Plan{Root: t.TempDir(), Checks: []measure.Check{check}}, measure.Options{Scratch: t.TempDir(), Watch: watched.watch})
	res, err := m.Run(t.Context(), nil)
	if err == nil {
		_, err = m.RunInTree(t.Context(), measure.TreeRun{Plan: treecopy.MovePlan(m.Plan(), t.TempDir()), Tests: res.Set.Tests.Cases, Full: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "one (in another tree)"} {
		text := watched.printed[name]
		if !strings.Contains(text, "out\n") || !strings.Contains(text, "err\n") || !watched.ended[name] {
			t.Errorf("%s: watched %q, ended %t", name, text, watched.ended[name])
		}
	}
}

type watching struct {
	mu      sync.Mutex
	printed map[string]string
	ended   map[string]bool
}

func (w *watching) watch(c measure.Check) io.WriteCloser { return watchedCheck{w, c} }

type watchedCheck struct {
	to    *watching
	check measure.Check
}

func (w watchedCheck) Write(p []byte) (int, error) {
	w.to.mu.Lock()
	defer w.to.mu.Unlock()
	w.to.printed[w.check.Name] += string(p)
	return len(p), nil
}

func (w watchedCheck) Close() error {
	w.to.ended[w.check.Name] = w.check.Extra == strings.HasSuffix(w.check.Name, "(in another tree)")
	return nil
}
