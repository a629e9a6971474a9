package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"supervise/internal/hook"
	"supervise/internal/hook/standalone"

	"github.com/spf13/cobra"
)

// hooksOptions are the options of supervise hooks and its subcommands.
type hooksOptions struct {
	client     string // name of an agent; "" means all
	user, json bool
	onError    string
}

func newHooksCmd(a *app) *cobra.Command {
	var o hooksOptions
	cmd := &cobra.Command{
		Use: "hooks", Short: "Install or remove supervise's hooks in an agent program",
		Long: `With hooks in its own configuration, an agent asks supervise before each tool call even
outside of a loop. Other settings are kept, install may be repeated, and remove reverts
it. supervise run needs none of this: it passes hooks by flags or the environment.`,
		Example: `  supervise hooks install claude
  supervise hooks install codex --user
  supervise hooks status`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}

	sub := func(use, short, example string, args cobra.PositionalArgs, run func(context.Context, *app, hooksOptions) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Example: example, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
			o.client = firstArg(args)
			return run(cmd.Context(), a, o)
		}}
		c.Flags().BoolVar(&o.user, "user", false, "in the configuration of the user instead of the project")
		c.Flags().BoolVar(&o.json, "json", false, "print as JSON")
		cmd.AddCommand(c)
		return c
	}

	install := sub("install CLIENT", "Add the hooks to an agent's configuration", "  supervise hooks install claude\n  supervise hooks install codex --user", cobra.ExactArgs(1), runHooksInstall)
	install.Flags().StringVar(&o.onError, "on-error", "open", "open: a call passes when its hook fails; closed: it is denied")
	sub("remove CLIENT", "Remove the hooks from an agent's configuration", "  supervise hooks remove claude", cobra.ExactArgs(1), runHooksRemove)
	sub("status [CLIENT]", "Show which hooks are installed", "  supervise hooks status\n  supervise hooks status claude --json", cobra.MaximumNArgs(1), runHooksStatus)
	return cmd
}

// hookSettings returns the client with that name, and the file of its settings that contains its
// hooks.
func (a *app) hookSettings(ctx context.Context, name string, user bool) (hook.Client, hook.Settings, error) {
	client, err := hook.ParseClient(name)
	if err != nil {
		return "", hook.Settings{}, usageError{err}
	}
	at, err := a.workspace(ctx)
	if err != nil {
		return "", hook.Settings{}, err
	}
	home := ""
	if user {
		if home, err = os.UserHomeDir(); err != nil {
			return "", hook.Settings{}, fmt.Errorf("find the home of the user: %w", err)
		}
	}
	s, err := hook.LocateSettings(client, at.root, home)
	return client, s, err
}

func runHooksInstall(ctx context.Context, a *app, o hooksOptions) error {
	if o.onError != "open" && o.onError != "closed" {
		return usageError{fmt.Errorf("--on-error is open or closed, not %s", o.onError)}
	}
	client, s, err := a.hookSettings(ctx, o.client, o.user)
	if err != nil {
		return err
	}
	if err := standalone.Install(s, hook.InstallRequest{Client: client, Binary: executablePath(), FailClosed: o.onError == "closed"}); err != nil {
		return err
	}
	return a.printHooks(o, client, s, "installed: %s asks supervise, by %s\n")
}

func runHooksRemove(ctx context.Context, a *app, o hooksOptions) error {
	client, s, err := a.hookSettings(ctx, o.client, o.user)
	if err != nil {
		return err
	}
	if err := standalone.Remove(s, client); err != nil {
		return err
	}
	s.Note = ""
	return a.printHooks(o, client, s, "removed: %s has no hooks of supervise in %s\n")
}

// printHooks prints the result of an installation or a removal.
func (a *app) printHooks(o hooksOptions, c hook.Client, s hook.Settings, format string) error {
	if o.json {
		state, err := standalone.ReadState(s, c, settingsScope(o.user))
		if err != nil {
			return err
		}
		return a.encode(state)
	}
	fmt.Fprintf(a.out, format, c, cmp.Or(s.Path, s.Plugin))
	a.printNotes(s.Note)
	return nil
}

// settingsScope says whose settings are meant: those of the project or of the user.
func settingsScope(user bool) string {
	if user {
		return "user"
	}
	return "project"
}

func runHooksStatus(ctx context.Context, a *app, o hooksOptions) error {
	clients := hook.Clients()
	if o.client != "" {
		clients = []hook.Client{hook.Client(o.client)}
	}

	var list []standalone.State
	for _, c := range clients {
		for _, user := range []bool{false, true} {
			client, s, err := a.hookSettings(ctx, string(c), user)
			if err != nil {
				return err
			}
			state, err := standalone.ReadState(s, client, settingsScope(user))
			if err != nil {
				return err
			}
			list = append(list, state)
		}
	}

	if o.json {
		return a.encode(list)
	}
	for _, s := range list {
		fmt.Fprintf(a.out, "%-9s %-8s %-52s %s\n", s.Client, s.Scope, cmp.Or(strings.Join(s.Events, ", "), "no hooks"), s.Location())
	}
	return nil
}
