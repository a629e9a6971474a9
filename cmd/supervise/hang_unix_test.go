//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// hang writes the process ids of itself and of a grandchild in another session
// to the named fifo or file, and never ends by itself.
func hang(report string) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	child := exec.Command("/bin/sh", "-c", "trap '' INT TERM HUP; while :; do read x; done")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := child.StdinPipe() // never closed: the shell waits for it
	if err != nil {
		panic(err)
	}
	_ = in
	if err := child.Start(); err != nil {
		panic(err)
	}
	ids := fmt.Sprintf("%d %d\n", os.Getpid(), child.Process.Pid)
	if err := os.WriteFile(strings.TrimSpace(report), []byte(ids), 0o644); err != nil {
		panic(err)
	}
	select {}
}
