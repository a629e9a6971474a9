package agent

import (
	"slices"
	"strconv"
	"strings"

	"supervise/internal/regexp"
)

// Outcome is how a run of an agent ended.
type Outcome string

// The outcomes. Unknown is that of a command whose output is not read and which
// ended well: nothing speaks against it.
const (
	OK           Outcome = "ok"
	Auth         Outcome = "auth"         // the service does not know the user, or has no money of theirs
	BadRequest   Outcome = "bad_request"  // the service does not do what is asked: no such model, too long a prompt
	AsksPerson   Outcome = "asks_person"  // it waits for a person: for a login, or for consent
	RateLimit    Outcome = "rate_limit"   // too much was asked of the service for now
	ServerError  Outcome = "server_error" // the service, or the way to it, fails
	TurnLimit    Outcome = "turn_limit"   // the agent's own limit of turns
	BudgetLimit  Outcome = "budget_limit" // the agent's own limit of cost
	Denied       Outcome = "denied"       // a tool was not approved
	Crashed      Outcome = "crashed"
	NotFound     Outcome = "not_found" // there is no such command
	Stopped      Outcome = "stopped"   // by supervise or the user
	Timeout      Outcome = "timeout"   // a time limit of supervise
	NoFinalEvent Outcome = "no_final_event"
)

// IsTemporary reports whether the outcome is not the agent's doing and may pass by
// itself.
func (o Outcome) IsTemporary() bool { return o == RateLimit || o == ServerError }

// NeedsPerson reports whether every further run would end the same way until
// somebody helps.
func (o Outcome) NeedsPerson() bool {
	return o == Auth || o == NotFound || o == BadRequest || o == AsksPerson
}

// reportableOutcomes are the outcomes that a program itself can report.
var reportableOutcomes = []Outcome{OK, Auth, BadRequest, RateLimit, ServerError, TurnLimit, BudgetLimit, Denied, Crashed}

func (o Outcome) isReportable() bool { return slices.Contains(reportableOutcomes, o) }

func outcomeNames() string {
	names := make([]string, len(reportableOutcomes))
	for i, o := range reportableOutcomes {
		names[i] = string(o)
	}
	return strings.Join(names, ", ")
}

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

// Outcome judges a run: our own signals are remembered, then counts what the
// final event says, then the exit code. With strict a final event is missed where
// it did not come: the program was started so that it prints one.
func (r Report) Outcome(p Preset, e Ending, strict bool) Outcome {
	switch {
	case e.Stopped:
		return Stopped
	case e.TimedOut && r.NeedsLogin:
		return Auth
	case e.TimedOut && r.Retry != nil:
		return r.Retry.Why // it was waiting for the service all the time
	case e.TimedOut:
		return Timeout
	case r.Final && r.Verdict == OK && r.Denials > 0:
		return Denied
	case r.Final:
		return r.Verdict
	}
	return r.classifyExitCode(p, e, strict)
}

// classifyExitCode judges a run without a final event by its exit code.
func (r Report) classifyExitCode(p Preset, e Ending, strict bool) Outcome {
	if o, ok := p.ExitCodes[e.ExitCode]; ok {
		return o
	}
	switch {
	case e.ExitCode == exitNotFound || e.ExitCode == exitNotExecutable && r.Lines == 0:
		return NotFound
	case e.ExitCode != 0 || e.Signal != "":
		return r.classifyCrash(p.HasReader())
	case r.Retry != nil: // it gave up, and says so in words alone
		return r.Retry.Why
	case strict:
		return NoFinalEvent
	}
	return OK
}

// classifyCrash finds in the last words of a program why it failed. Those of one that is not known
// are its own business, unless they have a form that clients of services alone have.
func (r Report) classifyCrash(known bool) Outcome {
	lines := strings.Split(r.LastOutput, "\n")
	last := lines[max(0, len(lines)-maxCrashLines):]
	if !known {
		return classifyClientError(last)
	}
	if r.Retry != nil {
		return r.Retry.Why
	}
	if why := Classify(r.Message); why != Crashed {
		return why
	}
	return classifyLastOutput(strings.Join(last, "\n"))
}

