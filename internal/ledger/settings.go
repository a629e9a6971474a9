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
	settingsName     = "settings.json"
	measureStateName = "meter.json"
	environmentName  = "around.json"
)

// The errors about settings that callers distinguish.
var (
	// ErrChanged is returned if the settings were changed after the loop was started.
	ErrChanged = errors.New("changed since the loop started")
	// ErrNoSettings is returned for a loop without settings.
	ErrNoSettings = errors.New("its log does not say what it was to do: it was killed too early")
)

// SaveSettings saves the settings of the loop and returns the SHA-256 of the file, in hex.
func (l *Ledger) SaveSettings(v any) (string, error) {
	path := filepath.Join(l.dir, settingsName)
	if err := WriteJSON(path, v); err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read settings: %w", err)
	}
	l.rememberWritten(settingsName, b)
	return sha256Hex(b), nil
}

// ReadSettings reads the settings of the loop in dir into v. Paths in the settings are
// adjusted if the working tree, or one of the other folders, was moved since. The error wraps
// [ErrChanged] if the file does not have the given SHA-256.
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
	if sha256Hex(b) != sum {
		return fmt.Errorf("read %s: %w: start a new loop instead", path, ErrChanged)
	}
	if b, err = applyMoves(b, append(others, FolderMove{settingsRoot(b), workspace})...); err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// SaveMeasureState saves what the meter has learned. It writes nothing if that is unchanged.
func (l *Ledger) SaveMeasureState(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("save the measuring state: %w", err)
	}
	if sum := sha256Hex(b); sum != l.measureStateSum {
		l.measureStateSum = sum
		return WriteFile(filepath.Join(l.dir, measureStateName), append(b, '\n'))
	}
	return nil
}

// SaveEnvironment saves the environment outside the tree at the last accepted iteration.
func (l *Ledger) SaveEnvironment(v any) error {
	b, err := encodeJSON(v, "  ")
	if err != nil {
		return fmt.Errorf("save the environment: %w", err)
	}
	if bytes.Equal(l.written[environmentName], b) {
		return nil
	}
	l.rememberWritten(environmentName, b)
	return WriteFile(filepath.Join(l.dir, environmentName), b)
}

// ReadEnvironment reads what [Ledger.SaveEnvironment] saved. It returns false if nothing was.
func (l *Ledger) ReadEnvironment(v any) (bool, error) {
	return readOptionalJSON(filepath.Join(l.dir, environmentName), v)
}

// ReadMeasureState reads what [Ledger.SaveMeasureState] saved for the loop in dir. A missing
// file is no error.
func ReadMeasureState(dir string, v any) error {
	_, err := readOptionalJSON(filepath.Join(dir, measureStateName), v)
	return err
}
