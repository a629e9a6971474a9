package agent

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"supervise/internal/regexp"
)

// decode reads an event as far as it is asked for, and false where it is none.
func decode[T any](line []byte) (v T, ok bool) {
	return v, json.Unmarshal(line, &v) == nil
}

// more is one more than there were.
func more(n *int64) *int64 {
	if n == nil {
		return new(int64(1))
	}
	return new(*n + 1)
}

// end notes the final event. A failure keeps its message.
func (r *Report) end(verdict Outcome, message string) {
	r.Final, r.Verdict, r.Retry = true, verdict, nil
	if verdict != OK {
		r.fail(message)
	}
}

func (r *Report) fail(message string) {
	r.Message = message
	if reset := ResetIn(message); !reset.IsZero() {
		r.Reset = reset
	}
}

// retry notes that the program waits for the service.
func (r *Report) retry(why Outcome, attempt int, delay time.Duration, message string) {
	r.Final, r.Verdict = false, ""
	r.Retry = &Retry{Why: why, Attempt: attempt, Delay: delay, Message: message}
	r.fail(message)
}

// going notes that the program got on: what it complained of is over.
func (r *Report) going() {
	if r.Retry != nil {
		r.Retry, r.Message, r.Reset = nil, "", Reset{}
	}
}

func millis(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// codex reads codex exec --json. Its usage grows over the whole thread.
type codex struct{ tools int64 }

var codexTools = map[string]bool{"command_execution": true, "file_change": true, "mcp_tool_call": true, "web_search": true}

// reconnecting is how codex reports its own retries: "Reconnecting... 1/2 (why)",
// "Reconnecting... waiting for network (why)".
var reconnecting = regexp.MustCompile(`^Reconnecting\.\.\. (\d*)[^(]* \((.*)\)$`)

func (c *codex) event(line []byte, r *Report) {
	e, ok := decode[struct {
		Type, Message string
		Thread        string `json:"thread_id"`
		Error         struct{ Message string }
		Item          struct{ Type, Text string }
		Usage         struct {
			Input  int64 `json:"input_tokens"`
			Cached int64 `json:"cached_input_tokens"`
			Write  int64 `json:"cache_write_input_tokens"`
			Output int64 `json:"output_tokens"`
		}
	}](line)
	if !ok {
		return
	}
	switch e.Type {
	case "thread.started":
		r.Session = e.Thread
	case "item.started":
		r.going()
	case "item.completed":
		c.item(e.Item.Type, e.Item.Text, r)
	case "turn.completed":
		u := e.Usage
		r.Usage.Input, r.Usage.CacheRead = new(max(0, u.Input-u.Cached-u.Write)), new(u.Cached)
		r.Usage.CacheWrite, r.Usage.Output = new(u.Write), new(u.Output)
		r.Usage.ToolCalls = new(c.tools)
		r.end(OK, "")
	case "error":
		if m := reconnecting.FindStringSubmatch(e.Message); m != nil {
			n, _ := strconv.Atoi(m[1]) // digits, or none: it does not count
			r.retry(Classify(m[2]), n, 0, m[2])
			return
		}
		r.fail(e.Message)
	case "turn.failed":
		r.end(Classify(e.Error.Message), e.Error.Message)
	}
}

func (c *codex) item(kind, text string, r *Report) {
	switch {
	case kind == "agent_message":
		r.going()
		r.Text = text
	case codexTools[kind]:
		r.going()
		c.tools++
		r.Usage.ToolCalls = new(c.tools)
	}
}

// gemini reads gemini -o stream-json, and the one object of -o json.
type gemini struct{ saying strings.Builder }

// attempt is how gemini reports its own retries, outside of its events.
var attempt = regexp.MustCompile(`^Attempt (\d+) failed with status (\d+)`)

func (g *gemini) text(line string, r *Report) {
	if m := attempt.FindStringSubmatch(line); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits, by the pattern
		status, _ := strconv.Atoi(m[2])
		r.retry(because(status, line), n, 0, line)
		r.Lines++
	}
}

type geminiModel struct {
	Tokens struct{ Input, Candidates, Cached, Thoughts int64 }
}

