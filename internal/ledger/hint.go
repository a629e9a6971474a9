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

// The files with the hints of the user for the agent: those that wait for the next prompt,
// and those in the prompt of the current iteration. Each line is a JSON string.
const (
	hintsName     = "hints.jsonl"
	deliveredName = "hints-delivered.jsonl"
)

// ErrHint is wrapped by the error of AddHint about a text that is empty or too long.
var ErrHint = errors.New("not a hint")

// AddHint adds a text to the next prompt of the loop in dir.
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

// Hints returns the hints for the next prompt, in order. They are returned again until
// [Ledger.MarkHintsDelivered] is called, because the iteration may be interrupted.
func (l *Ledger) Hints() ([]string, error) {
	fresh := filepath.Join(l.dir, hintsName)
	lines, err := os.ReadFile(fresh)
	if err == nil {
		if err = appendHints(l.deliveredFile(), lines); err == nil {
			err = os.Remove(fresh)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the hints: %w", err)
	}

	text, err := os.ReadFile(l.deliveredFile())
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

// MarkHintsDelivered removes the hints of the iteration that has ended.
func (l *Ledger) MarkHintsDelivered() error {
	if err := os.Remove(l.deliveredFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the hints: %w", err)
	}
	return nil
}

func (l *Ledger) deliveredFile() string { return filepath.Join(l.dir, deliveredName) }