// clientErrorRE matches the lines in which clients of services report that a request failed,
// whoever wrote them: at the start of a line, a status behind a word that names it, with the
// service's phrase or object behind it where the word is only an error. A number or a word
// anywhere else is none.
var clientErrorRE = regexp.MustCompile(`(?i)^(?:(?:fatal|error|failed)\W{1,4})?(?:` +
	`[\w.]*?(?:API ?|Status|RateLimit|Authentication|PermissionDenied|InternalServer)?Error:?\W{1,2}(40[123]|429|50[0234]|529)(?:$|[ :-]{1,3}(?:\{|rate limit\b|` + statusPhrases + `))` +
	`|(?:[\w.]+: )?(?:error code|status code|http(?:/[\d.]+)?(?: error| status)?|unexpected status)\W{1,2}(40[123]|429|50[0234]|529)(?:$|[^\w.:]|: \D)` +
	`|(40[123]|429|50[0234]|529) (?:\{"|` + statusPhrases + `))`)

const statusPhrases = `(?:unauthorized|forbidden|payment required|too many requests|internal server error|bad gateway|service unavailable|gateway timeout|overloaded)\b`

// errorObjectRE matches the objects of errors of the three great services, and what only they
// have in them, at the start of a line or behind such a report.
var errorObjectRE = regexp.MustCompile(`^[^{]{0,60}\{\s*["'](?:type["']:\s*["']error["'],\s*["'])?error["']:\s*\{.*["'](?:type|code|status)["']:\s*` +
	`["']?(?P<kind>authentication_error|permission_error|invalid_api_key|UNAUTHENTICATED|PERMISSION_DENIED|insufficient_quota|billing_error|rate_limit_error|rate_limit_exceeded|RESOURCE_EXHAUSTED|overloaded_error|api_error|server_error|UNAVAILABLE|INTERNAL|not_found_error|model_not_found|context_length_exceeded|401|403|429|500|503|529)["']?[,}\s]`)

// objectKinds are what the kinds of error objects mean, where their names do not say it as
// [Classify] reads them.
var objectKinds = map[string]Outcome{
	"authentication_error": Auth, "permission_error": Auth, "invalid_api_key": Auth, "PERMISSION_DENIED": Auth, "billing_error": Auth,
	"not_found_error": BadRequest, "model_not_found": BadRequest, "api_error": ServerError, "INTERNAL": ServerError,
}

// classifyClientError returns what the last lines of a program say that is not known.
func classifyClientError(last []string) Outcome {
	for _, line := range slices.Backward(last) {
		if m := errorObjectRE.FindStringSubmatch(line); m != nil {
			kind := m[1]
			if why, ok := objectKinds[kind]; ok {
				return why
			}
			return Classify(kind)
		}
		if m := clientErrorRE.FindStringSubmatch(line); m != nil {
			status, _ := strconv.Atoi(m[1] + m[2] + m[3]) // digits, by the pattern
			return classifyError(status, line)
		}
	}
	return Crashed
}

