//go:build linux || darwin

package runner

import "syscall"

// The descriptors that the shim is started with, after its own three.
const (
	fdLifeline = 3 + iota // read: one spec line, then orders; its end means that the supervisor is dead
	fdStatus              // written: one report a line
	fdStdin               // the child's three
	fdStdout
	fdStderr
	fdTermIn  // the user's terminal, or the null device: to be put back
	fdTermOut // when the supervisor dies
	fdEnd
)

// spec is what the shim has to start. Byte slices travel as base64, since
// arguments and variables need not be UTF-8.
type spec struct {
	Path        []byte
	Dir         []byte
	Args        [][]byte
	Env         [][]byte
	Terminal    bool // descriptor 1 is a terminal, which becomes the controlling one
	NoCgroup    bool
	LimitWrites bool           // Writable counts
	Writable    [][]byte       `json:",omitempty"`
	ReadOnly    [][]byte       `json:",omitempty"`
	Mounts      []encodedMount `json:",omitempty"` // of a sandbox
	Network     *Network       `json:",omitempty"`
	User        *User          `json:",omitempty"`
}

// encodedMount is a [Mount] whose paths need not be UTF-8.
type encodedMount struct {
	Path, From        []byte
	Write, Copy, Link bool
}

// order is one byte on the lifeline.
type order byte

const (
	orderInterrupt       order = 'i' // SIGINT to the child's process group
	orderTerminate       order = 't' // SIGTERM to the child's process group
	orderKill            order = 'k' // kill the whole tree
	orderContinue        order = 'c' // SIGCONT to the child's process group
	orderReleaseTerminal order = 'a' // the user's terminal is the user's: not to be put back
	orderHoldTerminal    order = 'h' // it is ours again
	orderFreeze          order = 'f' // SIGSTOP to the whole tree
	orderThaw            order = 'w' // SIGCONT to what was stopped by that
	orderGoodbye         order = 'g' // everything is settled: the end of the lifeline means nothing now
)

// step is how far the shim has come.
type step string

const (
	stepReady     step = "ready"   // the terminal's state is saved; waits for the spec
	stepContained step = "held"    // there is a cgroup for the child: Cgroup
	stepStarted   step = "started" // Leader runs, in Cgroup unless that is empty
	stepPaused    step = "paused"  // it was stopped, by Signal
	stepFrozen    step = "frozen"  // the tree stands still, as it was ordered to
	stepFailed    step = "failed"  // it could not be started: Errno
	stepEnded     step = "ended"   // the child itself ended: Exit, Signal
	stepRefused   step = "refused" // the child asked for a host that it may not reach: Host
	stepSwept     step = "swept"   // so did its tree, when Gone: Leftovers, Survivors
)

// report is one line on the status pipe.
type report struct {
	Step      step
	Leader    Process       `json:",omitzero"`
	Cgroup    string        `json:",omitempty"`
	Errno     syscall.Errno `json:",omitempty"`
	Why       string        `json:",omitempty"` // of a fence that could not be put up
	Host      string        `json:",omitempty"`
	Exit      int           `json:",omitempty"`
	Signal    string        `json:",omitempty"`
	Gone      bool          `json:",omitempty"`
	Leftovers []string      `json:",omitempty"`
	Survivors []string      `json:",omitempty"`
}
