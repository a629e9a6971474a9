package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MaxHint is the longest hint, in bytes.
const MaxHint = 4 << 10

// The files with what a person wants to tell the agent: what is not told yet, and what the
// present iteration is told. Each line is a text in JSON.
const (
	hintsName = "hints.jsonl"
	toldName  = "hints-delivered.jsonl"
)

// ErrHint is wrapped by the error of AddHint about a text that is empty or too long.
var ErrHint = errors.New("not a hint")

// AddHint has a text told to the agent by the next prompt of the loop in dir.
func AddHint(dir, text string) error {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > MaxHint {
		return fmt.Errorf("%w: want a text of at most %d bytes, and it has %d", ErrHint, MaxHint, len(text))
	}
	line, err := json.Marshal(text)
	if err != nil {
		return fmt.Errorf("keep the hint: %w", err)
	}
	return appendHints(filepath.Join(dir, hintsName), append(line, '\n'))
}

func appendHints(path string, lines []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep the hint: %w", err)
	}
	_, err = f.Write(lines)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("keep the hint: %w", err)
	}
	return nil
}

// Hints are the texts that the next prompt tells, in their order. Until [Ledger.HintsTold]
// is called, they are told again: the iteration may be cut off.
func (l *Ledger) Hints() ([]string, error) {
	fresh := filepath.Join(l.dir, hintsName)
	lines, err := os.ReadFile(fresh)
	if err == nil {
		if err = appendHints(l.toldFile(), lines); err == nil {
			err = os.Remove(fresh)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the hints: %w", err)
	}
	text, err := os.ReadFile(l.toldFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the hints: %w", err)
	}
	var out []string
	for line := range bytes.Lines(text) {
		var hint string
		if json.Unmarshal(line, &hint) == nil { // a last line may be torn by a crash
			out = append(out, hint)
		}
	}
	return out, nil
}

// MarkHintsDelivered says that the iteration is over whose prompt told the hints.
func (l *Ledger) MarkHintsDelivered() error {
	if err := os.Remove(l.toldFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the hints: %w", err)
	}
	return nil
}

func (l *Ledger) toldFile() string { return filepath.Join(l.dir, toldName) }
