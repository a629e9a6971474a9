package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// shell runs a script of the table.
func (c *checkout) shell(ctx context.Context, what, script string) (time.Duration, []byte, error) {
	return c.start(ctx, what, "sh", "-c", script)
}

// start runs a program in the checkout, under the limits of time and memory. What it
// printed, on both streams, is kept in a file too; of supervise only standard output
// is given back.
func (c *checkout) start(ctx context.Context, what string, argv ...string) (time.Duration, []byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.flags.limit, fmt.Errorf("%s took longer than %s", what, c.flags.limit))
	defer cancel()
	argv = c.group.wrap(argv)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.WaitDelay = c.dir, 10*time.Second
	base := filepath.Dir(c.dir)
	cmd.Env = append(os.Environ(), "CI=true", "NO_COLOR=1", "TERM=dumb", "OUT="+c.out, "TMPDIR="+filepath.Join(base, "tmp"))
	for k, v := range c.Env {
		cmd.Env = append(cmd.Env, k+"="+os.Expand(v, os.Getenv))
	}
	var both, stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	alone := strings.HasSuffix(argv[len(argv)-1], "--json") || what == "loop"
	if alone {
		cmd.Stdout = &stdout
	}
	killGroup(cmd)
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if alone {
		both.Write(stdout.Bytes())
	}
	c.steps++
	_ = os.WriteFile(filepath.Join(c.out, fmt.Sprintf("%02d-%s.txt", c.steps, what)), both.Bytes(), 0o644)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if alone {
		return took, stdout.Bytes(), err
	}
	return took, both.Bytes(), err
}
