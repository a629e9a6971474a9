package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"supervise/internal/agentrun"
	"supervise/internal/document"
	"supervise/internal/event"
	"supervise/internal/measure"
	"supervise/metric"
)

// loop feeds a board as a loop does, with a separate clock.
type loop struct {
	*Board
	at time.Time
}

func newLoop(dir string) *loop {
	l := &loop{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	l.Board = NewBoard(func() time.Time { return l.at }, func(s string) string { return strings.ReplaceAll(s, "hunter2", "[KEY]") })
	l.event(event.LoopStarted, 0, event.Started{Dir: dir, MaxIterations: 3, Plan: measure.Plan{Checks: make([]measure.Check, 2)}})
	return l
}

func (l *loop) event(t event.Type, n int, data any) {
	l.HandleEvent(event.Event{Type: t, LoopID: "ralph-x-12345678", Iteration: n, Data: data})
}

func (l *loop) wait(d time.Duration) { l.at = l.at.Add(d) }

// check runs a check that takes a time and prints a text.
func (l *loop) check(name, output string, took time.Duration) {
	w := l.StartCheck(measure.Check{Name: name})
	_, _ = w.Write([]byte(output))
	l.wait(took)
	_ = w.Close()
}

func (l *loop) shows(t *testing.T, want ...string) {
	t.Helper()
	got := strings.Join(l.State().Lines(l.at, 100, document.NoPaint), "\n")
	if got != strings.Join(want, "\n") {
		t.Errorf("shown:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

const twoTests = "--- PASS: TestOne (0.00s)\n--- FAIL: TestTwo/hunter2\u202e (0.00s)\n"

// A loop from its baseline to its end, as it is seen.
func TestALoopAsItIsSeen(t *testing.T) {
	l := newLoop(t.TempDir())
	test := l.StartCheck(measure.Check{Name: "go test", Dir: "api"})
	l.wait(2 * time.Minute)
	_, _ = test.Write([]byte(twoTests))
	lint := l.StartCheck(measure.Check{Name: "go vet"})
	l.wait(42 * time.Second)
	l.shows(t, "     baseline, 2m42s in all",
		"     check 1 of 2  go test in api  2m42s  2 tests, 1 failed",
		"       ✗ TestTwo/[KEY]<U+202E>",
		"     check 2 of 2  go vet  42s")
	_ = lint.Close()
	_ = test.Close()
	l.wait(time.Second)
	l.shows(t, "     baseline, 2m43s in all", "     check 2 of 2  go vet: reading the report  1s")

	again := l.StartCheck(measure.Check{Name: "go test", Dir: "api"})
	_, _ = again.Write([]byte("--- PASS: TestOne (0.00s)\n"))
	l.shows(t, "     baseline, measured again to find flaky tests, 2m43s in all",
		"     check 1 of 2  go test in api  0s  1 of 2 tests  (last time 2m42s)")
	_ = again.Close()
	l.check("go vet", "", 2*time.Second)

	usd, tokens := 1.25, int64(41_200)
	l.event(event.BaselineMeasured, 0, event.Baseline{})
	l.event(event.IterationStarted, 1, event.IterationStart{Max: 3, Level: "MINIMAL", Budget: event.Budget{Deadline: l.at.Add(2 * time.Hour), MaxCost: 5, MaxTokens: 2_000_000}})
	l.event(event.AgentSpawned, 1, nil)
	l.shows(t, "     iteration 1 of 3, prompt level minimal, 2m45s in all", "     the agent works  0s",
		"     left: 2 iterations after this, 2h00m, $5 (no cost reported), 2000k tokens (none reported)")
	l.wait(65 * time.Second)
	l.HandleReport(agentrun.Progress{Text: "I run\nthe \x1b[2Jtests", Usage: metric.Usage{CostUSD: &usd, Input: &tokens}})
	l.shows(t, "     iteration 1 of 3, prompt level minimal, 3m50s in all",
		"     the agent works  1m05s  41k tokens, $1.25",
		"     │ I run the <U+001B>[2Jtests",
		"     left: 2 iterations after this, 1h59m, $3.75 of $5, 1958k of 2000k tokens")
	l.event(event.AgentFinished, 1, nil)
	l.shows(t, "     iteration 1 of 3, prompt level minimal, 3m50s in all", "     takes a snapshot  0s", "     left: 2 iterations after this, 1h59m, $3.75 of $5, 1958k of 2000k tokens")

	l.check("go test", "", time.Second)
	l.check("go vet", "", time.Second)
	other := l.StartCheck(measure.Check{Extra: true, Name: "go test (in another tree)"})
	l.shows(t, "     iteration 1 of 3, prompt level minimal, 3m52s in all",
		"     judges  go test (in another tree)  0s", "     left: 2 iterations after this, 1h59m, $3.75 of $5, 1958k of 2000k tokens")
	_ = other.Close()
	l.event(event.LoopStopping, 1, event.Stop{})
	l.event(event.OutputSelected, 1, event.SelectedOutput{})
	end := l.StartCheck(measure.Check{Name: "go test"})
	l.shows(t, "     the end, 3m52s in all", "     check 1 of 2  go test  0s  (last time 1s)")
	_ = end.Close()
	l.event(event.LoopFinished, 1, event.LoopEnd{})
	l.shows(t, "")
}

// What is left of a window of the service is known when the agent reports it.
func TestWindowLeft(t *testing.T) {
	l := newLoop(t.TempDir())
	l.event(event.IterationStarted, 1, event.IterationStart{Max: 3, Budget: event.Budget{MaxWindow: 80}})
	l.event(event.AgentSpawned, 1, nil)
	l.shows(t, "     iteration 1 of 3, 0s in all", "     the agent works  0s", "     left: 2 iterations after this, window 80% (none reported)")
	l.HandleReport(agentrun.Progress{Window: &metric.Window{Name: "five_hour", Used: 42.5}})
	l.shows(t, "     iteration 1 of 3, 0s in all", "     the agent works  0s", "     left: 2 iterations after this, window 37.5% of 80%")
}

// The last line of an unknown agent is its message, whatever it prints.
func TestTheLastLineOfAnAgent(t *testing.T) {
	b := NewBoard(time.Now, strings.TrimSpace)
	w := b.WatchAgent()
	for _, tt := range []struct{ printed, want string }{
		{"first\nsec", "first"},
		{"ond\r\n\r\n", "second"},
		{"\x1b[31m10 %\r20 %\r\x1b[0m", "20 %"},
		{"\u202egnirts\n", "<U+202E>gnirts"},
		{strings.Repeat("long ", 100_000) + "\n\xff\n", "\uFFFD"},
	} {
		_, _ = w.Write([]byte(tt.printed))
		if got := b.State().AgentMessage; got != tt.want {
			t.Errorf("after %.40q: %q, want %q", tt.printed, got, tt.want)
		}
	}
}

// What is kept in the folder says the same to another process, and how long everything
// took to the next loop.
func TestTheFileOfALoop(t *testing.T) {
	loops := t.TempDir()
	dir, next := filepath.Join(loops, "one"), filepath.Join(loops, "two")
	for _, d := range []string{dir, next} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l := newLoop(dir)
	l.check("go test", twoTests, 90*time.Second)
	running := l.StartCheck(measure.Check{Name: "go vet"})
	l.wait(3 * time.Second)
	stop := l.PersistFile()
	stop()

	other := NewBoard(func() time.Time { return l.at }, strings.TrimSpace)
	other.LoadFile(dir, true)
	if want, got := l.State().Lines(l.at, 100, document.NoPaint), other.State().Lines(l.at, 100, document.NoPaint); strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != 2 {
		t.Errorf("another process sees %q, want %q", got, want)
	}
	other.LoadFile(dir, false)
	if got := other.State().Lines(l.at, 100, document.NoPaint); len(got) > 0 {
		t.Errorf("nobody is at work, and %q is seen", got)
	}
	_ = running.Close()

	second := newLoop(next)
	test := second.StartCheck(measure.Check{Name: "go test"})
	_, _ = test.Write([]byte(twoTests[:26]))
	second.shows(t, "     baseline, 0s in all", "     check 1 of 2  go test  0s  1 of 2 tests  (last time 1m30s)")
}

// A file of another process cannot steer the terminal.
func TestAFileOfOthers(t *testing.T) {
	dir := t.TempDir()
	text := `{"doing":"x\u001b[2J\ny","loop_id":"z\u001b]0;evil\u0007","checks":[{"name":"\u202ea","tests":{"failed":1,"failing":"b\u009b"}}]}`
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := NewBoard(time.Now, strings.TrimSpace)
	b.LoadFile(dir, true)
	s := b.State()
	shown := strings.Join(s.Lines(time.Now(), 100, document.NoPaint), "|") + detectMarks(func(string) string { return "xterm" }).titleSequence(s)
	if strings.ContainsAny(strings.TrimSuffix(strings.TrimPrefix(shown[strings.LastIndex(shown, "|"):], "|"), "\x07"), "\x07\u009b\u202e") || strings.Contains(shown, "\x1b[") {
		t.Errorf("%q", shown)
	}
}

// Lines fit, whatever they hold: wide characters take two columns.
func TestLinesFit(t *testing.T) {
	s := State{LoopID: "x", Activity: doesAgent, AgentMessage: strings.Repeat("世界 ", 50), Iteration: 1, MaxIterations: 2, LastDurations: map[string]time.Duration{}}
	for width := minCols; width < 120; width++ {
		for _, l := range s.styledLines(time.Now()) {
			text, taken := l.fitWidth(width, document.NoPaint)
			if taken > width || taken < width-1 && strings.Contains(text, "…") {
				t.Errorf("%q takes %d of %d columns", text, taken, width)
			}
		}
	}
}

func TestMarksOfTerminals(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want terminalMarks
	}{
		{map[string]string{"TERM": "xterm-256color"}, terminalMarks{hasTitles: true}},
		{map[string]string{"TERM": "linux"}, terminalMarks{}},
		{map[string]string{"TERM": "xterm-256color", "WT_SESSION": "1"}, terminalMarks{true, true, true}},
		{map[string]string{"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty"}, terminalMarks{true, true, true}},
		{map[string]string{"TERM": "tmux-256color", "TMUX": "/tmp/x", "WT_SESSION": "1"}, terminalMarks{hasTitles: true, reflowsLines: true}},
	} {
		if got := detectMarks(func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%v: %+v, want %+v", tt.env, got, tt.want)
		}
	}
	m := terminalMarks{hasProgressBar: true}
	s := State{Activity: doesMeasure, PlannedChecks: 4, Checks: []Check{{Name: "a", Ended: time.Now()}, {Name: "b", Tally: Tally{Passed: 50}}}, LastTestCounts: map[string]int{"b": 100}}
	for want, s := range map[string]State{"\x1b]9;4;1;37\x07": s, "\x1b]9;4;3;0\x07": {Activity: doesAgent}, "\x1b]9;4;0;0\x07": {}} {
		if got := m.progressSequence(s, time.Now()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
