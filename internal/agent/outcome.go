package agent

import (
	"slices"
	"strconv"
	"strings"

	"supervise/internal/regexp"
)

// Outcome is how a run of an agent ended. Its value is the text in the ledger and in reports.
type Outcome string

// The outcomes.
const (
	OK   Outcome = "ok"
	Auth Outcome = "auth" // the service rejects the user, or the user has no credit
	// the service rejects the request: an unknown model, or a too long prompt
	BadRequest   Outcome = "bad_request"
	AsksPerson   Outcome = "asks_person"    // the agent waits for a person: for a login, or for consent
	RateLimit    Outcome = "rate_limit"     // the service limits the rate of requests
	ServerError  Outcome = "server_error"   // the service or the network fails
	TurnLimit    Outcome = "turn_limit"     // the agent reached its own limit of turns
	BudgetLimit  Outcome = "budget_limit"   // the agent reached its own limit of cost
	Denied       Outcome = "denied"         // a tool was not approved
	Crashed      Outcome = "crashed"        // every other failure
	NotFound     Outcome = "not_found"      // the command does not exist
	Stopped      Outcome = "stopped"        // supervise or the user ended the run
	Timeout      Outcome = "timeout"        // a time limit of supervise ended the run
	NoFinalEvent Outcome = "no_final_event" // the program exited with 0 before its final event
)

// IsTemporary reports whether the service failed, and may work again later.
func (o Outcome) IsTemporary() bool { return o == RateLimit || o == ServerError }

// NeedsPerson reports whether every further run would end in the same way until a person
// helps.
func (o Outcome) NeedsPerson() bool {
	return o == Auth || o == NotFound || o == BadRequest || o == AsksPerson
}

// reportableOutcomes are the outcomes that a program itself can report.
var reportableOutcomes = []Outcome{OK, Auth, BadRequest, RateLimit, ServerError, TurnLimit, BudgetLimit, Denied, Crashed}

// isReportable reports whether a preset may name the outcome.
func (o Outcome) isReportable() bool { return slices.Contains(reportableOutcomes, o) }

// outcomeNames returns the names of the reportable outcomes for error messages, separated by
// commas.
func outcomeNames() string {
	names := make([]string, len(reportableOutcomes))
	for i, o := range reportableOutcomes {
		names[i] = string(o)
	}
	return strings.Join(names, ", ")
}

// Ending is how the process ended.
type Ending struct {
	ExitCode int
	Signal   string // the signal that ended it, "" for none
	Stopped  bool   // supervise or the user ended it
	TimedOut bool   // a time limit of supervise ended it
}

// The exit codes of shells for a command that cannot run.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// Outcome returns the outcome of a run of the program p. How supervise ended the process
// counts first, then the final event, then the exit code. If strict is set, a run without a
// final event is NoFinalEvent instead of OK: the program was started so that it prints one.
func (r Report) Outcome(p Preset, e Ending, strict bool) Outcome {
	switch {
	case e.Stopped:
		return Stopped
	case e.TimedOut && r.NeedsLogin:
		return Auth
	case e.TimedOut && r.Retry != nil:
		return r.Retry.Why // it was waiting for the service
	case e.TimedOut:
		return Timeout
	case r.Final && r.Verdict == OK && r.Denials > 0:
		return Denied
	case r.Final:
		return r.Verdict
	}
	return r.classifyExitCode(p, e, strict)
}

// classifyExitCode returns the outcome of a run without a final event. The exit codes of the
// preset count first.
func (r Report) classifyExitCode(p Preset, e Ending, strict bool) Outcome {
	if o, ok := p.ExitCodes[e.ExitCode]; ok {
		return o
	}
	switch {
	case e.ExitCode == exitNotFound || e.ExitCode == exitNotExecutable && r.Lines == 0:
		return NotFound
	case e.ExitCode != 0 || e.Signal != "":
		return r.classifyCrash(p.HasReader())
	case r.Retry != nil: // it gave up
		return r.Retry.Why
	case strict:
		return NoFinalEvent
	}
	return OK
}

