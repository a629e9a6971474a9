package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/hook"
	"supervise/internal/ledger"

	"github.com/spf13/cobra"
)

// hooksFlags are the flags of hooks.
type hooksFlags struct {
	user, json bool
	onError    string
}

// hooksState is where the hooks of a client stand.
type hooksState struct {
	Client string   `json:"client"`
	Scope  string   `json:"scope"` // project or user
	File   string   `json:"file,omitempty"`
	Plugin string   `json:"plugin,omitempty"`
	Events []string `json:"events"` // that are hooked; empty for none
	Note   string   `json:"note,omitempty"`
}

func (a *app) hooksCmd() *cobra.Command {
	f := &hooksFlags{}
	cmd := &cobra.Command{
		Use:   "hooks",
		Short: "Install or remove the hooks of an agent program",
		Long: `Hooks writes into the configuration of an agent program that it is to ask supervise
before each tool call, also where it is not started by supervise. What stands there
is kept; install may be repeated, and remove undoes it. A run needs none of this: it
installs hooks for itself, by flags or the environment.`,
		Example: "  supervise hooks install claude\n  supervise hooks install codex --user\n  supervise hooks status",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.BoolVar(&f.user, "user", false, "in the configuration of the user instead of the project")
	flags.BoolVar(&f.json, "json", false, "print as JSON")
	install := &cobra.Command{
		Use: "install CLIENT", Short: "Add the hooks to the configuration of an agent program", Args: cobra.ExactArgs(1),
		Example: "  supervise hooks install claude\n  supervise hooks install codex --user",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.hooksInstall(cmd, f, args[0]) },
	}
	install.Flags().StringVar(&f.onError, "on-error", "open", "open: a call passes when its hook fails; closed: it is denied")
	remove := &cobra.Command{
		Use: "remove CLIENT", Short: "Take the hooks out of it again", Args: cobra.ExactArgs(1),
		Example: "  supervise hooks remove claude",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.hooksRemove(cmd, f, args[0]) },
	}
	status := &cobra.Command{
		Use: "status [CLIENT]", Short: "Say which hooks are installed", Args: cobra.MaximumNArgs(1),
		Example: "  supervise hooks status",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.hooksStatus(cmd, f, args) },
	}
	for _, sub := range []*cobra.Command{install, remove, status} {
		finish(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

// settingsOf returns the client of that name and where its hooks stand.
func (a *app) settingsOf(cmd *cobra.Command, f *hooksFlags, name string) (hook.Client, hook.Settings, error) {
	client, err := hook.ParseClient(name)
	if err != nil {
		return "", hook.Settings{}, usageError{err}
	}
	at, err := a.place(cmd.Context())
	if err != nil {
		return "", hook.Settings{}, err
	}
	home := ""
	if f.user {
		if home, err = os.UserHomeDir(); err != nil {
			return "", hook.Settings{}, fmt.Errorf("find the home of the user: %w", err)
		}
	}
	s, err := hook.SettingsOf(client, at.root, home)
	return client, s, err
}

func (a *app) hooksInstall(cmd *cobra.Command, f *hooksFlags, name string) error {
	if f.onError != "open" && f.onError != "closed" {
		return usageError{fmt.Errorf("--on-error is open or closed, not %s", f.onError)}
	}
	client, s, err := a.settingsOf(cmd, f, name)
	if err != nil {
		return err
	}
	r := hook.Request{Client: client, Binary: program(), Closed: f.onError == "closed"}
	if s.Path != "" {
		before, err := readSettings(s.Path)
		if err != nil {
			return err
		}
		after, err := s.Merge(before, r)
		if err != nil {
			return usageError{fmt.Errorf("install hooks in %s: %w", s.Path, err)}
		}
		if err := writeSettings(s.Path, after); err != nil {
			return err
		}
	}
	if s.Plugin != "" {
		if err := writeSettings(s.Plugin, hook.PluginText(r)); err != nil {
			return err
		}
	}
	return a.hooksTold(f, client, s, "installed: %s asks supervise now, by %s\n")
}

func (a *app) hooksRemove(cmd *cobra.Command, f *hooksFlags, name string) error {
	client, s, err := a.settingsOf(cmd, f, name)
	if err != nil {
		return err
	}
	if s.Path != "" {
		before, err := readSettings(s.Path)
		if err != nil {
			return err
		}
		left, found, err := s.Remove(client, before)
		switch {
		case err != nil:
			return usageError{fmt.Errorf("remove hooks from %s: %w", s.Path, err)}
		case found && left == nil:
			err = os.Remove(s.Path)
		case found:
			err = writeSettings(s.Path, left)
		}
		if err != nil {
			return fmt.Errorf("remove hooks from %s: %w", s.Path, err)
		}
	}
	if s.Plugin != "" {
		if err := os.Remove(s.Plugin); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the plugin: %w", err)
		}
	}
	s.Note = ""
	return a.hooksTold(f, client, s, "removed: %s has no hooks of supervise in %s\n")
}

func (a *app) hooksTold(f *hooksFlags, c hook.Client, s hook.Settings, format string) error {
	if f.json {
		state, err := hooksIn(f, c, s)
		if err != nil {
			return err
		}
		return a.encode(state)
	}
	where := s.Path
	if where == "" {
		where = s.Plugin
	}
	fmt.Fprintf(a.out, format, c, where)
	if s.Note != "" {
		fmt.Fprintf(a.err, "note: %s\n", s.Note)
	}
	return nil
}

func (a *app) hooksStatus(cmd *cobra.Command, f *hooksFlags, args []string) error {
	names := args
	if len(names) == 0 {
		for _, c := range hook.Clients() {
			names = append(names, string(c))
		}
	}
	var list []hooksState
	for _, name := range names {
		for _, user := range []bool{false, true} {
			scope := *f
			scope.user = user
			client, s, err := a.settingsOf(cmd, &scope, name)
			if err != nil {
				return err
			}
			state, err := hooksIn(&scope, client, s)
			if err != nil {
				return err
			}
			list = append(list, state)
		}
	}
	if f.json {
		return a.encode(list)
	}
	for _, s := range list {
		text := "no hooks"
		if len(s.Events) > 0 {
			text = strings.Join(s.Events, ", ")
		}
		file := s.File
		if file == "" {
			file = s.Plugin
		}
		fmt.Fprintf(a.out, "%-9s %-8s %-52s %s\n", s.Client, s.Scope, text, file)
	}
	return nil
}

// hooksIn looks which hooks of ours a client has.
func hooksIn(f *hooksFlags, c hook.Client, s hook.Settings) (hooksState, error) {
	state := hooksState{Client: string(c), Scope: "project", File: s.Path, Plugin: s.Plugin, Events: []string{}, Note: s.Note}
	if f.user {
		state.Scope = "user"
	}
	if s.Plugin != "" {
		if _, err := os.Stat(s.Plugin); err != nil {
			return state, nil //nolint:nilerr // without it no hook is called
		}
	}
	if s.Path == "" {
		state.Events = hook.Events(c)
		return state, nil
	}
	text, err := readSettings(s.Path)
	if err != nil {
		return state, err
	}
	events, err := s.Has(c, text)
	if err != nil {
		return state, fmt.Errorf("read %s: %w", s.Path, err)
	}
	state.Events = append(state.Events, events...)
	return state, nil
}

// readSettings reads a file that need not be there.
func readSettings(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the configuration of the agent: %w", err)
	}
	return text, nil
}

// writeSettings writes a file of the user's: what a link points to is written, and
// its permissions stay.
func writeSettings(path string, text []byte) error {
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
