package agent

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// claude tells how much of a window is used where its service warns, and else nothing of it.
func TestClaudeTellsAWindow(t *testing.T) {
	text, err := os.ReadFile("testdata/samples/claude-window.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	reset := time.Unix(1795665787, 0)
	var reported []Window
	r := preset(t, "claude").NewReader(func(r Report) {
		if w := r.Window(reset.Add(-time.Minute)); w != nil {
			reported = append(reported, *w)
		}
	})
	for line := range bytes.Lines(text) {
		_, _ = r.Write(line)
	}
	want := Window{Name: "five_hour", Used: 85, Reset: reset}
	if len(reported) == 0 || len(reported) == bytes.Count(text, []byte("\n")) || slices.ContainsFunc(reported, func(w Window) bool { return w != want }) {
		t.Errorf("reported %v, want %v after its warning alone", reported, want)
	}
	if w := r.Report().Window(reset); w != nil {
		t.Errorf("given anew, %v counts", w)
	}
}

// codex notes both of its windows in the log of the session, which is read while it grows.
func TestCodexLogsItsWindows(t *testing.T) {
	text, err := os.ReadFile("testdata/logs/codex-window.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	home, now := t.TempDir(), time.Unix(1795665000, 0)
	const session = "01a215ce-f54e-7ba0-ab9f-3a91adb7843f"
	log := filepath.Join(home, ".codex/sessions/2026/11/26/rollout-2026-11-26T03-03-34-"+session+".jsonl")
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		t.Fatal(err)
	}
	p := preset(t, "codex")
	for name, env := range map[string][]string{"home": {"HOME=" + home}, "variable": {"HOME=/nowhere", "CODEX_HOME=" + filepath.Join(home, ".codex")}} {
		t.Run(name, func(t *testing.T) {
			l, before := p.NewLogReader(env), Report{Session: session}
			os.Remove(log)
			if w := l.Add(before).Window(now); w != nil {
				t.Errorf("without a log it tells %v", w)
			}
			first := bytes.Index(text, []byte(`"used_percent":42.5`)) + 10 // the line is not written to its end
			for _, step := range []struct {
				text []byte
				want *Window
			}{
				{text[:first], nil},
				{text[:bytes.LastIndex(text, []byte(`{"timestamp"`))], &Window{Name: "5_hour", Used: 91, Reset: time.Unix(1795665813, 0)}},
				{text, &Window{Name: "5_hour", Used: 91, Reset: time.Unix(1795665813, 0)}},
			} {
				if err := os.WriteFile(log, step.text, 0o600); err != nil {
					t.Fatal(err)
				}
				r := l.Add(before)
				if got := r.Window(now); (got == nil) != (step.want == nil) || got != nil && *got != *step.want {
					t.Errorf("after %d bytes it tells %v, want %v", len(step.text), got, step.want)
				}
				if step.want != nil && r.Window(time.Unix(1795665813, 0)).String() != "10% of the 7 day window" {
					t.Errorf("with the first given anew it tells %v", r.Windows)
				}
			}
			for _, other := range []string{"", "*", "../" + session, "01a215ce"} {
				if r := p.NewLogReader(env).Add(Report{Session: other}); len(r.Windows) > 0 {
					t.Errorf("the session %q tells %v", other, r.Windows)
				}
			}
		})
	}
}

// What no share and no time can be is not taken.
func TestImpossibleWindows(t *testing.T) {
	k := Load(files(t, map[string]string{"mine.yaml": complete + "events:\n  - {when: {t: w}, window: {used: used, resets: at, name: name}}\n"}))
	p, err := k.ByName("mine")
	if err != nil || !p.ReportsWindows() {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"t":"w","used":"NaN","at":1}`:  "",
		`{"t":"w","used":"Inf"}`:         "",
		`{"t":"w","used":-1}`:            "",
		`{"t":"w"}`:                      "",
		`{"t":"w","used":50,"at":1e300}`: "50% of the window",
		`{"t":"w","used":50,"at":"2099-01-01T00:00:00Z","name":"a_\u001b[1mb"}`: "50% of the a b window",
		`{"t":"w","used":101.5,"name":"` + strings.Repeat("x", 1000) + `"}`:     "101.5% of the " + strings.Repeat("x", maxName) + " window",
	} {
		r := p.NewReader(nil)
		_, _ = r.Write([]byte(text + "\n"))
		w := r.Report().Window(time.Unix(1795665000, 0))
		switch {
		case w == nil && want != "", w != nil && w.String() != want:
			t.Errorf("%.80s tells %v, want %q", text, w, want)
		case w != nil:
			if _, err := json.Marshal(w); err != nil {
				t.Errorf("%.80s: %v", text, err)
			}
		}
	}
}

// Only the end of a long log is read, and what is no log tells nothing.
func TestLogsOfAnySize(t *testing.T) {
	home := t.TempDir()
	log := filepath.Join(home, ".codex/sessions/a/b/c/rollout-x-s.jsonl")
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		t.Fatal(err)
	}
	line := func(used string) string {
		return `{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":` + used + `,"window_minutes":90,"resets_at":1795665813}}}}` + "\n"
	}
	filler := bytes.Repeat([]byte("{\"type\":\"other\"}\n"), 2*maxNewBytes/17)
	read := func() *Window {
		return preset(t, "codex").NewLogReader([]string{"HOME=" + home}).Add(Report{Session: "s"}).Window(time.Unix(0, 0))
	}
	if err := os.WriteFile(log, slices.Concat([]byte(line("99")), filler, []byte(line("7"))), 0o600); err != nil {
		t.Fatal(err)
	}
	if w := read(); w == nil || w.String() != "7% of the 90 minute window" {
		t.Errorf("it tells %v", w)
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(log, 0o700); err != nil {
		t.Fatal(err)
	}
	if w := read(); w != nil {
		t.Errorf("a folder tells %v", w)
	}
}