// classifyCrash finds the reason of a failure in the last lines of the output; it returns
// Crashed if there is none. known says that the output has a reader. The output of an unknown
// program counts only if it has the form of a message of a service client.
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

// clientErrorRE matches lines in which any client of a service reports a failed request. The
// three alternatives match lines such as
//
//	openai.RateLimitError: 429 Too Many Requests
//	HTTP error 429
//	503 Service Unavailable
//
// The status is the first, second or third group. A line that only ends in "Error: 429"
// matches as well; any other text after that status must be a phrase or an object of the
// service.
var clientErrorRE = regexp.MustCompile(`(?i)^(?:(?:fatal|error|failed)\W{1,4})?(?:` +
	`[\w.]*?(?:API ?|Status|RateLimit|Authentication|PermissionDenied|InternalServer)?Error:?\W{1,2}(40[123]|429|50[0234]|529)(?:$|[ :-]{1,3}(?:\{|rate limit\b|` + statusPhrases + `))` +
	`|(?:[\w.]+: )?(?:error code|status code|http(?:/[\d.]+)?(?: error| status)?|unexpected status)\W{1,2}(40[123]|429|50[0234]|529)(?:$|[^\w.:]|: \D)` +
	`|(40[123]|429|50[0234]|529) (?:\{"|` + statusPhrases + `))`)

// statusPhrases matches the texts of HTTP statuses, like "too many requests".
const statusPhrases = `(?:unauthorized|forbidden|payment required|too many requests|internal server error|bad gateway|service unavailable|gateway timeout|overloaded)\b`

// errorObjectRE matches JSON objects of errors of the large services near the start of a line,
// like {"type":"error","error":{"type":"overloaded_error"}}. The only group is the kind of the
// error, here overloaded_error, or its status.
var errorObjectRE = regexp.MustCompile(`^[^{]{0,60}\{\s*["'](?:type["']:\s*["']error["'],\s*["'])?error["']:\s*\{.*["'](?:type|code|status)["']:\s*` +
	`["']?(?P<kind>authentication_error|permission_error|invalid_api_key|UNAUTHENTICATED|PERMISSION_DENIED|insufficient_quota|billing_error|rate_limit_error|rate_limit_exceeded|RESOURCE_EXHAUSTED|overloaded_error|api_error|server_error|UNAVAILABLE|INTERNAL|not_found_error|model_not_found|context_length_exceeded|401|403|429|500|503|529)["']?[,}\s]`)

// objectKinds maps the kinds of error objects to outcomes where [Classify] would not find the
// outcome in the name.
var objectKinds = map[string]Outcome{
	"authentication_error": Auth, "permission_error": Auth, "invalid_api_key": Auth, "PERMISSION_DENIED": Auth, "billing_error": Auth,
	"not_found_error": BadRequest, "model_not_found": BadRequest, "api_error": ServerError, "INTERNAL": ServerError,
}

// classifyClientError returns the outcome that the last lines of an unknown program report,
// Crashed if they report none. The latest line counts.
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

// serviceErrorRE matches messages of services and their clients in the last output of a known
// program. It is stricter than [Classify], because in such output a number may be a line of a
// stack trace, and a word like network the name of a module.
//
// Its lines match, from the first to the last: a status after a word for it ("HTTP 429"), a
// status before its text ("503 service unavailable"), limits and credit ("rate limit
// exceeded"), expired logins and requests that are never accepted, missing or rejected
// credentials ("invalid API key"), and failures of the service or network ("connection
// refused").
var serviceErrorRE = regexp.MustCompile(`(?i)` +
	`(\bhttp\b|\bstatus\b|\berror\b|\bcode\b|\bapi\b)[^\n\w]{0,4}(status|code|error)?[^\n\w]{0,4}(40[1238]|429|5\d\d)\b` +
	`|\b(40[1238]|429|5\d\d)\b[^\n\w]{1,4}(unauthor|forbidden|payment|too many|status code|internal|bad gateway|service|gateway|overloaded|request time)` +
	`|insufficient_quota|credit balance is too low|payment required|rate.?limit(ed|s)?\b.{0,40}(exceeded|reached|hit|error)|rate.?limit.?(error|exceeded)|too many requests|resource_exhausted|(usage|session|weekly) limit|limit reached|(exceeded|out of).{0,20}\bquota\b|quota.{0,12}(exhausted|metric)` +
	`|token has expired|login has expired|` + badRequestRE.String() +
	`|unauthori[sz]ed|unauthenticated|invalid.{0,3}(x-)?api.?key|api.?key not|(missing|no|set).{0,20}api.?key|authentication (failed|error|required)|authentication_error|not logged in|please run /login|auth method|missing environment variable` +
	`|overloaded(_error)?\b|(internal )?server.?error|bad gateway|service unavailable|high demand|temporarily unavailable|TypeError: terminated|(connection|socket|network|stream)s? ?(error|reset|refused|closed|aborted|lost|failed|timed? ?out|hang up|disconnected|is unreachable)|(disconnected|closed) (from|before|by)|cannot connect|unable to connect|failed to connect|fetch failed|request timed out|ECONN(RESET|REFUSED|ABORTED)|\bENOTFOUND\b|EAI_AGAIN|ETIMEDOUT`)

