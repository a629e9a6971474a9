package runner

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

// KillSurvivors ends what is left of a child whose supervisor is dead, given the
// two processes that [Command].OnStart told of. It is safe long after: a process
// counts as the shim or the leader only when its pid and start are the same.
// A shim that still lives is given two seconds to do its work itself. It must not
// be called while the child's Run is still going on.
//
// Names are those of the processes that were there, sorted, at most 64. The
// error wraps [ErrSurvivors] when something is left after five seconds, or when
// ctx ends, and [ErrDoubtful] when something is there that may have belonged to
// it: then everything that certainly did is gone. Any other means that the system
// does not list its processes.
//
// On Linux everything is found that the shim holds, that is in its cgroup, that
// belongs to the leader, or that has the shim's mark in its environment. A
// process without all of these, which takes that the shim is dead, that there
// were no cgroups, and that the environment was cleared, is out of reach. On macOS
// it is what the parent links and the leader's process group show.
func KillSurvivors(ctx context.Context, shim, leader Process) (names []string, err error) {
	return killSurvivors(ctx, shim, leader)
}

// lastValue returns the value of the last setting of a variable, which is the
// one that a child of ours sees.
func lastValue(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// shimName is the argument 0 by which a process knows that it is the shim. The
// arguments after it stay empty, so that nothing has to be parsed around it.
const shimName = "supervise-shim"
