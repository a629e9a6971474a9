package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/regexp"
	"supervise/internal/yamlfile"
)

// Events describe how to read the JSON events of a program: by rules, or by the name of a
// dialect, which is a reader in Go. The zero value means that the program prints no events.
type Events struct {
	Dialect string
	Rules   []Rule
}

// UnmarshalYAML reads the name of a dialect, or a list of rules.
func (e *Events) UnmarshalYAML(unmarshal func(any) error) error {
	var name string
	if unmarshal(&name) == nil {
		*e = Events{Dialect: name}
		return nil
	}
	*e = Events{}
	return unmarshal(&e.Rules)
}

// IsDefined reports whether the program has events.
func (e Events) IsDefined() bool { return e.Dialect != "" || len(e.Rules) > 0 }

// HasReader reports whether events or lines of the program's output are read.
func (p Preset) HasReader() bool { return p.Events.IsDefined() || len(p.Lines) > 0 }

// validateRules returns an error about the first invalid rule, or about an unknown dialect.
func (p Preset) validateRules() error {
	e := p.Events
	if _, ok := dialects[e.Dialect]; e.Dialect != "" && !ok {
		return yamlfile.InvalidValue(fmt.Sprintf("events: there is no dialect %s; the dialects are %s; anything else is a list of rules", e.Dialect, strings.Join(slices.Sorted(maps.Keys(dialects)), ", ")), "events")
	}
	for _, list := range []struct {
		name  string
		rules []Rule
	}{{"events", e.Rules}, {"lines", p.Lines}} {
		for i, r := range list.rules {
			if why, key := r.invalidReason(list.name == "lines"); why != "" {
				return yamlfile.InvalidValue(list.name+": "+why, list.name, strconv.Itoa(i), key)
			}
		}
	}
	return nil
}

// Rule says what an event, or another line, means. All matching rules are applied in order.
// A path names a value of the event by keys and indexes, with dots between them, or a named
// group of a pattern of the rule. The path of a line's text is line.
type Rule struct {
	// events: paths and their values: one, several, or a pattern that starts with `^`
	When map[string]Match `yaml:"when"`
	// the same, of which none may match
	Unless map[string]Match `yaml:"unless"`
	// lines: a pattern that starts with `^`
	Line *Pattern `yaml:"line"`
	// only before the final event
	BeforeEnd bool `yaml:"before_end"`

	// path
	Session Path `yaml:"session"`
	// path
	Model Path `yaml:"model"`
	// path
	Version Path `yaml:"version"`
	// path of the agent's text
	Text Path `yaml:"text"`
	// `input` (uncached), `cache_read`, `cache_write`, `output`, `cost`, `turns`, `tool_calls`: sums like `a.b - c + 1`
	Usage map[string]Sum `yaml:"usage"`
	// the usage is added to the previous one
	Adds bool `yaml:"adds"`

	// its problems are over
	Going bool `yaml:"going"`
	// a tool was not approved
	Denied bool `yaml:"denied"`
	// the final event is still to come
	Reopens bool `yaml:"reopens"`
	// it waits for a login, and is ended
	AsksLogin bool `yaml:"asks_login"`
	// it retries its service itself
	Retry bool `yaml:"retry"`
	// path of the number of that attempt; default: counted
	Attempt Path `yaml:"attempt"`
	// path of the milliseconds until then
	WaitMS Path `yaml:"wait_ms"`
	// path of the seconds until then
	WaitS Path `yaml:"wait_s"`
	// the final event: an outcome, or `failed`: by `status`, or else by `message`
	Ends Outcome `yaml:"ends"`
	// paths, joined by `: `
	Message []Path `yaml:"message"`
	// path of the HTTP status
	Status Path `yaml:"status"`
	// path of more text about the error, not shown
	Detail Path `yaml:"detail"`
	// paths of the time to retry, named like `retry-after`
	Reset []Path `yaml:"reset"`
	// a [window](#windows): paths `used` (percent), `resets` (seconds since 1970, or a text), `name` or `minutes`
	Window WindowRule `yaml:"window"`
}

