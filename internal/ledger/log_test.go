package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A crash in the middle of a write leaves half a line: it is cut off, and the
// chain continues after the last complete one.
func TestTornTailIsCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), logName)
	l, err := openLog(path, func(Event) {})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.append(Event{Name: "x", Time: time.Unix(0, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	l.close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"seq":3,"time":"20`)
	f.Close()
	if l, err = openLog(path, func(Event) {}); err != nil {
		t.Fatal(err)
	}
	if err := l.append(Event{Name: "y"}); err != nil {
		t.Fatal(err)
	}
	l.close()
	events, problems, err := Audit(filepath.Dir(path))
	if err != nil || len(problems) > 0 || len(events) != 3 || events[2].Seq != 3 {
		t.Errorf("after the crash: %d events, problems %v, %v; want 3 and none", len(events), problems, err)
	}
}
