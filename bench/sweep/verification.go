package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// verification is what it takes to measure the selected tree again at the end of a loop, in seconds.
type verification struct {
	Name, Language string
	Ours           float64 // from the selection to the result
	Checks         float64 // the checks that were run there, in the working tree
	Native         float64 // the native commands after such an edit: the median
	InCopy         bool    // it was measured in a clean copy
}

func (v verification) String() string {
	return fmt.Sprintf("| %s | %s | %.1f | %.1f | %.1f | %.2f | %.2f | %t |", v.Name, v.Language, v.Native, v.Checks, v.Ours,
		v.Ours/v.Native, v.Ours/v.Checks, v.InCopy)
}

// measureVerification runs a loop with one edit of product code, and the native commands after more
// such edits.
func measureVerification(ctx context.Context, f *flags, r *repo) (verification, error) {
	out := verification{Name: r.Name, Language: r.Language}
	c := &checkout{flags: f, repo: r, result: &result{Recognised: true}, dir: filepath.Join(f.work, "verification", filepath.Base(r.Name))}
	base := filepath.Dir(c.dir)
	c.out = filepath.Join(base, "out")
	if err := errors.Join(os.RemoveAll(base), os.MkdirAll(c.out, 0o755), os.MkdirAll(filepath.Join(base, "tmp"), 0o755)); err != nil {
		return out, err
	}
	c.group = newGroup()
	defer c.group.close()
	err := c.clone(ctx)
	if err == nil {
		err = os.WriteFile(filepath.Join(c.out, "append"), []byte(c.Append), 0o644)
	}
	if err == nil {
		err = c.verify(ctx, &out)
	}
	var times []float64
	for n := 0; n < 3 && err == nil; n++ {
		if _, _, err = c.shell(ctx, "edit", c.editing()); err == nil {
			var took time.Duration
			took, _, err = c.native(ctx, false)
			times = append(times, took.Seconds())
		}
	}
	if err == nil {
		slices.Sort(times)
		out.Native = times[len(times)/2]
	}
	if !f.keep {
		err = errors.Join(err, removeAll(base))
	}
	return out, err
}

// verify runs the loop, and sets how long the selected tree took, and how long its checks took before.
func (c *checkout) verify(ctx context.Context, out *verification) error {
	_, text, err := c.start(ctx, "loop", c.binary, "run", "--json", "--max-iterations=1", "--until=never", "--state-dir="+filepath.Join(filepath.Dir(c.dir), "state"), "--", "sh", "-c", c.editing())
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("supervise run: %w", err)
	}
	var selected time.Time
	for line := range bytes.Lines(text) {
		var e struct {
			Time      time.Time
			Type      string
			Iteration int
			Data      struct {
				Done      bool
				Duration  float64                         `json:"duration_ms"`
				CleanCopy *struct{ Differences []string } `json:"clean_copy"`
			}
		}
		if json.Unmarshal(line, &e) != nil {
			continue // not an event
		}
		switch e.Type {
		case "check_finished":
			if e.Iteration == 1 && selected.IsZero() && e.Data.Done {
				out.Checks += e.Data.Duration / 1000
			}
		case "output_selected":
			selected = e.Time
		case "output_verified":
			out.Ours, out.InCopy = e.Time.Sub(selected).Seconds(), e.Data.CleanCopy != nil && len(e.Data.CleanCopy.Differences) == 0
			return nil
		}
	}
	return errors.New("the selected tree was not measured again: " + tail(text))
}