// serviceErrorRE matches, in the last words of a program, what services and their clients say and
// nothing else does: a number alone may be a line of a stack trace, and a word like
// network the name of a module. The kinds are those of [Classify].
var serviceErrorRE = regexp.MustCompile(`(?i)` +
	`(\bhttp\b|\bstatus\b|\berror\b|\bcode\b|\bapi\b)[^\n\w]{0,4}(status|code|error)?[^\n\w]{0,4}(40[1238]|429|5\d\d)\b` +
	`|\b(40[1238]|429|5\d\d)\b[^\n\w]{1,4}(unauthor|forbidden|payment|too many|status code|internal|bad gateway|service|gateway|overloaded|request time)` +
	`|insufficient_quota|credit balance is too low|payment required|rate.?limit(ed|s)?\b.{0,40}(exceeded|reached|hit|error)|rate.?limit.?(error|exceeded)|too many requests|resource_exhausted|(usage|session|weekly) limit|limit reached|(exceeded|out of).{0,20}\bquota\b|quota.{0,12}(exhausted|metric)` +
	`|token has expired|login has expired|` + badRequestRE.String() +
	`|unauthori[sz]ed|unauthenticated|invalid.{0,3}(x-)?api.?key|api.?key not|(missing|no|set).{0,20}api.?key|authentication (failed|error|required)|authentication_error|not logged in|please run /login|auth method|missing environment variable` +
	`|overloaded(_error)?\b|(internal )?server.?error|bad gateway|service unavailable|high demand|temporarily unavailable|TypeError: terminated|(connection|socket|network|stream)s? ?(error|reset|refused|closed|aborted|lost|failed|timed? ?out|hang up|disconnected|is unreachable)|(disconnected|closed) (from|before|by)|cannot connect|unable to connect|failed to connect|fetch failed|request timed out|ECONN(RESET|REFUSED|ABORTED)|\bENOTFOUND\b|EAI_AGAIN|ETIMEDOUT`)

// classifyLastOutput returns what the last lines of a program say, as [Classify] does of an error
// that is known to be the service's.
func classifyLastOutput(text string) Outcome {
	var said []string
	for line := range strings.Lines(text) {
		if m := serviceErrorRE.FindString(line); m != "" && !strings.Contains(strings.ToLower(line), "disk quota") {
			said = append(said, m)
		}
	}
	return Classify(strings.Join(said, "\n"))
}

// maxCrashLines is how many of the last lines may say why a program failed: those
// before may be what it printed of its work.
const maxCrashLines = 3

// errorKinds distinguish errors by the messages of services. The first row that fits counts.
var errorKinds = []struct {
	why  Outcome
	says *regexp.Regexp
}{
	{Auth, regexp.MustCompile(`(?i)insufficient_quota|credit balance is too low|billing|payment required|token (has )?expired|login (has )?expired`)},
	{BadRequest, badRequestRE},
	{RateLimit, regexp.MustCompile(`(?i)\b429\b|rate.?limit|too many requests|resource_exhausted|usage limit|limit reached|quota`)},
	{Auth, regexp.MustCompile(`(?i)\b40[13]\b|unauthori[sz]ed|unauthenticated|invalid.{0,3}(x-)?api.?key|api.?key not|(missing|no|set).{0,20}api.?key|authentication|not logged in|please run /login|auth method|missing environment variable`)},
	{ServerError, regexp.MustCompile(`(?i)\b5\d\d\b|overloaded|server.?error|internal error|high demand|unavailable|bad gateway|terminated|disconnected|connection|socket|network|fetch failed|timed? ?out|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT`)},
}

// badRequestRE matches what services say of requests that they never fulfil.
var badRequestRE = regexp.MustCompile(`(?i)model.{0,3}not.{0,3}found|\bmodel\b.{0,80}(was not found|does not exist|is not supported|not available to you)|not_found_error.{0,80}\bmodel|(unknown|invalid|unsupported) model\b|\bmodel\b.{0,40}may not exist or you|ran out of room in the model's context window|prompt is too long|context_length_exceeded|maximum context length|input is too long for`)

// Classify returns what the text of an error means: Auth, BadRequest, RateLimit,
// ServerError, or Crashed for everything else.
func Classify(text string) Outcome {
	for _, k := range errorKinds {
		if k.says.MatchString(text) {
			return k.why
		}
	}
	return Crashed
}

// classifyStatus returns what an HTTP status means, and false for one that is no error
// of the service.
func classifyStatus(status int) (Outcome, bool) {
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

// classifyError joins the two: the status where there is one, else the text.
func classifyError(status int, text string) Outcome {
	if o, ok := classifyStatus(status); ok {
		if o == RateLimit && Classify(text) == Auth { // no money is a 429 as well
			return Auth
		}
		return o
	}
	return Classify(text)
}
