package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"supervise/test/docs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands are all commands that users call, subcommands after their command.
func commands(t *testing.T) []*cobra.Command {
	t.Helper()
	t.Setenv("SUPERVISE_STATE_DIR", "")
	t.Setenv("SUPERVISE_HOOK_SOCKET", "")
	a := &app{output: outputTo(streams{in: os.Stdin, out: io.Discard, err: io.Discard})}
	var out []*cobra.Command
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && sub.Runnable() {
				out = append(out, sub)
				walk(sub)
			}
		}
	}
	walk(a.newRootCmd())
	return out
}

// cell is a text within a table of Markdown.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// usageLine is how a command is called, without the word [flags].
func usageLine(cmd *cobra.Command) string {
	return strings.TrimSpace(strings.ReplaceAll(cmd.UseLine(), " [flags]", ""))
}

// TestCommandsAreDocumented compares the list of commands in docs/commands.md with the
// commands themselves. Their flags are documented by --help alone.
func TestCommandsAreDocumented(t *testing.T) {
	var list strings.Builder
	all := commands(t)
	for _, g := range append(all[0].Root().Groups(), &cobra.Group{Title: "Other commands:"}) {
		fmt.Fprintf(&list, "%s\n\n| command | what it does |\n|---|---|\n", g.Title)
		for _, cmd := range all {
			if top, _, _ := strings.Cut(strings.TrimPrefix(cmd.CommandPath(), "supervise "), " "); groupOf(cmd, top) == g.ID {
				fmt.Fprintf(&list, "| `%s` | %s |\n", cell(strings.TrimPrefix(usageLine(cmd), "supervise ")), cell(cmd.Short))
			}
		}
		list.WriteString("\n")
	}
	docs.Block(t, "commands.md", "commands", "./cmd/supervise", list.String())
}

// groupOf is the group of the help that a command, or the command above it, is in.
func groupOf(cmd *cobra.Command, top string) string {
	for cmd.Name() != top {
		cmd = cmd.Parent()
	}
	return cmd.GroupID
}

// Every flag has a meaning, and all commands that measure have the same flags of checks.
func TestFlagsHaveMeanings(t *testing.T) {
	checks := ""
	for _, cmd := range commands(t) {
		for _, s := range flagSections(cmd) {
			var list strings.Builder
			s.flags.VisitAll(func(f *pflag.Flag) {
				value, meaning := pflag.UnquoteUsage(f)
				if meaning == "" {
					t.Errorf("%s: --%s has no usage text", cmd.CommandPath(), f.Name)
				}
				fmt.Fprintf(&list, "--%s %s: %s\n", f.Name, value, meaning)
			})
			switch {
			case s.title != "Checks":
			case checks == "":
				checks = list.String()
			case checks != list.String():
				t.Errorf("%s has other flags of checks:\n%s", cmd.CommandPath(), list.String())
			}
		}
	}
	if checks == "" {
		t.Error("no command has flags of checks")
	}
}

// TestExitStatusesAreDocumented compares docs/commands.md with the table of exit
// statuses, and that table with the statuses that errors lead to.
func TestExitStatusesAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| exit status | meaning |\n|---|---|\n")
	known := map[int]bool{}
	for _, row := range exitStatuses {
		fmt.Fprintf(&b, "| %d | %s |\n", row.code, cell(row.meaning))
		known[row.code] = true
	}
	docs.Block(t, "commands.md", "exit statuses", "./cmd/supervise", b.String())
	for _, row := range exitCodes {
		if !known[row.code] {
			t.Errorf("%q end with status %d, which exitStatuses in exit.go lacks", row.errors, row.code)
		}
	}
}

// TestCommandsHaveHelpAndScript checks that the help of each command has an example,
// lists it in a group, and that a script or test runs it.
func TestCommandsHaveHelpAndScript(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var run strings.Builder
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		run.Write(text)
	}
	for _, cmd := range commands(t) {
		path := cmd.CommandPath()
		if generated := strings.HasPrefix(path, "supervise completion") || cmd.Name() == "help"; generated {
			continue
		}
		if !strings.Contains(cmd.Example, path) && !cmd.HasSubCommands() {
			t.Errorf("%s: its help has no example: set Example of the command to a line that runs %q", path, path)
		}
		if called := regexp.MustCompile(`(?m)^(! )?(exec|status) .*\b` + path + `\b`); !called.MatchString(run.String()) {
			t.Errorf("%s: no script runs it: add a file to cmd/supervise/testdata/script with a line that runs %q", path, "exec "+path)
		}
		if parent := cmd.Parent(); !parent.HasParent() && cmd.GroupID == "" && cmd.Name() != "man" && cmd.Name() != "version" {
			t.Errorf("%s: the help lists it in no group: add %q to groups in help.go", path, cmd.Name())
		}
	}
}

// TestOptionsNeedNoCommandLine runs a command by its options alone, as the code of
// another command, or a test, may do.
func TestOptionsNeedNoCommandLine(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report.xml")
	if err := os.WriteFile(report, []byte(`<testsuite><testcase name="a"/><testcase name="b"><failure/></testcase></testsuite>`), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	a := &app{output: outputTo(streams{in: os.Stdin, out: &out, err: io.Discard})}
	if err := runParse(a, parseOptions{files: []string{report}}); err != nil || a.code != 0 {
		t.Fatalf("status %d, %v", a.code, err)
	}
	if want := "tests     2: 1 passed, 1 failed"; !strings.Contains(out.String(), want) {
		t.Errorf("%q is not in:\n%s", want, out.String())
	}
}
