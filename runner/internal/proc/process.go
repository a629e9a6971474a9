package proc

import (
	"errors"
	"fmt"
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

// Containment is what holds a child's tree together, from the strongest down.
type Containment uint8

// The ways to hold a tree.
const (
	// ByNothing: the child never ran.
	NoContainment Containment = iota
	// ByCgroup: the tree has a cgroup of its own, which the kernel kills as a
	// whole, also when the shim is dead. The shim adopts orphans, too.
	CgroupContainment
	// BySubreaper: the shim adopts every orphan of the tree. When somebody kills the
	// shim, what had left the child's session with a cleared environment is lost.
	SubreaperContainment
	// ByGroup: parent links, the process group, and what was seen earlier.
	GroupContainment
)

var containmentNames = [...]string{
	NoContainment: "nothing", CgroupContainment: "cgroup", SubreaperContainment: "subreaper", GroupContainment: "process_group",
}

// String returns the name of the way, like "cgroup".
func (c Containment) String() string {
	if int(c) >= len(containmentNames) {
		return fmt.Sprintf("containment(%d)", uint8(c))
	}
	return containmentNames[c]
}

// MarshalText returns the name of the way; it never fails.
func (c Containment) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
