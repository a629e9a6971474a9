package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// pauseName is the file that requests a loop to pause.
const pauseName = "pause"

// RequestPause asks the loop in dir to pause when its iteration is over.
func RequestPause(dir string) error {
	if err := WriteFile(filepath.Join(dir, pauseName), []byte("pause\n")); err != nil {
		return fmt.Errorf("ask the loop to pause: %w", err)
	}
	return nil
}

// TakePause reports whether the loop was asked to pause since the last call, and clears the
// request.
func (l *Ledger) TakePause() (bool, error) {
	err := os.Remove(filepath.Join(l.dir, pauseName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("take the request to pause: %w", err)
	}
	return true, nil
}

// ActiveLoops lists the loops that a supervisor is working on, in all homes that match the
// glob pattern.
func ActiveLoops(pattern string) ([]State, error) {
	files, err := filepath.Glob(filepath.Join(pattern, "loops", "*", "state.json"))
	if err != nil {
		return nil, fmt.Errorf("list running loops: %w", err)
	}
	var out []State
	for _, file := range files {
		dir := filepath.Dir(file)
		if free, err := IsUnlocked(dir); err != nil || free {
			continue
		}
		if s, err := ReadState(dir); err == nil {
			out = append(out, s)
		}
	}
	return out, nil
}
