package proc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Process identifies one process permanently. The system may reuse a pid alone.
type Process struct {
	PID int `json:"pid"`
	// Start says when it started, and on Linux in which boot and pid namespace. Only compare
	// it for equality. "" is no process.
	Start string `json:"start"`
}

// Alive reports whether the process still runs or is stopped. A zombie does not run.
func (p Process) Alive() bool { return p.Start != "" && alive(p) }

// The errors about processes that still run.
var (
	// ErrSurvivors: they belong to the child's tree.
	ErrSurvivors = errors.New("processes are left")
	// ErrDoubtful: they may belong to the child's tree, or to a later one with the same
	// number. They have not been killed.
	ErrDoubtful = errors.New("processes may be left")
)

// LastValue returns the last value of a variable, which is the one that a child gets.
func LastValue(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// ShimName is argument 0 of the shim. There are no further arguments.
const ShimName = "supervise-shim"

// Containment is how a child's tree is held together.
type Containment uint8

// The ways to hold a tree together, after NoContainment from the strongest down.
const (
	// NoContainment: the child never ran.
	NoContainment Containment = iota
	// CgroupContainment: the tree has a separate cgroup, which the kernel can kill at once,
	// even if the shim is dead. The shim also adopts orphans.
	CgroupContainment
	// SubreaperContainment: the shim adopts all orphans of the tree. If the shim is killed,
	// processes that left the child's session and cleared their environment are lost.
	SubreaperContainment
	// GroupContainment: parent links, the process group, and earlier process lists.
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
