package agent

import (
	"strconv"
	"strings"
	"time"

	"supervise/internal/regexp"
)

// Outcome is how a run of an agent ended.
type Outcome string

// The outcomes. Unknown is that of a command whose output is not read and which
// ended well: nothing speaks against it.
const (
	OK          Outcome = "ok"
	Auth        Outcome = "auth"         // the service does not know the user, or has no money of theirs
	RateLimit   Outcome = "rate_limit"   // too much was asked of the service for now
	ServerError Outcome = "server_error" // the service, or the way to it, fails
	TurnLimit   Outcome = "turn_limit"   // the agent's own limit of turns
	BudgetLimit Outcome = "budget_limit" // the agent's own limit of cost
	Denied      Outcome = "denied"       // a tool was not approved
	Crashed     Outcome = "crashed"
	NotFound    Outcome = "not_found" // there is no such command
	Stopped     Outcome = "stopped"   // by supervise or the user
	Timeout     Outcome = "timeout"   // a time limit of supervise
	NoFinal     Outcome = "no_final_event"
)

// Waits reports whether the outcome is not the agent's doing and may pass by
// itself.
func (o Outcome) Waits() bool { return o == RateLimit || o == ServerError }

// Hopeless reports whether every further run would end the same way until
// somebody helps.
func (o Outcome) Hopeless() bool { return o == Auth || o == NotFound }

// Ending is what the process itself did.
type Ending struct {
	ExitCode int
	Signal   string // that ended it, "" for none
	Stopped  bool   // supervise or the user ended it
	TimedOut bool   // a time limit of supervise ended it
}

// The exit codes that a shell gives for a command that it cannot run.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// exits are exit codes that programs have of their own.
var exits = map[Format]map[int]Outcome{
	Gemini: {41: Auth, 53: TurnLimit, 401 % 256: Auth, 403 % 256: Auth, 429 % 256: RateLimit, 500 % 256: ServerError, 502 % 256: ServerError, 503 % 256: ServerError, 504 % 256: ServerError},
	Qwen:   {53: TurnLimit},
}

// Outcome judges a run: our own signals are remembered, then counts what the
// final event says, then the exit code. With strict a final event is missed where
// it did not come: the program was started so that it prints one.
func (r Report) Outcome(format Format, e Ending, strict bool) Outcome {
	switch {
	case e.Stopped:
		return Stopped
	case e.TimedOut && r.Retry != nil:
		return r.Retry.Why // it was waiting for the service all the time
	case e.TimedOut:
		return Timeout
	case r.Final && r.Verdict == OK && r.Denials > 0:
		return Denied
	case r.Final:
		return r.Verdict
	}
	return r.code(format, e, strict)
}

// code judges a run without a final event by its exit code.
func (r Report) code(format Format, e Ending, strict bool) Outcome {
	if o, ok := exits[format][e.ExitCode]; ok {
		return o
	}
	switch {
	case e.ExitCode == exitNotFound || e.ExitCode == exitNotExecutable && r.Lines == 0:
		return NotFound
	case e.ExitCode != 0 || e.Signal != "":
		return r.crash(format)
	case r.Retry != nil: // it gave up, and says so in words alone
		return r.Retry.Why
	case strict:
		return NoFinal
	}
	return OK
}

// crash finds in the last words of a known program why it failed.
func (r Report) crash(format Format) Outcome {
	if format == "" {
		return Crashed
	}
	if r.Retry != nil {
		return r.Retry.Why
	}
	if why := Classify(r.Message); why != Crashed {
		return why
	}
	lines := strings.Split(r.Words, "\n")
	return Classify(strings.Join(lines[max(0, len(lines)-lastLines):], "\n"))
}

// lastLines is how many of the last lines may say why a program failed: those
// before may be what it printed of its work.
const lastLines = 3

