package proc

import (
	"fmt"
	"slices"
)

// Containment is what holds a child's tree together, from the strongest down.
type Containment uint8

// The ways to hold a tree.
const (
	// ByNothing: the child never ran.
	ByNothing Containment = iota
	// ByCgroup: the tree has a cgroup of its own, which the kernel kills as a
	// whole, also when the shim is dead. The shim adopts orphans, too.
	ByCgroup
	// BySubreaper: the shim adopts every orphan of the tree. When somebody kills the
	// shim, what had left the child's session with a cleared environment is lost.
	BySubreaper
	// ByGroup: parent links, the process group, and what was seen earlier.
	ByGroup
)

var containmentNames = [...]string{
	ByNothing: "nothing", ByCgroup: "cgroup", BySubreaper: "subreaper", ByGroup: "process_group",
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

// UnmarshalText reads the name of a way.
func (c *Containment) UnmarshalText(text []byte) error {
	i := slices.Index(containmentNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("read containment: %q is none", text)
	}
	*c = Containment(i)
	return nil
}