func (g *gemini) event(line []byte, r *Report) {
	e, ok := decode[struct {
		Type, Model, Status, Role, Content string
		Session                            string `json:"session_id"`
		Response                           *string
		Error                              struct{ Message string }
		Stats                              struct {
			Total  int64 `json:"total_tokens"`
			Prompt int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
			Cached int64 `json:"cached"`
			Input  int64 `json:"input"`
			Calls  int64 `json:"tool_calls"`
			Models map[string]geminiModel
			Tools  struct{ TotalCalls int64 }
		}
	}](line)
	if !ok {
		return
	}
	if e.Session != "" {
		r.Session = e.Session
	}
	switch {
	case e.Type == "init":
		r.Model = e.Model
	case e.Type == "message" && e.Role == "assistant":
		r.going()
		g.saying.WriteString(e.Content)
		r.Text = g.saying.String()
	case e.Type == "tool_use":
		r.going()
		g.saying.Reset()
		r.Usage.ToolCalls = more(r.Usage.ToolCalls)
	case e.Type == "result":
		s := e.Stats
		r.Usage.Input, r.Usage.CacheRead = new(s.Input), new(s.Cached)
		r.Usage.Output = new(max(s.Output, s.Total-s.Prompt)) // only the total includes thoughts
		r.Usage.ToolCalls = new(s.Calls)
		g.result(e.Status, e.Error.Message, r)
	case e.Type == "" && (e.Response != nil || e.Error.Message != ""):
		g.whole(e.Stats.Models, e.Stats.Tools.TotalCalls, r)
		if e.Response != nil {
			r.Text = *e.Response
			g.result("success", "", r)
			return
		}
		g.result("error", e.Error.Message, r)
	}
}

func (g *gemini) whole(models map[string]geminiModel, calls int64, r *Report) {
	var u Usage
	for name, m := range models {
		t := m.Tokens
		r.Model = name
		u = u.Plus(Usage{Input: new(t.Input), CacheRead: new(t.Cached), Output: new(t.Candidates + t.Thoughts)})
	}
	u.ToolCalls = new(calls)
	r.Usage = u
}

func (g *gemini) result(status, message string, r *Report) {
	if status == "success" {
		r.end(OK, "")
		return
	}
	if strings.Contains(message, "maximum session turns") || strings.Contains(message, "max session turns") {
		r.end(TurnLimit, message)
		return
	}
	r.end(Classify(message), message)
}

// openCode reads opencode run --format json, which has no final event: the last
// step says why it ended.
type openCode struct{}

func (openCode) event(line []byte, r *Report) {
	e, ok := decode[struct {
		Type    string
		Session string `json:"sessionID"`
		Part    struct {
			Text, Reason string
			Cost         float64
			Tokens       struct {
				Input, Output, Reasoning int64
				Cache                    struct{ Read, Write int64 }
			}
			State struct{ Status, Error string }
		}
		Error struct {
			Name string
			Data struct {
				Message         string
				StatusCode      int
				ResponseHeaders map[string]string
				ResponseBody    string
			}
		}
	}](line)
	if !ok {
		return
	}
	if e.Session != "" {
		r.Session = e.Session
	}
	switch e.Type {
	case "text":
		r.Text = e.Part.Text
	case "tool_use":
		r.Usage.ToolCalls = more(r.Usage.ToolCalls)
		if strings.Contains(e.Part.State.Error, "rejected permission") {
			r.Denials++
		}
	case "step_start":
		r.Final, r.Verdict = false, ""
	case "step_finish":
		t := e.Part.Tokens
		r.Usage = r.Usage.Plus(Usage{
			Input: new(t.Input), Output: new(t.Output + t.Reasoning), CacheRead: new(t.Cache.Read), CacheWrite: new(t.Cache.Write),
			CostUSD: new(e.Part.Cost), Turns: new(int64(1)),
		})
		if e.Part.Reason != "tool-calls" {
			r.end(OK, "")
		}
	case "error":
		d := e.Error.Data
		r.end(because(d.StatusCode, d.Message+" "+d.ResponseBody), strings.TrimSpace(e.Error.Name+": "+d.Message))
		for _, name := range []string{"retry-after-ms", "retry-after"} {
			if v := d.ResponseHeaders[name]; v != "" {
				r.Reset = ResetIn(name + ": " + v)
				return
			}
		}
	}
}

// pi reads pi --mode json.
type pi struct{}

type piMessage struct {
	Role, Model, StopReason, ErrorMessage string
	Content                               json.RawMessage
	Usage                                 struct {
		Input, Output, CacheRead, CacheWrite int64
		Cost                                 struct{ Total float64 }
	}
}

func (pi) event(line []byte, r *Report) {
	if strings.HasPrefix(string(line[:min(len(line), 40)]), `{"type":"message_update"`) {
		r.going()
		return // it repeats all text so far, for every few letters
	}
	e, ok := decode[struct {
		Type, ID     string
		Message      json.RawMessage
		Messages     []json.RawMessage
		Attempt      int
		DelayMS      float64 `json:"delayMs"`
		ErrorMessage string
		FinalError   string
		Success      bool
	}](line)
	if !ok {
		return
	}
	switch e.Type {
	case "session":
		r.Session = e.ID
	case "tool_execution_end":
		r.Usage.ToolCalls = more(r.Usage.ToolCalls)
	case "message_end":
		piSaid(e.Message, r)
	case "agent_end":
		piEnd(e.Messages, r)
	case "auto_retry_start":
		r.retry(Classify(e.ErrorMessage), e.Attempt, millis(e.DelayMS), e.ErrorMessage)
	case "auto_retry_end":
		if !e.Success {
			r.end(Classify(e.FinalError), e.FinalError)
		}
	}
}

