package agent

import (
	"encoding/json"
	"strings"
	"time"

	"supervise/internal/regexp"
)

// claudeReader reads the events of claude -p --output-format stream-json (or json). It also
// reads two similar programs: qwen, whose input tokens include cached ones and which reports
// failures as answers, and cursor-agent, which reports no usage.
type claudeReader struct {
	qwen bool // the program is qwen
	// usageByMessage is the usage by message id. Each event of a message repeats the usage,
	// and only the last one counts the output.
	usageByMessage map[string]Usage
	total          Usage // the sum over the messages so far
	toolCalls      int64 // the number of tool calls so far
}

// claudeUsage is the usage of a message or of a result, in tokens.
type claudeUsage struct {
	Input  int64  `json:"input_tokens"`
	Write  int64  `json:"cache_creation_input_tokens"`
	Read   int64  `json:"cache_read_input_tokens"`
	Output int64  `json:"output_tokens"`
	Total  *int64 `json:"total_tokens"`
}

// claudeEvent has the fields of all kinds of events that are read. Type says which ones apply.
type claudeEvent struct {
	Type, Subtype, Model string
	Session              string `json:"session_id"`
	Version              string `json:"claude_code_version"`
	QwenVersion          string `json:"qwen_code_version"`
	Message              struct {
		ID      string
		Content json.RawMessage
		Usage   *claudeUsage
	}
	// The fields of a system event with the subtype api_retry.
	Attempt int
	Delay   float64 `json:"retry_delay_ms"`
	Status  int     `json:"error_status"`
	// The fields of a result event.
	IsError   bool `json:"is_error"`
	Result    string
	Errors    []string
	APIStatus int               `json:"api_error_status"`
	Turns     *int64            `json:"num_turns"`
	Cost      *float64          `json:"total_cost_usd"`
	Usage     *claudeUsage      `json:"usage"`
	Denials   []json.RawMessage `json:"permission_denials"`
	Models    map[string]struct {
		InputTokens, OutputTokens, CacheReadInputTokens, CacheCreationInputTokens int64
	} `json:"modelUsage"`
	// The field of a rate_limit_event.
	Limit struct {
		Status      string
		ResetsAt    int64
		Type        string   `json:"rateLimitType"`
		Utilization *float64 // the used share, from 0 to 1; present only when the service warns
	} `json:"rate_limit_info"`
	Error json.RawMessage // a name in api_retry, an object in results
}

// event reads one event. It ignores the types that say nothing about the run.
func (c *claudeReader) event(line []byte, r *Report) {
	e, ok := decodeJSON[claudeEvent](line)
	if !ok {
		return
	}
	if e.Session != "" {
		r.Session = e.Session
	}
	switch e.Type {
	case "system":
		c.readSystem(e, r)
	case "assistant":
		r.noteProgress()
		c.readMessage(e, r)
	case "rate_limit_event":
		c.readLimit(e, r)
	case "result":
		c.readResult(e, r)
	}
}

// readSystem reads the start of a session, or a retry. A retry for an unknown reason counts as
// a failure of the service.
func (c *claudeReader) readSystem(e claudeEvent, r *Report) {
	switch e.Subtype {
	case "init":
		r.Model, r.Version = e.Model, e.Version+e.QwenVersion
	case "api_retry":
		message, _ := decodeJSON[string](e.Error)
		why := classifyError(e.Status, message)
		if why == Crashed {
			why = ServerError
		}
		r.noteRetry(why, e.Attempt, millis(e.Delay), message)
	}
}

// readLimit reads how much of a quota is used, and when a service that refuses requests
// accepts them again.
func (c *claudeReader) readLimit(e claudeEvent, r *Report) {
	var at time.Time
	if e.Limit.ResetsAt > 0 {
		at = time.Unix(e.Limit.ResetsAt, 0)
	}
	if e.Limit.Status == "rejected" && !at.IsZero() {
		r.Reset = Reset{At: at}
	}
	if e.Limit.Utilization != nil {
		r.setWindow(Window{Name: e.Limit.Type, Used: 100 * *e.Limit.Utilization, Reset: at})
	}
}

// readMessage records the text of a message, and adds its tool calls and usage to the report.
// The result event replaces this sum.
func (c *claudeReader) readMessage(e claudeEvent, r *Report) {
	blocks, _ := decodeJSON[[]struct{ Type, Text string }](e.Message.Content)
	for _, b := range blocks {
		if b.Type == "tool_use" {
			c.toolCalls++
			r.Usage.ToolCalls = new(c.toolCalls)
		}
	}

	if text := textOf(e.Message.Content); text != "" {
		r.LastMessage = text
	}

	if e.Message.Usage == nil {
		return
	}
	if c.usageByMessage == nil {
		c.usageByMessage = map[string]Usage{}
	}

	now := c.usageOf(*e.Message.Usage)
	c.total = c.total.Since(c.usageByMessage[e.Message.ID]).Plus(now)
	c.usageByMessage[e.Message.ID] = now
	now = c.total
	now.ToolCalls = r.Usage.ToolCalls
	r.Usage = now
}

// usageOf converts a usage. Input does not include cached tokens.
func (c *claudeReader) usageOf(u claudeUsage) Usage {
	if c.qwen {
		u.Input = max(0, u.Input-u.Read)
	}
	return Usage{Input: new(u.Input), CacheRead: new(u.Read), CacheWrite: new(u.Write), Output: new(u.Output)}
}

// qwenErrorRE matches answers of qwen that are failures of the service, like "[API Error: 429
// Too Many Requests]". The group is the message.
var qwenErrorRE = regexp.MustCompile(`(?s)\[API Error: (.*)\]\s*$`)

// readResult reads the final event: the totals of the usage, the last text and the outcome.
func (c *claudeReader) readResult(e claudeEvent, r *Report) {
	c.readTotals(e, r)
	r.Denials = len(e.Denials)
	if e.Result != "" {
		r.LastMessage = e.Result
	}

	message := strings.Join(append(e.Errors, e.Result, string(e.Error)), " ")
	message = strings.TrimSpace(message)

	switch {
	case e.Subtype == "error_max_turns":
		r.finish(TurnLimit, message)
	case e.Subtype == "error_max_budget_usd":
		r.finish(BudgetLimit, message)
	case e.IsError || strings.HasPrefix(e.Subtype, "error"):
		r.finish(classifyError(e.APIStatus, message), message)
	case c.qwen && qwenErrorRE.MatchString(e.Result):
		text := qwenErrorRE.FindStringSubmatch(e.Result)[1]
		r.finish(Classify(text), text)
	default:
		r.finish(OK, "")
	}
}

// readTotals replaces the usage by that of the result. The usage by model is complete; the
// other one omits interrupted calls, and is read only if there is none by model.
func (c *claudeReader) readTotals(e claudeEvent, r *Report) {
	u := Usage{}
	for _, m := range e.Models {
		u = u.Plus(Usage{Input: new(m.InputTokens), CacheRead: new(m.CacheReadInputTokens), CacheWrite: new(m.CacheCreationInputTokens), Output: new(m.OutputTokens)})
	}
	if len(e.Models) == 0 && e.Usage != nil {
		u = c.usageOf(*e.Usage)
	}
	u.CostUSD, u.Turns = e.Cost, e.Turns
	if c.usageByMessage != nil || c.toolCalls > 0 { // otherwise only the result was printed
		u.ToolCalls = new(c.toolCalls)
	}
	r.Usage = u
}
