//go:build !linux && !darwin

package approval

import "errors"

type terminal struct{}

func openTerminal(path string) (*terminal, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // no terminal is a valid one
	}
	return nil, errors.New("ask at a terminal: not supported on this system")
}

func (*terminal) Write(p []byte) (int, error) { return len(p), nil }

func (*terminal) line() (string, bool) { return "", false }

func (*terminal) close() {}

// TerminalPath returns "": this system has no terminal to ask at.
func TerminalPath() string { return "" }