// piSaid counts one message of the model.
func piSaid(raw json.RawMessage, r *Report) {
	m, ok := decode[piMessage](raw)
	if !ok || m.Role != "assistant" {
		return
	}
	r.Model = m.Model
	if text := textOf(m.Content); text != "" {
		r.Text = text
	}
	u := m.Usage
	r.Usage = r.Usage.Plus(Usage{
		Input: new(u.Input), Output: new(u.Output), CacheRead: new(u.CacheRead), CacheWrite: new(u.CacheWrite), CostUSD: new(u.Cost.Total), Turns: new(int64(1)),
	})
}

func piEnd(messages []json.RawMessage, r *Report) {
	if len(messages) == 0 {
		return
	}
	m, ok := decode[piMessage](messages[len(messages)-1])
	switch {
	case !ok:
	case m.StopReason == "error":
		r.end(Classify(m.ErrorMessage), m.ErrorMessage)
	case m.StopReason == "aborted":
		r.end(Crashed, "aborted")
	default:
		r.end(OK, "")
	}
}

// textOf joins the texts of a message's content.
func textOf(content json.RawMessage) string {
	parts, ok := decode[[]struct{ Type, Text string }](content)
	if !ok {
		text, _ := decode[string](content)
		return text
	}
	var out []string
	for _, p := range parts {
		if p.Type == "text" && p.Text != "" {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}

// cline reads cline --json.
type cline struct{}

func (cline) event(line []byte, r *Report) {
	type usage struct {
		InputTokens, OutputTokens, CacheReadTokens, CacheWriteTokens                     int64
		TotalInputTokens, TotalOutputTokens, TotalCacheReadTokens, TotalCacheWriteTokens int64
		TotalCost                                                                        float64
	}
	e, ok := decode[struct {
		Type, FinishReason, Text, Message string
		Iterations                        int64
		Usage                             usage
		Model                             struct{ ID string }
		Event                             struct {
			Type, ContentType, Text, ErrorClass string
			Error                               struct{ Message string }
			usage
		}
	}](line)
	if !ok {
		return
	}
	count := func(in, out, read, write int64, cost float64) {
		r.Usage.Input, r.Usage.Output, r.Usage.CacheRead = new(max(0, in-read-write)), new(out), new(read)
		r.Usage.CacheWrite, r.Usage.CostUSD = new(write), new(cost)
	}
	switch kind := e.Type + "/" + e.Event.Type; {
	case kind == "agent_event/usage":
		u := e.Event.usage
		count(u.TotalInputTokens, u.TotalOutputTokens, u.TotalCacheReadTokens, u.TotalCacheWriteTokens, u.TotalCost)
	case kind == "agent_event/content_end" && e.Event.ContentType == "tool":
		r.Usage.ToolCalls = more(r.Usage.ToolCalls)
	case kind == "agent_event/content_end" && e.Event.ContentType == "text":
		r.Text = e.Event.Text
	case kind == "agent_event/error":
		r.fail(e.Event.ErrorClass + ": " + e.Event.Error.Message)
	case e.Type == "run_result":
		u := e.Usage
		count(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.TotalCost)
		r.Usage.Turns, r.Model = new(e.Iterations), e.Model.ID
		clineEnd(e.FinishReason, e.Text, r)
	case e.Type == "error" && !r.Final:
		r.end(Classify(e.Message), e.Message)
	}
}

func clineEnd(reason, text string, r *Report) {
	switch reason {
	case "completed":
		r.Text = text
		r.end(OK, "")
	case "max_iterations":
		r.end(TurnLimit, text)
	default:
		r.end(Classify(text), text)
	}
}

// continued reads cn --format json: one object at the end.
type continued struct{}

func (continued) event(line []byte, r *Report) {
	e, ok := decode[struct{ Response, Status, Message string }](line)
	switch {
	case !ok:
	case e.Status == "success":
		r.Text = e.Response
		r.end(OK, "")
	case e.Status == "error":
		r.end(Classify(e.Message), e.Message)
	}
}

// goose reads goose run --output-format stream-json, by its documentation.
type goose struct{}

func (goose) event(line []byte, r *Report) {
	e, ok := decode[struct {
		Type, Error string
		Message     struct {
			Role    string
			Content json.RawMessage
		}
	}](line)
	switch {
	case !ok:
	case e.Type == "message" && e.Message.Role == "assistant":
		if text := textOf(e.Message.Content); text != "" {
			r.Text = text
		}
	case e.Type == "error":
		r.end(Classify(e.Error), e.Error)
	case e.Type == "complete" && !r.Final:
		r.end(OK, "")
	}
}
