package agent

import (
	"encoding/json"
	"strings"
	"time"

	"supervise/internal/regexp"
)

// claude reads claude -p --output-format stream-json (or json), and those who
// print the like: qwen, whose input contains what is cached and which takes
// failures for answers, and cursor-agent, which reports no usage.
type claude struct {
	qwen bool
	seen map[string]Usage // by message: its blocks repeat the usage, and only the last one has the output
	sum  Usage
	tool int64
}

type claudeUsage struct {
	Input  int64  `json:"input_tokens"`
	Write  int64  `json:"cache_creation_input_tokens"`
	Read   int64  `json:"cache_read_input_tokens"`
	Output int64  `json:"output_tokens"`
	Total  *int64 `json:"total_tokens"`
}

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
	// of api_retry
	Attempt int
	Delay   float64 `json:"retry_delay_ms"`
	Status  int     `json:"error_status"`
	// of result
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
	// of rate_limit_event
	Limit struct {
		Status      string
		ResetsAt    int64
		Type        string   `json:"rateLimitType"`
		Utilization *float64 // of 1; only where the service warns
	} `json:"rate_limit_info"`
	Error json.RawMessage // a name in api_retry, an object in results
}

func (c *claude) event(line []byte, r *Report) {
	e, ok := decode[claudeEvent](line)
	if !ok {
		return
	}
	if e.Session != "" {
		r.Session = e.Session
	}
	switch e.Type {
	case "system":
		c.system(e, r)
	case "assistant":
		r.going()
		c.message(e, r)
	case "rate_limit_event":
		c.limit(e, r)
	case "result":
		c.result(e, r)
	}
}

func (c *claude) system(e claudeEvent, r *Report) {
	switch e.Subtype {
	case "init":
		r.Model, r.Version = e.Model, e.Version+e.QwenVersion
	case "api_retry":
		message, _ := decode[string](e.Error)
		why := because(e.Status, message)
		if why == Crashed {
			why = ServerError
		}
		r.retry(why, e.Attempt, millis(e.Delay), message)
	}
}

// limit reads what a subscription has left.
func (c *claude) limit(e claudeEvent, r *Report) {
	var at time.Time
	if e.Limit.ResetsAt > 0 {
		at = time.Unix(e.Limit.ResetsAt, 0)
	}
	if e.Limit.Status == "rejected" && !at.IsZero() {
		r.Reset = Reset{At: at}
	}
	if e.Limit.Utilization != nil {
		r.tell(Window{Name: e.Limit.Type, Used: 100 * *e.Limit.Utilization, Reset: at})
	}
}

// message counts what a message reports so far. The result replaces it.
func (c *claude) message(e claudeEvent, r *Report) {
	blocks, _ := decode[[]struct{ Type, Text string }](e.Message.Content)
	for _, b := range blocks {
		if b.Type == "tool_use" {
			c.tool++
			r.Usage.ToolCalls = new(c.tool)
		}
	}
	if text := textOf(e.Message.Content); text != "" {
		r.LastMessage = text
	}
	if e.Message.Usage == nil {
		return
	}
	if c.seen == nil {
		c.seen = map[string]Usage{}
	}
	now := c.usage(*e.Message.Usage)
	c.sum = c.sum.Since(c.seen[e.Message.ID]).Plus(now)
	c.seen[e.Message.ID] = now
	now = c.sum
	now.ToolCalls = r.Usage.ToolCalls
	r.Usage = now
}

func (c *claude) usage(u claudeUsage) Usage {
	if c.qwen {
		u.Input = max(0, u.Input-u.Read)
	}
	return Usage{Input: new(u.Input), CacheRead: new(u.Read), CacheWrite: new(u.Write), Output: new(u.Output)}
}

// apiError is how qwen's answers look that are failures of the service.
var apiError = regexp.MustCompile(`(?s)\[API Error: (.*)\]\s*$`)

func (c *claude) result(e claudeEvent, r *Report) {
	c.total(e, r)
	r.Denials = len(e.Denials)
	if e.Result != "" {
		r.LastMessage = e.Result
	}
	message := strings.Join(append(e.Errors, e.Result, string(e.Error)), " ")
	message = strings.TrimSpace(message)
	switch {
	case e.Subtype == "error_max_turns":
		r.end(TurnLimit, message)
	case e.Subtype == "error_max_budget_usd":
		r.end(BudgetLimit, message)
	case e.IsError || strings.HasPrefix(e.Subtype, "error"):
		r.end(because(e.APIStatus, message), message)
	case c.qwen && apiError.MatchString(e.Result):
		text := apiError.FindStringSubmatch(e.Result)[1]
		r.end(Classify(text), text)
	default:
		r.end(OK, "")
	}
}

// total takes the usage of the result. That by model is whole; the other leaves
// out calls that were broken off.
func (c *claude) total(e claudeEvent, r *Report) {
	u := Usage{}
	for _, m := range e.Models {
		u = u.Plus(Usage{Input: new(m.InputTokens), CacheRead: new(m.CacheReadInputTokens), CacheWrite: new(m.CacheCreationInputTokens), Output: new(m.OutputTokens)})
	}
	if len(e.Models) == 0 && e.Usage != nil {
		u = c.usage(*e.Usage)
	}
	u.CostUSD, u.Turns = e.Cost, e.Turns
	if c.seen != nil || c.tool > 0 { // else there was the result alone
		u.ToolCalls = new(c.tool)
	}
	r.Usage = u
}