// kinds distinguish errors by the messages of services. The first row that fits counts.
var kinds = []struct {
	why  Outcome
	says *regexp.Regexp
}{
	{Auth, regexp.MustCompile(`(?i)insufficient_quota|credit balance is too low|billing|payment required`)},
	{RateLimit, regexp.MustCompile(`(?i)\b429\b|rate.?limit|too many requests|resource_exhausted|usage limit|limit reached|quota`)},
	{Auth, regexp.MustCompile(`(?i)\b40[13]\b|unauthori[sz]ed|unauthenticated|invalid.{0,3}(x-)?api.?key|api.?key not|(missing|no|set).{0,20}api.?key|authentication|not logged in|please run /login|auth method|missing environment variable`)},
	{ServerError, regexp.MustCompile(`(?i)\b5\d\d\b|overloaded|server.?error|internal error|high demand|unavailable|bad gateway|terminated|disconnected|connection|socket|network|fetch failed|timed? ?out|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT`)},
}

// Classify returns what the text of an error means: Auth, RateLimit, ServerError,
// or Crashed for everything else.
func Classify(text string) Outcome {
	for _, k := range kinds {
		if k.says.MatchString(text) {
			return k.why
		}
	}
	return Crashed
}

// byStatus returns what an HTTP status means, and false for one that is no error
// of the service.
func byStatus(status int) (Outcome, bool) {
	switch {
	case status == 401 || status == 402 || status == 403:
		return Auth, true
	case status == 429:
		return RateLimit, true
	case status >= 500 && status < 600 || status == 408:
		return ServerError, true
	}
	return "", false
}

// because joins the two: the status where there is one, else the text.
func because(status int, text string) Outcome {
	if o, ok := byStatus(status); ok {
		if o == RateLimit && Classify(text) == Auth { // no money is a 429 as well
			return Auth
		}
		return o
	}
	return Classify(text)
}

// Reset is when a service says that it may be asked again.
type Reset struct {
	At    time.Time     // zero when a duration was given
	After time.Duration // from the moment it was given
}

// IsZero reports whether nothing was given.
func (r Reset) IsZero() bool { return r.At.IsZero() && r.After == 0 }

// Wait is how long there is to wait from now, 0 for not at all.
func (r Reset) Wait(now time.Time) time.Duration {
	if r.At.IsZero() {
		return r.After
	}
	return max(0, r.At.Sub(now))
}

var (
	// "Claude AI usage limit reached|1763804400"
	resetEpoch = regexp.MustCompile(`limit reached\|(\d{10})\b`)
	// "retry-after": "12", retryDelay":"34.5s", try again in 2 days 3 hours 1.5 seconds, reset after 3h12m
	resetAfter = regexp.MustCompile(`(?i)(?:retry.?after(?:.?ms)?|retry.?delay|try again in|resets? (?:after|in))["':=\s]*((?:[\d.]+\s*(?:milliseconds?|ms|days?|d|hours?|h|minutes?|mins?|m|seconds?|secs?|s)?[\s,]*(?:and\s+)?)+)`)
	amount     = regexp.MustCompile(`(?i)([\d.]+)\s*([a-z]*)`)
)

// units are the names of times, by how they begin.
var units = []struct {
	prefix string
	is     time.Duration
}{
	{"mil", time.Millisecond}, {"ms", time.Millisecond}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"", time.Second},
}

// ResetIn finds in the text of an error when the service may be asked again.
func ResetIn(text string) Reset {
	if m := resetEpoch.FindStringSubmatch(text); m != nil {
		if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			return Reset{At: time.Unix(n, 0)}
		}
	}
	m := resetAfter.FindStringSubmatch(text)
	if m == nil {
		return Reset{}
	}
	inMillis := strings.Contains(strings.ToLower(m[0][:len(m[0])-len(m[1])]), "ms")
	var sum time.Duration
	for _, part := range amount.FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			continue
		}
		unit := unitOf(part[2])
		if part[2] == "" && inMillis {
			unit = time.Millisecond
		}
		sum += time.Duration(n * float64(unit))
	}
	return Reset{After: sum}
}

func unitOf(word string) time.Duration {
	for _, u := range units {
		if strings.HasPrefix(strings.ToLower(word), u.prefix) {
			return u.is
		}
	}
	return time.Second
}
