package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groups are the commands as the help lists them.
var groups = []struct {
	title    string
	commands []string
}{
	{"Start", []string{"demo", "init", "doctor", "run", "watch", "resume"}},
	{"See what happened", []string{"status", "report", "explain", "diff", "compare", "analytics", "verify"}},
	{"Decide", []string{"approve", "reject", "abort", "pause", "hint", "ack", "select", "rollback", "clean"}},
	{"Merges and histories", []string{"gate", "baseline", "audit", "replay"}},
	{"Agents and orchestrators", []string{"agents", "blocked", "hooks", "hook", "record", "decide"}},
	{"Measure", []string{"measure", "parse", "benchmark"}},
}

// group sorts the commands of the help into groups.
func group(cmd *cobra.Command) {
	of := map[string]string{}
	for _, g := range groups {
		cmd.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, name := range g.commands {
			of[name] = g.title
		}
	}
	for _, sub := range cmd.Commands() {
		sub.GroupID = of[sub.Name()]
	}
}

// finish gives a command what all of them have: the exit statuses in its help,
// and wrong arguments as wrong usage.
func finish(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	if cmd.Long == "" {
		cmd.Long = cmd.Short + "."
	}
	args := cmd.Args
	if args == nil {
		args = cobra.NoArgs
	}
	cmd.Args = func(c *cobra.Command, list []string) error {
		err := args(c, list)
		switch {
		case err == nil:
			return nil
		case !ofCobra.MatchString(err.Error()):
			return usageError{fmt.Errorf("%w; see '%s --help'", err, c.CommandPath())}
		}
		if !c.HasParent() && len(list) > 0 {
			return usageError{unknownCommand(c, list[0])}
		}
		usage, _, _ := strings.Cut(c.UseLine(), " [flags]")
		what := "something is missing"
		if len(list) > 0 {
			what = "these arguments do not fit: " + strings.Join(list, " ")
		}
		return usageError{fmt.Errorf("%s; write: %s (see '%s --help')", what, usage, c.CommandPath())}
	}
}

// flagFaults are what the errors of flags say about the insides of Go, and what helps
// instead.
var flagFaults = []struct {
	of     *regexp.Regexp
	remedy string
}{
	{regexp.MustCompile(`time: .*`), "give a time with its unit, like 90s, 30m or 8h"},
	{regexp.MustCompile(`strconv\.Parse(Int|Uint).*`), "give a whole number"},
	{regexp.MustCompile(`strconv\.ParseFloat.*`), "give a number"},
	{regexp.MustCompile(`strconv\.ParseBool.*`), "give true or false"},
}

// ofCobra are errors of cobra about how many arguments there are.
var ofCobra = regexp.MustCompile(`^(accepts |requires |unknown command )`)

// unknownCommand is the error about a command that is none, with what may be meant.
func unknownCommand(root *cobra.Command, name string) error {
	root.SuggestionsMinimumDistance = 2
	if list := root.SuggestionsFor(name); len(list) > 0 {
		return fmt.Errorf("there is no command %s; did you mean %s?", name, strings.Join(list, ", "))
	}
	return fmt.Errorf("there is no command %s; see 'supervise --help'", name)
}

// meantFlag names the flags that may be meant by one that there is not.
func meantFlag(c *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || len(unknown.GetSpecifiedName()) < 3 {
		return ""
	}
	// The search that cobra has for commands, over flags.
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		names.AddCommand(&cobra.Command{Use: f.Name, Hidden: f.Hidden, Run: func(*cobra.Command, []string) {}})
	})
	list := names.SuggestionsFor(unknown.GetSpecifiedName())
	if len(list) == 0 {
		return ""
	}
	return "; did you mean --" + strings.Join(list, ", --") + "?"
}

// showHelp prints the help of a command: what it does, usage, examples, and its
// subcommands and flags by purpose.
func showHelp(cmd *cobra.Command, _ []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short+".")))
	if cmd.Runnable() {
		fmt.Fprintf(&b, "\nUsage:\n  %s\n", cmd.UseLine())
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	listCommands(&b, cmd)
	if cmd.Runnable() {
		for _, s := range flagSections(cmd) {
			fmt.Fprintf(&b, "\n%s:\n%s", s.title, s.flags.FlagUsages())
		}
	}
	if !cmd.HasParent() {
		b.WriteString("\nExit statuses: supervise help exit-status\n")
	}
	fmt.Fprint(cmd.OutOrStdout(), b.String())
}

// listCommands lists the subcommands of a command by group.
func listCommands(b *strings.Builder, cmd *cobra.Command) {
	list := func(title, id string) {
		for _, sub := range cmd.Commands() {
			if sub.GroupID != id || !sub.IsAvailableCommand() {
				continue
			}
			if title != "" {
				fmt.Fprintf(b, "\n%s:\n", title)
				title = ""
			}
			fmt.Fprintf(b, "  %-*s %s\n", cmd.NamePadding(), sub.Name(), sub.Short)
		}
	}
	for _, g := range cmd.Groups() {
		list(g.ID, g.ID)
	}
	list("Other commands", "")
}

// sectionKey annotates a flag with the section of the help that it belongs to.
const sectionKey = "section"

// section registers flags that serve one purpose, under a title of the help.
func section(to *pflag.FlagSet, title string, register func(*pflag.FlagSet)) {
	flags := pflag.NewFlagSet(title, pflag.ContinueOnError)
	flags.SortFlags = false
	register(flags)
	flags.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{sectionKey: {title}} })
	to.AddFlagSet(flags)
}

// flagSection is a titled part of a command's flags.
type flagSection struct {
	title string
	flags *pflag.FlagSet
}

// commonFlags is the title of the flags that every command has.
const commonFlags = "Common flags"

// flagSections splits the flags of a command by purpose, in the order in which they
// are defined, with those that every command has at the end.
func flagSections(cmd *cobra.Command) (out []flagSection) {
	add := func(f *pflag.Flag, title string) {
		if list := f.Annotations[sectionKey]; len(list) > 0 {
			title = list[0]
		}
		i := slices.IndexFunc(out, func(s flagSection) bool { return s.title == title })
		if i < 0 {
			i = len(out)
			out = append(out, flagSection{title, pflag.NewFlagSet(title, pflag.ContinueOnError)})
			out[i].flags.SortFlags = false
		}
		out[i].flags.AddFlag(f)
	}
	common := cmd.Root().PersistentFlags()
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && common.Lookup(f.Name) == nil {
			add(f, "Flags")
		}
	})
	common.VisitAll(func(f *pflag.Flag) { add(f, commonFlags) })
	return out
}
