package agent

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"supervise/internal/regexp"
)

// decodeJSON decodes an event of a program. ok is false if the line is not valid JSON of that
// type.
func decodeJSON[T any](line []byte) (v T, ok bool) {
	return v, json.Unmarshal(line, &v) == nil
}

// increment returns n plus one. nil counts as zero.
func increment(n *int64) *int64 {
	if n == nil {
		return new(int64(1))
	}
	return new(*n + 1)
}

// finish records the final event of a program, which ends a retry. The message is kept only
// for a failure.
func (r *Report) finish(verdict Outcome, message string) {
	r.Final, r.Verdict, r.Retry = true, verdict, nil
	if verdict != OK {
		r.noteFailure(message)
	}
}

// noteFailure records an error message, and the time in it at which the service accepts
// requests again.
func (r *Report) noteFailure(message string) {
	r.Message = message
	if reset := ParseReset(message); !reset.IsZero() {
		r.Reset = reset
	}
}

// noteRetry records that the program waits for the service, so an earlier final event is not
// the last one. A delay of 0 is unknown.
func (r *Report) noteRetry(why Outcome, attempt int, delay time.Duration, message string) {
	r.Final, r.Verdict = false, ""
	r.Retry = &Retry{Why: why, Attempt: attempt, Delay: delay, Message: message}
	r.noteFailure(message)
}

// noteProgress records that the program continued, which ends its last retry.
func (r *Report) noteProgress() {
	if r.Retry != nil {
		r.Retry, r.Message, r.Reset = nil, "", Reset{}
	}
}

// millis converts a number of milliseconds.
func millis(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// geminiReader reads the events of gemini -o stream-json, and the single object that gemini -o
// json prints. message is the text of the agent since its last tool call.
type geminiReader struct{ message strings.Builder }

// geminiRetryRE matches the lines in which gemini reports a retry, like
// "Attempt 1 failed with status 429".
var geminiRetryRE = regexp.MustCompile(`^Attempt (\d+) failed with status (\d+)`)

// text reads a line that is not an event, and records the retry that it reports.
func (g *geminiReader) text(line string, r *Report) {
	if m := geminiRetryRE.FindStringSubmatch(line); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits, by the pattern
		status, _ := strconv.Atoi(m[2])
		r.noteRetry(classifyError(status, line), n, 0, line)
		r.Lines++
	}
}

// geminiModel is the usage of one model in the single object.
type geminiModel struct {
	Tokens struct{ Input, Candidates, Cached, Thoughts int64 }
}

// event reads an event of the stream, or the single object, which has no type.
func (g *geminiReader) event(line []byte, r *Report) {
	e, ok := decodeJSON[struct {
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
		r.noteProgress()
		g.message.WriteString(e.Content)
		r.LastMessage = g.message.String()
	case e.Type == "tool_use":
		r.noteProgress()
		g.message.Reset()
		r.Usage.ToolCalls = increment(r.Usage.ToolCalls)
	case e.Type == "result":
		s := e.Stats
		r.Usage.Input, r.Usage.CacheRead = new(s.Input), new(s.Cached)
		r.Usage.Output = new(max(s.Output, s.Total-s.Prompt)) // only the total includes thoughts
		r.Usage.ToolCalls = new(s.Calls)
		g.readResult(e.Status, e.Error.Message, r)
	case e.Type == "" && (e.Response != nil || e.Error.Message != ""):
		g.readTotals(e.Stats.Models, e.Stats.Tools.TotalCalls, r)
		if e.Response != nil {
			r.LastMessage = *e.Response
			g.readResult("success", "", r)
			return
		}
		g.readResult("error", e.Error.Message, r)
	}
}

// readTotals records the usage in the single object: the sum over its models.
func (g *geminiReader) readTotals(models map[string]geminiModel, calls int64, r *Report) {
	var u Usage
	for name, m := range models {
		t := m.Tokens
		r.Model = name
		u = u.Plus(Usage{Input: new(t.Input), CacheRead: new(t.Cached), Output: new(t.Candidates + t.Thoughts)})
	}
	u.ToolCalls = new(calls)
	r.Usage = u
}

// readResult records the end of the run by its status and error message.
func (g *geminiReader) readResult(status, message string, r *Report) {
	if status == "success" {
		r.finish(OK, "")
		return
	}
	if strings.Contains(message, "maximum session turns") || strings.Contains(message, "max session turns") {
		r.finish(TurnLimit, message)
		return
	}
	r.finish(Classify(message), message)
}

// piReader reads the events of pi --mode json.
type piReader struct{}

// piMessage is a message in an event. Content is a text or a list of parts, see textOf.
type piMessage struct {
	Role, Model, StopReason, ErrorMessage string
	Content                               json.RawMessage
	Usage                                 struct {
		Input, Output, CacheRead, CacheWrite int64
		Cost                                 struct{ Total float64 }
	}
}

// event reads one event.
func (piReader) event(line []byte, r *Report) {
	if strings.HasPrefix(string(line[:min(len(line), 40)]), `{"type":"message_update"`) {
		r.noteProgress()
		return // it repeats the text so far, every few letters
	}

	e, ok := decodeJSON[struct {
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
		r.Usage.ToolCalls = increment(r.Usage.ToolCalls)
	case "message_end":
		readPiMessage(e.Message, r)
	case "agent_end":
		readPiEnd(e.Messages, r)
	case "auto_retry_start":
		r.noteRetry(Classify(e.ErrorMessage), e.Attempt, millis(e.DelayMS), e.ErrorMessage)
	case "auto_retry_end":
		if !e.Success {
			r.finish(Classify(e.FinalError), e.FinalError)
		}
	}
}

// readPiMessage adds the usage of one message of the model. It ignores other messages.
func readPiMessage(raw json.RawMessage, r *Report) {
	m, ok := decodeJSON[piMessage](raw)
	if !ok || m.Role != "assistant" {
		return
	}
	r.Model = m.Model
	if text := textOf(m.Content); text != "" {
		r.LastMessage = text
	}
	u := m.Usage
	r.Usage = r.Usage.Plus(Usage{
		Input: new(u.Input), Output: new(u.Output), CacheRead: new(u.CacheRead), CacheWrite: new(u.CacheWrite), CostUSD: new(u.Cost.Total), Turns: new(int64(1)),
	})
}

// readPiEnd records the end of the run, which the last message decides.
func readPiEnd(messages []json.RawMessage, r *Report) {
	if len(messages) == 0 {
		return
	}
	m, ok := decodeJSON[piMessage](messages[len(messages)-1])
	switch {
	case !ok:
	case m.StopReason == "error":
		r.finish(Classify(m.ErrorMessage), m.ErrorMessage)
	case m.StopReason == "aborted":
		r.finish(Crashed, "aborted")
	default:
		r.finish(OK, "")
	}
}

// textOf returns the text of a message's content, which is a string or a list of parts. Parts
// of text are joined by line feeds; other parts, like tool calls, are omitted.
func textOf(content json.RawMessage) string {
	value, _ := decodeJSON[any](content) // nil if there is none
	return messageText(value)
}
