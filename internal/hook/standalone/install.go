package standalone

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/hook"
	"supervise/internal/ledger"
	"supervise/internal/projectfile"
)

// ErrSettings is wrapped by errors about a configuration that hooks cannot be merged into or
// removed from.
var ErrSettings = errors.New("the configuration of the agent")

// State describes the hooks of supervise that a client has.
type State struct {
	Client string   `json:"client"`
	Scope  string   `json:"scope"` // project or user
	File   string   `json:"file,omitempty"`
	Plugin string   `json:"plugin,omitempty"`
	Events []string `json:"events"` // the events that have a hook
	Note   string   `json:"note,omitempty"`
}

// Location returns the file with the hooks.
func (s State) Location() string {
	return cmp.Or(s.File, s.Plugin)
}

// Install adds the hooks to the configuration of a client.
func Install(s hook.Settings, r hook.InstallRequest) error {
	if s.Path != "" {
		before, err := read(s.Path)
		if err != nil {
			return err
		}
		after, err := s.Merge(before, r)
		if err != nil {
			return fmt.Errorf("install hooks in %w %s: %w", ErrSettings, s.Path, err)
		}
		if err := write(s.Path, after); err != nil {
			return err
		}
	}
	if s.Plugin == "" {
		return nil
	}
	return write(s.Plugin, hook.PluginText(r))
}

// Remove removes the hooks from the configuration of a client.
func Remove(s hook.Settings, client hook.Client) error {
	if s.Path != "" {
		before, err := read(s.Path)
		if err != nil {
			return err
		}
		left, found, err := s.Remove(client, before)
		switch {
		case err != nil:
			return fmt.Errorf("remove hooks from %w %s: %w", ErrSettings, s.Path, err)
		case found && left == nil:
			err = removeFile(s.Path)
		case found:
			err = write(s.Path, left)
		}
		if err != nil {
			return fmt.Errorf("remove hooks from %s: %w", s.Path, err)
		}
	}
	if s.Plugin == "" {
		return nil
	}
	if err := removeFile(s.Plugin); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the plugin: %w", err)
	}
	return nil
}

// removeFile removes a file of supervise, and its empty parent folders up to that of the client,
// whose name starts with a dot.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	var folders []string
	for dir := filepath.Dir(path); len(folders) < maxFolders; dir = filepath.Dir(dir) {
		if folders = append(folders, dir); strings.HasPrefix(filepath.Base(dir), ".") {
			for _, dir := range folders {
				_ = os.Remove(dir) // fails if it is not empty
			}
			break
		}
	}
	return nil
}

// maxFolders is the greatest depth of a client's file below the client's folder.
const maxFolders = 3

// ReadState returns which hooks a client has in its configuration for a scope, "project" or
// "user".
func ReadState(s hook.Settings, client hook.Client, scope string) (State, error) {
	state := State{Client: string(client), Scope: scope, File: s.Path, Plugin: s.Plugin, Events: []string{}, Note: s.Note}
	if s.Plugin != "" {
		if _, err := os.Stat(s.Plugin); err != nil {
			return state, nil //nolint:nilerr // no file, no hooks
		}
	}
	if s.Path == "" {
		state.Events = hook.Events(client)
		return state, nil
	}
	text, err := read(s.Path)
	if err != nil {
		return state, err
	}
	events, err := s.InstalledEvents(client, text)
	if err != nil {
		return state, fmt.Errorf("read %s: %w", s.Path, err)
	}
	state.Events = append(state.Events, events...)
	return state, nil
}

// read returns the content of a file, or nil if it is missing. An empty file is not nil.
func read(path string) ([]byte, error) {
	text, err := projectfile.ReadAnywhere(path, projectfile.Manifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the configuration of the agent: %w", err)
	case text == nil:
		text = []byte{} // the file exists and is empty
	}
	return text, nil
}

// write replaces a file of the user. It follows links and keeps the permissions.
func write(path string, text []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = ledger.WriteFile(path, text)
	}
	if err == nil {
		err = os.Chmod(path, mode)
	}
	if err != nil {
		return fmt.Errorf("write the configuration of the agent: %w", err)
	}
	return nil
}
