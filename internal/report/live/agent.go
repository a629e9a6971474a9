package live

import (
	"bytes"
	"io"
	"strings"

	"supervise/internal/textstream"
)

// maxAgentLine bounds what is kept of a line of an agent, in bytes.
const maxAgentLine = 400

// WatchAgent returns what the output of an agent is to be given that nobody knows: its last
// line is what it says.
func (b *Board) WatchAgent() io.WriteCloser { return &agentWriter{board: b} }

// agentWriter reads the last line of an output.
type agentWriter struct {
	board *Board
	rest  []byte // the line that has not ended, as far as it is kept
}

// Write notes the last whole line. It never fails.
func (s *agentWriter) Write(p []byte) (int, error) {
	n := len(p)
	last := bytes.LastIndexAny(p, "\r\n")
	if last >= 0 {
		whole := append(s.rest, p[:last]...)
		lines := bytes.FieldsFunc(whole, func(r rune) bool { return r == '\n' || r == '\r' })
		for i := len(lines) - 1; i >= 0 && !s.note(lines[i]); i-- {
		}
		s.rest, p = s.rest[:0], p[last+1:]
	}
	s.rest = append(s.rest, p[:min(len(p), max(0, maxAgentLine-len(s.rest)))]...)
	return n, nil
}

// note reports whether the line says something.
func (s *agentWriter) note(line []byte) bool {
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

// Close notes the last line, which may not have ended.
func (s *agentWriter) Close() error {
	s.note(s.rest)
	return nil
}