// failedOutcome is a value of Rule.Ends. It means that the HTTP status or the error message of
// the event decides the outcome.
const failedOutcome Outcome = "failed"

// invalidReason returns why a rule is invalid and the key at fault; why is "" for a valid
// rule. forLines is set for a rule about lines that are not events.
func (r Rule) invalidReason(forLines bool) (why, key string) {
	switch {
	case forLines && r.Line == nil:
		return "a rule of lines must have line, the pattern of a line or its start", "when"
	case !forLines && (r.Line != nil || len(r.When) == 0):
		return "a rule of events must have when, the values that the event has; rules with line go under lines", "line"
	case r.Line != nil && !strings.HasPrefix(r.Line.String(), "^"):
		return "line must begin with ^: a text somewhere in a line may be of the agent's work", "line"
	case !slices.Contains(append([]Outcome{"", failedOutcome}, reportableOutcomes...), r.Ends):
		return fmt.Sprintf("there is no outcome %s; the outcomes are %s, and failed", r.Ends, outcomeNames()), "ends"
	case r.Retry && len(r.Message) == 0 && r.Status == "":
		return "retry needs message or status, which say why", "retry"
	}
	for name := range r.Usage {
		if !slices.Contains(usageNames, name) {
			return fmt.Sprintf("usage has no %s; it has %s", name, strings.Join(usageNames, ", ")), "usage"
		}
	}
	return "", ""
}

// Pattern is a regular expression in a preset.
type Pattern struct{ *regexp.Regexp }

// UnmarshalYAML reads a regular expression.
func (p *Pattern) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	err := unmarshal(&text)
	if err == nil {
		*p, err = compile(text)
	}
	return err
}

// compile compiles a pattern of a preset. Its error is for the author of the file.
func compile(text string) (Pattern, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return Pattern{}, yamlfile.InvalidValue(fmt.Sprintf("events: %q is no pattern: %v; see https://pkg.go.dev/regexp/syntax", text, err), "events")
	}
	return Pattern{re}, nil
}

// Match is a condition for a value: the value is one of the texts, or matches one of the
// patterns. In a preset it is one text or a list; a text that starts with ^ is a pattern.
type Match struct {
	texts    []string
	patterns []Pattern
}

// UnmarshalYAML reads a value, or a list of them.
func (m *Match) UnmarshalYAML(unmarshal func(any) error) error {
	var list []any
	if unmarshal(&list) != nil {
		var one any
		if err := unmarshal(&one); err != nil {
			return err
		}
		list = []any{one}
	}

	*m = Match{}
	for _, v := range list {
		text := textOfValue(v)
		if !strings.HasPrefix(text, "^") {
			m.texts = append(m.texts, text)
			continue
		}
		p, err := compile(text)
		if err != nil {
			return err
		}
		m.patterns = append(m.patterns, p)
	}
	return nil
}

// matches reports whether a text meets the condition. It adds the named groups of the matching
// pattern to groups, so that paths of the rule can name them.
func (m Match) matches(text string, groups map[string]any) bool {
	if slices.Contains(m.texts, text) {
		return true
	}
	return slices.ContainsFunc(m.patterns, func(p Pattern) bool { return p.matches(text, groups) })
}

// matches reports whether a text matches the pattern, and adds its named groups to groups.
func (p Pattern) matches(text string, groups map[string]any) bool {
	found := p.FindStringSubmatch(text)
	for i, name := range p.SubexpNames() {
		if found != nil && name != "" {
			groups[name] = found[i]
		}
	}
	return found != nil
}

// Path is the path of a value in an event, like message.content.0.text. A negative index
// counts from the end of a list, so messages.-1 is the last message. The empty path has no
// value.
type Path string

