package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"supervise/test/tools"
)

// browser is a headless Chromium, driven by the W3C WebDriver protocol.
type browser struct {
	t   *testing.T
	url string // of the session
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	driver, err := exec.LookPath("chromedriver")
	if err != nil {
		t.Skip("chromedriver is not here (Debian: chromium-driver)")
	}
	cmd := exec.Command(driver, "--port=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	b := &browser{t: t}
	started := regexp.MustCompile(`successfully on port (\d+)`)
	lines := bufio.NewScanner(out)
	for b.url == "" && lines.Scan() {
		if m := started.FindStringSubmatch(lines.Text()); m != nil {
			b.url = "http://127.0.0.1:" + m[1]
		}
	}
	go io.Copy(io.Discard, out) // so that the driver is never kept waiting
	var session struct {
		ID string `json:"sessionId"`
	}
	options := map[string]any{"args": []string{"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,2000"}}
	b.do("POST", "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": map[string]string{"browser": "ALL"}}}}, &session)
	b.url += "/session/" + session.ID
	t.Cleanup(func() { b.do("DELETE", "", nil, nil) })
	return b
}

// do sends a command and reads its value.
func (b *browser) do(method, path string, body, value any) {
	b.t.Helper()
	var in bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&in).Encode(body); err != nil {
			b.t.Fatal(err)
		}
	}
	req, err := http.NewRequest(method, b.url+path, &in)
	if err != nil {
		b.t.Fatal(err)
	}
	res, err := (&http.Client{Timeout: 2 * time.Minute}).Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		b.t.Fatalf("%s %s: status %d, %v\n%s", method, path, res.StatusCode, err, text)
	}
	if value == nil {
		return
	}
	if err := json.Unmarshal(text, &struct{ Value any }{value}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) open(url string) { b.do("POST", "/url", map[string]string{"url": url}, nil) }

// elements returns those that a selector of CSS matches.
func (b *browser) elements(selector string) []string {
	b.t.Helper()
	var found []map[string]string
	b.do("POST", "/elements", map[string]string{"using": "css selector", "value": selector}, &found)
	var ids []string
	for _, e := range found {
		for _, id := range e {
			ids = append(ids, id)
		}
	}
	return ids
}

// click clicks on the only element that matches, as a user would.
func (b *browser) click(selector string) {
	b.t.Helper()
	ids := b.elements(selector)
	if len(ids) != 1 {
		b.t.Fatalf("%d elements match %s, want 1", len(ids), selector)
	}
	b.do("POST", "/element/"+ids[0]+"/click", map[string]any{}, nil)
}

// text is what a user reads in the only element that matches.
func (b *browser) text(selector string) string {
	b.t.Helper()
	ids := b.elements(selector)
	if len(ids) != 1 {
		b.t.Fatalf("%d elements match %s, want 1", len(ids), selector)
	}
	var out string
	b.do("GET", "/element/"+ids[0]+"/text", nil, &out)
	return out
}

// The page about a loop in a real browser: its chart, and clicks through iterations.
func TestE2EPageInBrowser(t *testing.T) {
	tools.Long(t)
	b := newBrowser(t)
	w := newWorld(t)
	t.Setenv("TMPDIR", w.dir)
	out, code := w.supervise("demo")
	if code != 0 {
		t.Fatalf("demo: status %d\n%s", code, out)
	}
	m := regexp.MustCompile(`cd there && supervise --state-dir (\S+)`).FindStringSubmatch(out)
	at := regexp.MustCompile(`The project is in +(\S+)`).FindStringSubmatch(out)
	if m == nil || at == nil {
		t.Fatalf("the demo does not say where it is:\n%s", out)
	}
	page := filepath.Join(t.TempDir(), "loop.html")
	if out, code := w.supervise("-C", at[1], "--state-dir", m[1], "report", "--html", page); code != 0 {
		t.Fatalf("report: status %d\n%s", code, out)
	}
	b.open("file://" + page)
	if got := len(b.elements("#trajectory circle.dot")); got != 7 {
		t.Errorf("the trajectory has %d points, want 7", got)
	}
	if got := len(b.elements("#trajectory circle.dot.rejected")); got != 2 {
		t.Errorf("%d points are marked as rejected, want 2", got)
	}
	if got := len(b.elements("#trajectory path.bell")); got != 4 {
		t.Errorf("%d iterations are marked for alerts, want 4", got)
	}
	if got := len(b.elements("#metrics figure")); got < 8 {
		t.Errorf("%d metrics are drawn, want 8 or more", got)
	}
	if got := len(b.elements("#matrix .cell.f")); got != 4 {
		t.Errorf("%d failures in the matrix of tests, want 4", got)
	}
	if got := b.text("#iteration-title"); got != "Iteration 5, selected" {
		t.Errorf("shown at first: %q", got)
	}
	for _, c := range []struct{ click, tab, in, want string }{
		{`#trajectory circle[data-n="3"]`, "report", "#iteration-title", "Iteration 3, rejected"},
		{`#picker button[data-i="3"]`, "diff", "#diff .diff", "-func TestParse"},
		{`#picker button[data-i="4"]`, "transcript", "#transcript .screen", "Deleting was refused"},
		{`#trajectory circle[data-n="1"]`, "report", "#report", "Tests Passed 4 3 +1 3 +1"},
		{`#picker button[data-i="4"]`, "report", "#report", "tests_newly_skipped"},
	} {
		b.click(c.click)
		b.click(`#tabs button[data-tab="` + c.tab + `"]`)
		if got := b.text(c.in); !strings.Contains(got, c.want) {
			t.Errorf("after a click on %s, %s says %q, want %q", c.click, c.in, got, c.want)
		}
	}
	var log []struct{ Level, Message string }
	b.do("POST", "/se/log", map[string]string{"type": "browser"}, &log)
	if len(log) > 0 {
		t.Errorf("the page complains: %v", fmt.Sprint(log))
	}
}
