package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	settingsName = "settings.json"
	meterName    = "meter.json"
	aroundName   = "around.json"
)

// The errors about settings that callers distinguish.
var (
	// ErrChanged is returned for settings that are not those the loop was started with.
	ErrChanged = errors.New("changed since the loop started")
	// ErrNoSettings is returned for a loop without settings.
	ErrNoSettings = errors.New("its log does not say what it was to do: it was killed too early")
)

// SaveSettings keeps what the loop was asked to do and returns the SHA-256 of
// the file, in hex.
func (l *Ledger) SaveSettings(v any) (string, error) {
	path := filepath.Join(l.dir, settingsName)
	if err := WriteJSON(path, v); err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read settings: %w", err)
	}
	l.keep(settingsName, b)
	return sha(b), nil
}

// ReadSettings reads the settings of the loop in dir. Where its tree lies elsewhere than
// when they were written, so do the folders and files of the tree that they name, and those
// in other folders that have moved. The error wraps [ErrChanged] when the file does not have
// the given SHA-256.
func ReadSettings(dir, sum string, v any, others ...FolderMove) error {
	s, err := ReadState(dir)
	if err != nil {
		return err
	}
	return ReadSettingsAt(s.Workspace, dir, sum, v, others...)
}

// ReadSettingsAt is [ReadSettings] for a loop whose tree is that at workspace.
func ReadSettingsAt(workspace, dir, sum string, v any, others ...FolderMove) error {
	path := filepath.Join(dir, settingsName)
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	if sha(b) != sum {
		return fmt.Errorf("read %s: %w: start a new loop instead", path, ErrChanged)
	}
	if b, err = moved(b, append(others, FolderMove{rootOf(b), workspace})...); err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func sha(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// SaveMeasureState keeps what the measuring has learnt. Without a change nothing is
// written.
func (l *Ledger) SaveMeasureState(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("keep what the measuring learnt: %w", err)
	}
	if sum := sha(b); sum != l.meter {
		l.meter = sum
		return WriteFile(filepath.Join(l.dir, meterName), append(b, '\n'))
	}
	return nil
}

// SaveEnvironment keeps what stood around the tree when the last accepted iteration
// was judged.
func (l *Ledger) SaveEnvironment(v any) error {
	b, err := encoded(v, "  ")
	if err != nil {
		return fmt.Errorf("keep what stands around the tree: %w", err)
	}
	if bytes.Equal(l.own[aroundName], b) {
		return nil
	}
	l.keep(aroundName, b)
	return WriteFile(filepath.Join(l.dir, aroundName), b)
}

// ReadEnvironment reads what SaveAround kept, and false when there is nothing.
func (l *Ledger) ReadEnvironment(v any) (bool, error) {
	err := readJSON(filepath.Join(l.dir, aroundName), v)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// ReadMeasureState reads what the measuring of the loop in dir had learnt. Nothing is no error.
func ReadMeasureState(dir string, v any) error {
	err := readJSON(filepath.Join(dir, meterName), v)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
