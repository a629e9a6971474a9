package live

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"supervise/internal/textstream"
)

// maxAgentLine limits how much of a line of an agent is kept, in bytes.
const maxAgentLine = 400

// WatchAgent returns a writer for the output of an unknown agent. The board shows the last line as
// the agent's message.
func (b *Board) WatchAgent() io.WriteCloser { return &agentWriter{board: b} }

// agentWriter shows the last line of an agent's output on the board.
type agentWriter struct {
	board   *Board
	pending []byte // the start of the line that has not ended
}

// Write shows the last complete line. It never fails.
func (s *agentWriter) Write(p []byte) (int, error) {
	n := len(p)
	if last := bytes.LastIndexAny(p, "\r\n"); last >= 0 {
		complete := append(s.pending, p[:last]...)
		lines := bytes.FieldsFunc(complete, func(r rune) bool { return r == '\n' || r == '\r' })
		for _, line := range slices.Backward(lines) {
			if s.recordLine(line) {
				break
			}
		}
		s.pending, p = s.pending[:0], p[last+1:]
	}
	s.pending = append(s.pending, p[:min(len(p), max(0, maxAgentLine-len(s.pending)))]...)
	return n, nil
}

// recordLine shows a line, and reports whether it contains visible text.
func (s *agentWriter) recordLine(line []byte) bool {
	text := visibleLine(textstream.StripANSI(string(line[:min(len(line), maxAgentLine)])))
	if strings.TrimSpace(text) == "" {
		return false
	}
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	if !s.board.agentReports {
		s.board.state.AgentMessage = text
		s.board.notifyListeners()
	}
	return true
}

// Close shows the last line, which may not have ended.
func (s *agentWriter) Close() error {
	s.recordLine(s.pending)
	return nil
}
