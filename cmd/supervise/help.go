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

// groups lists the groups of commands in the help, with their titles.
var groups = []struct {
	title    string
	commands []string
}{
	{"Start", []string{"demo", "init", "doctor", "run", "watch", "resume"}},
	{"See what happened", []string{"status", "report", "explain", "diff", "compare", "analytics", "verify"}},
	{"Decide", []string{"approve", "reject", "abort", "pause", "hint", "ack", "select", "rollback", "seal", "clean"}},
	{"Merges and histories", []string{"gate", "mutants", "baseline", "audit", "replay"}},
	{"Agents and orchestrators", []string{"agents", "blocked", "hooks", "hook", "record", "decide"}},
	{"Measure", []string{"measure", "parse", "benchmark"}},
}

// groupCommands assigns the commands to their groups.
func groupCommands(cmd *cobra.Command) {
	groupOf := map[string]string{}
	for _, g := range groups {
		cmd.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, name := range g.commands {
			groupOf[name] = g.title
		}
	}
	for _, sub := range cmd.Commands() {
		sub.GroupID = groupOf[sub.Name()]
	}
}

// finishCommand sets what a command and all below it have in common: the order of flags, the start of
// the help text, and usage errors for wrong arguments. The help text starts with the sentence in
// Short, and Long has only what follows, unless it starts with the same words.
func finishCommand(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		finishCommand(sub)
	}
	cmd.Flags().SortFlags = false
	if cmd.HasParent() && !strings.HasPrefix(cmd.Long, cmd.Short) {
		cmd.Long = strings.TrimSpace(cmd.Short + ".\n\n" + cmd.Long)
	}
	validate := cmd.Args
	if validate == nil {
		validate = cobra.NoArgs
	}
	cmd.Args = func(c *cobra.Command, args []string) error {
		if err := validate(c, args); err != nil {
			return usageError{explainArgumentError(c, args, err)}
		}
		return nil
	}
}

// explainArgumentError returns an error with the usage line, in place of cobra's error about the
// number of arguments.
func explainArgumentError(c *cobra.Command, args []string, err error) error {
	switch {
	case !argumentCountPattern.MatchString(err.Error()):
		return fmt.Errorf("%w; see '%s --help'", err, c.CommandPath())
	case !c.HasParent() && len(args) > 0:
		return unknownCommandError(c, args[0])
	}
	problem := "something is missing"
	if len(args) > 0 {
		problem = "these arguments do not fit: " + strings.Join(args, " ")
	}
	usage, _, _ := strings.Cut(c.UseLine(), " [flags]")
	return fmt.Errorf("%s; write: %s (see '%s --help')", problem, usage, c.CommandPath())
}

// flagRemedies says how to fix a wrong value of a flag, by a pattern for the technical error that
// it replaces, for instance `strconv.ParseInt: parsing "x": invalid syntax`.
var flagRemedies = []struct {
	pattern *regexp.Regexp
	remedy  string
}{
	{regexp.MustCompile(`time: .*`), "give a time with its unit, like 90s, 30m or 8h"},
	{regexp.MustCompile(`strconv\.Parse(Int|Uint).*`), "give a whole number"},
	{regexp.MustCompile(`strconv\.ParseFloat.*`), "give a number"},
	{regexp.MustCompile(`strconv\.ParseBool.*`), "give true or false"},
}

// argumentCountPattern matches cobra's errors about the number of arguments, such as "accepts 1
// arg(s), received 2".
var argumentCountPattern = regexp.MustCompile(`^(accepts |requires |unknown command )`)

// unknownCommandError returns the error about an unknown command, with similar names.
func unknownCommandError(root *cobra.Command, name string) error {
	root.SuggestionsMinimumDistance = 2
	if list := root.SuggestionsFor(name); len(list) > 0 {
		return fmt.Errorf("there is no command %s; did you mean %s?", name, strings.Join(list, ", "))
	}
	return fmt.Errorf("there is no command %s; see 'supervise --help'", name)
}

// suggestFlags names the flags that are similar to the unknown flag in an error, "" if there are
// none.
func suggestFlags(c *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || len(unknown.GetSpecifiedName()) < 3 {
		return ""
	}
	// Cobra can only suggest commands, so each flag becomes a command.
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

// sectionKey is the annotation of a flag with the section of the help that it belongs to.
const sectionKey = "section"

// addFlagSection adds the flags that register defines, under a title in the help.
func addFlagSection(to *pflag.FlagSet, title string, register func(*pflag.FlagSet)) {
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

// commonFlags is the title of the section with the flags that every command has.
const commonFlags = "Common flags"

// flagSections returns the flags of a command by section, in the order of their definition. The
// common flags come last.
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
