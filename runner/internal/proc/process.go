package proc

import (
	"context"
	"errors"
	"strings"
)

// Process names one process for good. A pid alone does so only as long as the
// process lives: then the system may give it to another one.
type Process struct {
	PID int `json:"pid"`
	// Start says when it started, and on Linux in which boot and pid namespace. It
	// is to be compared as a whole; empty names no process.
	Start string `json:"start"`
}

// Self returns the name of the calling process. An error means that this system
// does not tell, or has no /proc mounted.
func Self() (Process, error) { return self() }

// Alive reports whether the process still runs, be it stopped. One that ended
// and has not been collected by its parent does not run.
func (p Process) Alive() bool { return p.Start != "" && alive(p) }

// The errors that name processes which run on.
var (
	// ErrSurvivors: they are of the child's tree.
	ErrSurvivors = errors.New("processes are left")
	// ErrDoubtful: they may be of the child's tree, or of a later one with the same
	// number. They have been left alone.
	ErrDoubtful = errors.New("processes may be left")
)

// KillSurvivors ends what is left of a child whose supervisor is dead.
func KillSurvivors(ctx context.Context, shim, leader Process) (names []string, err error) {
	return killSurvivors(ctx, shim, leader)
}

// LastValue returns the value of the last setting of a variable, which is the
// one that a child of ours sees.
func LastValue(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// ShimName is the argument 0 by which a process knows that it is the shim. The
// arguments after it stay empty, so that nothing has to be parsed around it.
const ShimName = "supervise-shim"
