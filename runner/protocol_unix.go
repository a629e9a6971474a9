//go:build linux || darwin

package runner

import "syscall"

// The descriptors that the shim is started with, after its own three.
const (
	fdLifeline = 3 + iota // read: one spec line, then orders; EOF means that the supervisor is dead
	fdStatus              // written: one report in each line
	fdStdin               // the child's three descriptors
	fdStdout
	fdStderr
	fdTermIn  // the user's terminal, or the null device: the shim restores it
	fdTermOut // if the supervisor dies
	fdEnd
)

// spec is the command that the shim starts, as one line of JSON. Byte slices are encoded as
// base64, because arguments and variables need not be UTF-8.
type spec struct {
	Path        []byte
	Dir         []byte
	Args        [][]byte
	Env         [][]byte
	Terminal    bool // descriptor 1 is a terminal, which becomes the controlling one
	NoCgroup    bool
	LimitWrites bool           // only the paths in Writable can be written
	Writable    [][]byte       `json:",omitempty"`
	ReadOnly    [][]byte       `json:",omitempty"`
	Mounts      []encodedMount `json:",omitempty"` // the mounts of a sandbox
	Network     *Network       `json:",omitempty"`
	User        *User          `json:",omitempty"`
}

// encodedMount is a [Mount] whose paths need not be UTF-8.
type encodedMount struct {
	Path, From        []byte
	Write, Copy, Link bool
}

// order is one byte that the supervisor writes to the lifeline.
type order byte

const (
	orderInterrupt       order = 'i' // SIGINT to the child's process group
	orderTerminate       order = 't' // SIGTERM to the child's process group
	orderKill            order = 'k' // kill the entire tree
	orderContinue        order = 'c' // SIGCONT to the child's process group
	orderReleaseTerminal order = 'a' // the user has the terminal: do not restore it
	orderHoldTerminal    order = 'h' // this process has the terminal again
	orderFreeze          order = 'f' // SIGSTOP to the entire tree
	orderThaw            order = 'w' // SIGCONT to the stopped processes
	orderGoodbye         order = 'g' // the run is over: EOF on the lifeline no longer means death
)

// step is the progress of the shim. The comment of each step names the fields of the report.
type step string

const (
	stepReady     step = "ready"   // the terminal's state is saved; waits for the spec
	stepContained step = "held"    // the child gets a cgroup: Cgroup
	stepStarted   step = "started" // Leader runs, in Cgroup unless that is empty
	stepPaused    step = "paused"  // the child was stopped, by Signal
	stepFrozen    step = "frozen"  // the tree is stopped, as ordered
	stepFailed    step = "failed"  // the child could not be started: Errno
	stepEnded     step = "ended"   // the child itself ended: Exit, Signal
	stepRefused   step = "refused" // the sandbox refused a host: Host
	stepSwept     step = "swept"   // the tree was killed: Gone, Leftovers, Survivors
)

// report is one line of JSON that the shim writes to the status pipe.
type report struct {
	Step      step
	Leader    Process       `json:",omitzero"`
	Cgroup    string        `json:",omitempty"`
	Errno     syscall.Errno `json:",omitempty"`
	Why       string        `json:",omitempty"` // why a restriction could not be applied
	Host      string        `json:",omitempty"`
	Exit      int           `json:",omitempty"`
	Signal    string        `json:",omitempty"`
	Gone      bool          `json:",omitempty"`
	Leftovers []string      `json:",omitempty"`
	Survivors []string      `json:",omitempty"`
}