// classifyLastOutput classifies the messages of services in the last output of a program. It
// ignores lines about a full disk ("Disk quota exceeded").
func classifyLastOutput(text string) Outcome {
	var messages []string
	for line := range strings.Lines(text) {
		if m := serviceErrorRE.FindString(line); m != "" && !strings.Contains(strings.ToLower(line), "disk quota") {
			messages = append(messages, m)
		}
	}
	return Classify(strings.Join(messages, "\n"))
}

// maxCrashLines is how many of the last lines may contain the reason of a failure. Earlier
// lines may be about the agent's work.
const maxCrashLines = 3

// errorKinds maps messages of services to outcomes. The first row that matches counts: missing
// credit comes before limits, because some services report it with the status 429.
var errorKinds = []struct {
	outcome Outcome
	pattern *regexp.Regexp
}{
	{Auth, regexp.MustCompile(`(?i)insufficient_quota|credit balance is too low|billing|payment required|token (has )?expired|login (has )?expired`)},
	{BadRequest, badRequestRE},
	{RateLimit, regexp.MustCompile(`(?i)\b429\b|rate.?limit|too many requests|resource_exhausted|usage limit|limit reached|quota`)},
	{Auth, regexp.MustCompile(`(?i)\b40[13]\b|unauthori[sz]ed|unauthenticated|invalid.{0,3}(x-)?api.?key|api.?key not|(missing|no|set).{0,20}api.?key|authentication|not logged in|please run /login|auth method|missing environment variable`)},
	{ServerError, regexp.MustCompile(`(?i)\b5\d\d\b|overloaded|server.?error|internal error|high demand|unavailable|bad gateway|terminated|disconnected|connection|socket|network|fetch failed|timed? ?out|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT`)},
}

// badRequestRE matches messages about requests that a service never accepts: an unknown model
// ("model not found"), or a prompt that is too long ("prompt is too long").
var badRequestRE = regexp.MustCompile(`(?i)model.{0,3}not.{0,3}found|\bmodel\b.{0,80}(was not found|does not exist|is not supported|not available to you)|not_found_error.{0,80}\bmodel|(unknown|invalid|unsupported) model\b|\bmodel\b.{0,40}may not exist or you|ran out of \w+ in the model's context window|prompt is too long|context_length_exceeded|maximum context length|input is too long for`)

// Classify returns the outcome that an error message describes: Auth, BadRequest, RateLimit or
// ServerError, and Crashed for every other text.
func Classify(text string) Outcome {
	for _, k := range errorKinds {
		if k.pattern.MatchString(text) {
			return k.outcome
		}
	}
	return Crashed
}

// classifyError returns the outcome of an error by its HTTP status, or by its text if the
// status decides nothing. An unknown status is 0.
func classifyError(status int, text string) Outcome {
	byText := Classify(text)
	switch {
	case status >= 401 && status <= 403:
		return Auth
	case status == 429 && byText != Auth: // some services report missing credit as 429
		return RateLimit
	case status >= 500 && status < 600, status == 408:
		return ServerError
	}
	return byText
}