// lookup returns the value at the path, nil if there is none.
func (p Path) lookup(event map[string]any) any {
	if p == "" {
		return nil
	}
	var at any = event
	for key := range strings.SplitSeq(string(p), ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err == nil && i < 0 {
				i += len(v)
			}
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	return at
}

// text returns the value as text, "" if there is none. Of a list, which holds the parts of a
// message, it returns the texts.
func (p Path) text(event map[string]any) string {
	return messageText(p.lookup(event))
}

// messageText returns a decoded JSON value as text. Of a list, which holds the parts of a message, it
// returns the texts.
func messageText(v any) string {
	list, isList := v.([]any)
	if !isList {
		return textOfValue(v)
	}
	var out []string
	for _, part := range list {
		part, _ := part.(map[string]any)
		if text, ok := part["text"].(string); ok && text != "" && part["type"] == "text" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}

// number returns the value as a number, and false if there is none or it is not a number. It
// accepts numbers in a text.
func (p Path) number(event map[string]any) (float64, bool) {
	switch v := p.lookup(event).(type) {
	case float64:
		return v, true
	case string:
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	}
	return 0, false
}

// textOfValue returns a decoded JSON value as text, "" for null. Lists and objects are encoded
// as JSON.
func textOfValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case map[string]any, []any:
		text, _ := json.Marshal(v) // it was JSON
		return string(text)
	}
	return fmt.Sprint(v)
}

// Sum is a sum of paths and numbers, like "usage.input - usage.cached + 1". Its value is at
// least 0.
type Sum []term

// term is a path or a number, with the sign that precedes it.
type term struct {
	sign   float64 // 1 or -1
	path   Path
	number float64 // the value, if path is empty
}

// UnmarshalYAML reads a number, or terms with + and - between them.
func (s *Sum) UnmarshalYAML(unmarshal func(any) error) error {
	var v any
	if err := unmarshal(&v); err != nil {
		return err
	}
	*s = nil
	sign := 1.0
	for word := range strings.FieldsSeq(textOfValue(v)) {
		switch n, err := strconv.ParseFloat(word, 64); {
		case word == "+":
			sign = 1
		case word == "-":
			sign = -1
		case err == nil:
			*s = append(*s, term{sign: sign, number: n})
		default:
			*s = append(*s, term{sign: sign, path: Path(word)})
		}
	}
	return nil
}

// evaluate returns the sum. A value that is missing counts as 0. ok is false if the event has
// none of the values, and the sum has no number.
func (s Sum) evaluate(event map[string]any) (sum float64, ok bool) {
	for _, t := range s {
		n, has := t.number, true
		if t.path != "" {
			n, has = t.path.number(event)
		}
		sum, ok = sum+t.sign*n, ok || has
	}
	return max(0, sum), ok
}

// usageNames are the keys of Rule.Usage.
var usageNames = []string{"input", "cache_read", "cache_write", "output", "cost", "turns", "tool_calls"}

// readUsage sets the numbers of a usage that the rule finds in an event. It adds them to the previous
// ones if Adds is set. Numbers that the event does not have stay as they are.
func (r Rule) readUsage(event map[string]any, u *Usage) {
	counts := map[string]**int64{"input": &u.Input, "cache_read": &u.CacheRead, "cache_write": &u.CacheWrite, "output": &u.Output, "turns": &u.Turns, "tool_calls": &u.ToolCalls}
	for name, sum := range r.Usage {
		n, ok := sum.evaluate(event)
		if !ok {
			continue
		}
		if count := counts[name]; count != nil {
			setNumber(count, int64(n), r.Adds)
		} else {
			setNumber(&u.CostUSD, n, r.Adds)
		}
	}
}

// setNumber sets a number, or adds n to it.
func setNumber[T int64 | float64](to **T, n T, add bool) {
	if add && *to != nil {
		n += **to
	}
	*to = new(n)
}

