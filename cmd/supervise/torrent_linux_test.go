package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"supervise/test/tools"

	"golang.org/x/sys/unix"
)

// TestE2ETorrent runs an agent that prints SUPERVISE_TORRENT_MB megabytes ("make
// torrent"; without it fewer, of which fewer are kept) with all that sees them:
// supervise stays small, the transcript within its limit and readable, and the
// exit status is the agent's.
func TestE2ETorrent(t *testing.T) {
	tools.Long(t, "SUPERVISE_TORRENT_MB")
	size, kept := 60, 16
	if text := os.Getenv("SUPERVISE_TORRENT_MB"); text != "" {
		var err error
		if size, err = strconv.Atoi(text); err != nil {
			t.Fatalf("SUPERVISE_TORRENT_MB: %v", err)
		}
		kept = 64
	}
	for _, c := range []torrentCase{
		{name: "lines", filter: `tr '\0' x | fold -w 55`, marker: "x\r\n"},
		{name: "no lines", filter: `tr '\0' x`, marker: "xxx"},
	} {
		c.size, c.kept = size, kept
		t.Run(c.name, func(t *testing.T) { torrent(t, c) })
	}
}

// torrentCase is what the agent prints: size MB of zeros through a filter. Of the
// transcript kept MiB stay, the marker among them.
type torrentCase struct {
	name, filter, marker string
	size, kept           int
}

const torrentLimit = 64 << 10 // of the memory, in KiB: more than it needs, less than keeping all of it takes

func torrent(t *testing.T, c torrentCase) {
	w := newWorld(t)
	w.write("proj/.supervise.yaml", fmt.Sprintf("limits: {transcript_mb: %d}\n", c.kept))
	w.write("proj/report.xml", `<testsuite name="s"><testcase classname="c" name="n"/></testsuite>`)
	for _, name := range []string{"done", "go"} {
		if err := unix.Mkfifo(filepath.Join(w.dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf(`head -c %dM /dev/zero | %s; echo the end; echo >../done; read x <../go; exit 7`, c.size, c.filter)
	cmd := w.command("supervise", "run", "--max-iterations", "1", "--until", "never", "--allow-untested",
		"--test-cmd", "cat report.xml", "--agent-output", "none", "--", "sh", "-c", script)
	cmd.Env = append(cmd.Env, "SOME_TOKEN=tk-0123456789")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	started := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	meet(t, filepath.Join(w.dir, "done"), os.O_RDONLY, ended, &out)
	took := time.Since(started)
	peak := peakMemory(t, cmd.Process.Pid)
	meet(t, filepath.Join(w.dir, "go"), os.O_WRONLY, ended, &out)
	<-ended
	t.Logf("%d MB in %s, %.0f MB/s with the baseline; peak of the memory %d MiB", c.size, took.Round(time.Millisecond), float64(c.size)/took.Seconds(), peak>>10)
	if peak > torrentLimit {
		t.Errorf("supervise took %d KiB of memory, more than %d", peak, torrentLimit)
	}
	if text := out.String(); !strings.Contains(text, "status 7") {
		t.Errorf("the agent's exit status is not shown:\n%s", text)
	}
	wantTranscript(t, w, c)
}

// meet opens a FIFO, which waits for the other side, unless the program ends. A
// reader stays until the other side has written and closed it.
func meet(t *testing.T, path string, flag int, ended <-chan struct{}, out fmt.Stringer) {
	t.Helper()
	met := make(chan error, 1)
	go func() {
		f, err := os.OpenFile(path, flag, 0)
		if err == nil && flag == os.O_RDONLY {
			_, err = io.Copy(io.Discard, f)
		}
		if err == nil {
			err = f.Close()
		}
		met <- err
	}()
	select {
	case err := <-met:
		if err != nil {
			t.Fatal(err)
		}
	case <-ended:
		t.Fatalf("ended too early:\n%s", out)
	}
}

// peakMemory returns the most that a process has had in memory, in KiB.
func peakMemory(t *testing.T, pid int) (kib int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatalf("VmHWM in %s: %v", text, err)
	}
	return kib
}

func wantTranscript(t *testing.T, w *world, c torrentCase) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "state/supervise/*/loops/*/iterations/iteration-001/transcript*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("transcripts %v, %v; want one", files, err)
	}
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > int64(c.kept)<<20 || info.Size() < int64(c.kept)*7<<17 {
		t.Errorf("the transcript is %v, %v; want close to %d MiB", info.Size(), err, c.kept)
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<16)
	var last, gap string
	for n := 0; lines.Scan(); n++ {
		if n == 0 {
			continue
		}
		var e []any
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || len(e) != 3 {
			t.Fatalf("line %d: %v: %.80q", n+1, err, lines.Bytes())
		}
		if e[1] == "m" {
			gap = fmt.Sprint(e[2])
			continue
		}
		last = last[max(0, len(last)-100):] + fmt.Sprint(e[2])
	}
	if err := lines.Err(); err != nil || !strings.HasSuffix(last, "the end\r\n") || !strings.Contains(last, c.marker) || !strings.Contains(gap, "left out") {
		t.Errorf("%v; the transcript ends with %q, its gap is %q", err, last, gap)
	}
}
