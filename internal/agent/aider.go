package agent

import (
	"strings"
	"time"

	"supervise/internal/regexp"
)

// aider reads what aider prints, which is text. It gives up on its service with
// exit code 0; its numbers of tokens are rounded and therefore not taken.
type aider struct {
	tries int // since it was last answered
}

var aiderError = regexp.MustCompile(`^litellm\.\w+: `)

// event ignores objects: they are a part of what the agent says.
func (*aider) event([]byte, *Report) {}

func (a *aider) text(line string, r *Report) {
	r.Lines++
	line = line[strings.LastIndexByte(line, '\b')+1:] // what is before it was taken back
	version, isVersion := strings.CutPrefix(line, "Aider v")
	delay, isRetry := strings.CutPrefix(line, "Retrying in ")
	switch {
	case isVersion && r.Version == "":
		r.Version = version
	case aiderError.MatchString(line):
		a.tries++
		if why := Classify(line); why != Crashed {
			r.retry(why, a.tries, 0, line)
		} else {
			r.end(Crashed, line)
		}
	case isRetry && r.Retry != nil:
		if d, err := time.ParseDuration(strings.TrimSuffix(delay, " seconds...") + "s"); err == nil {
			r.Retry.Delay = d
		}
	case strings.HasPrefix(line, "Tokens: "): // after each answer
		a.tries = 0
		r.end(OK, "")
	}
}