// ruleEvents is an eventReader that applies the rules of a preset to each event.
type ruleEvents []Rule

// maxEvent is the longest event that rules are applied to, in bytes. Decoded events need up to
// thirty times as much memory, and long events contain files rather than usage.
const maxEvent = 4 << 20

// event applies all matching rules to an event. It ignores a line that is too long, or not a
// JSON object.
func (d ruleEvents) event(line []byte, r *Report) {
	if len(line) > maxEvent {
		return
	}
	event, ok := decodeJSON[map[string]any](line)
	if !ok {
		return
	}
	for _, rule := range d {
		if rule.matches(event, r) {
			rule.apply(event, r)
		}
	}
}

// lineRules are the rules of a preset for lines that are not events.
type lineRules []Rule

// text applies all matching rules to a line. A rule sees an event with the key "line" and the
// named groups of its pattern. A line that matches a rule counts as an event.
func (d lineRules) text(line string, r *Report) {
	read := false
	for _, rule := range d {
		event := map[string]any{"line": line}
		if rule.Line.matches(line, event) && rule.matches(event, r) {
			rule.apply(event, r)
			read = true
		}
	}
	if read {
		r.Lines++
	}
}

// matches reports whether an event meets all conditions of the rule. It adds the named groups
// of the patterns in the conditions to the event.
func (r Rule) matches(event map[string]any, report *Report) bool {
	if r.BeforeEnd && report.Final {
		return false
	}
	for path, m := range r.When {
		if !m.matches(Path(path).text(event), event) {
			return false
		}
	}
	for path, m := range r.Unless {
		if m.matches(Path(path).text(event), event) {
			return false
		}
	}
	return true
}

// apply updates the report with the values that the rule finds in an event. Values that the
// event does not have leave the report unchanged.
func (r Rule) apply(event map[string]any, to *Report) {
	if r.Going {
		to.noteProgress()
	}

	for field, path := range map[*string]Path{&to.Session: r.Session, &to.Model: r.Model, &to.Version: r.Version, &to.LastMessage: r.Text} {
		*field = cmp.Or(path.text(event), *field)
	}

	r.readUsage(event, &to.Usage)
	if r.Denied {
		to.Denials++
	}
	to.NeedsLogin = to.NeedsLogin || r.AsksLogin
	if r.Reopens {
		to.Final, to.Verdict = false, ""
	}

	r.applyOutcome(event, to)
	if to.Retry != nil {
		if ms, ok := r.WaitMS.number(event); ok {
			to.Retry.Delay = millis(ms)
		}
		if s, ok := r.WaitS.number(event); ok {
			to.Retry.Delay = time.Duration(s * float64(time.Second))
		}
	}

	for _, path := range r.Reset {
		if text := path.text(event); text != "" {
			name := string(path)
			to.Reset = ParseReset(name[strings.LastIndexByte(name, '.')+1:] + ": " + text)
			break
		}
	}

	r.Window.apply(event, to)
}

// applyOutcome records the end of the run, a retry, or an error message. A retry whose error
// is not one of a service counts as the end of the run.
func (r Rule) applyOutcome(event map[string]any, to *Report) {
	var parts []string
	for _, path := range r.Message {
		if text := path.text(event); text != "" {
			parts = append(parts, text)
		}
	}
	message := strings.Join(parts, ": ")

	status, _ := r.Status.number(event)
	why := classifyError(int(status), message+" "+r.Detail.text(event))

	switch {
	case r.Retry && why != Crashed:
		attempt, given := r.Attempt.number(event)
		if !given {
			attempt = 1
			if to.Retry != nil {
				attempt = float64(to.Retry.Attempt + 1)
			}
		}
		to.noteRetry(why, int(attempt), 0, message)
	case r.Retry, r.Ends == failedOutcome:
		to.finish(why, message)
	case r.Ends != "":
		to.finish(r.Ends, message)
	case message != "":
		to.noteFailure(message)
	}
}
