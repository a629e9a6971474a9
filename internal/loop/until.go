package loop

import (
	"fmt"
	"strings"

	"supervise/internal/ledger"
)

// Until is when the task counts as done. The agent's own claim never does.
type Until struct {
	Kind    UntilKind
	Command string  // for Command: run by the shell, exit status 0 is done
	Promise string  `json:",omitempty"` // a text that the agent has to say as well; "": none
	Quality float64 `json:",omitempty"` // score in [0,100] that is to be reached as well; 0: none
}

// ParseUntil reads the value of --until: green, idle, never, or a command.
func ParseUntil(s string) Until {
	switch k := UntilKind(strings.TrimSpace(s)); k {
	case Auto, Green, Idle, Never:
		return Until{Kind: k}
	case Command:
	}
	return Until{Kind: Command, Command: s}
}

// String returns the criterion for people.
func (u Until) String() string {
	text := u.base()
	if u.Quality > 0 {
		text += fmt.Sprintf(", and quality is at least %g%%", u.Quality)
	}
	if u.Promise != "" {
		text += fmt.Sprintf(", and the agent says %q", u.Promise)
	}
	return text
}

func (u Until) base() string {
	switch u.Kind {
	case Green:
		return "no test fails, the build stands and there are no more errors than at the baseline"
	case Idle:
		return "an iteration changes nothing while the checks are green"
	case Never:
		return "none: all iterations are run"
	case Command:
		return "this command succeeds: " + u.Command
	case Auto:
	}
	return "decided by the baseline"
}

// also reports whether an iteration holds what is asked for beside the checks.
func (u Until) also(it ledger.Iteration) bool {
	if u.Quality > 0 && !(it.Score.Measured && 100*it.Score.Value >= u.Quality-1e-9) {
		return false
	}
	return u.Promise == "" || it.Agent != nil && it.Agent.Claimed
}

// resolved is the criterion once the baseline is known: with something that is
// asked for beside the checks it is never that nothing happens.
func (u Until) resolved(green bool) Until {
	if u.Kind != Auto {
		return u
	}
	u.Kind = Green
	if green && u.Promise == "" && u.Quality == 0 {
		u.Kind = Idle
	}
	return u
}

// promised is what the agent is told of the promise, "" without one.
func (u Until) promised() string {
	if u.Promise == "" {
		return ""
	}
	return "\nWhen the whole task is done and every check is green, and not before, end your last message with this text on a line of its own: " + u.Promise + "\n"
}
