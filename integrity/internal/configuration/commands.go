package configuration

import (
	"cmp"
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
)

// effectRule finds the calls with a trait that the same calls did not have before.
func effectRule(e framework.Effect) func(*facts.Set) []facts.Finding {
	return func(c *facts.Set) []facts.Finding {
		var out []facts.Finding
		for _, f := range facts.ConfigFiles.Of(c) {
			for _, is := range f.CallsIs {
				for _, m := range is.Marks {
					if m.Effect != e || !newMark(c, is, m) {
						continue
					}
					if s := weigh(c, f, is, m); s != 0 {
						out = append(out, facts.Finding{File: f.Path, Line: is.Line, Severity: s, Evidence: facts.Evidence(is.Text)})
					}
				}
			}
		}
		return out
	}
}

// calls counts the calls of a program in the changed files, before or after,
// that satisfy a condition.
func calls(c *facts.Set, after bool, ok func(*facts.ConfigFile, configtext.Call) bool) int {
	n := 0
	for _, f := range facts.ConfigFiles.Of(c) {
		list := f.CallsWas
		if after {
			list = f.CallsIs
		}
		for _, x := range list {
			if ok(f, x) {
				n++
			}
		}
	}
	return n
}

// newMark reports whether more calls of the program have the mark than before:
// one that moved, between lines or files, is not new.
func newMark(c *facts.Set, is configtext.Call, m configtext.Mark) bool {
	same := func(_ *facts.ConfigFile, x configtext.Call) bool {
		return x.Name == is.Name && slices.Contains(x.Marks, m)
	}
	return calls(c, true, same) > calls(c, false, same)
}

// weigh returns the severity of a new mark, 0 for none. It counts only if a call
// without it is gone: an additional call whose failure is ignored, or that runs a part,
// takes nothing away.
func weigh(c *facts.Set, f *facts.ConfigFile, is configtext.Call, m configtext.Mark) metric.Severity {
	clean := func(_ *facts.ConfigFile, x configtext.Call) bool {
		return x.Name == is.Name && !slices.Contains(x.Marks, m)
	}
	here := func(g *facts.ConfigFile, x configtext.Call) bool {
		return g == f && x.Key == is.Key && x.Purpose == is.Purpose && !slices.Contains(x.Marks, m)
	}
	replaced := calls(c, true, clean) < calls(c, false, clean) || calls(c, false, here) > 0 && calls(c, true, here) == 0
	if !replaced && !configtext.AddsArguments(is.Key) {
		if m.Effect == framework.Mask && m.Name != configtext.Unchecked {
			return metric.Medium
		}
		return 0
	}
	return severity(m, calls(c, false, func(_ *facts.ConfigFile, x configtext.Call) bool { return x.Name == is.Name && x.Has(m.Effect, m.Name) }) > 0)
}

// gentle are the arguments that legitimate projects use to divide their tests.
var gentle = strings.Fields("--project -m -short -test.short -t --tag --lib --bins --exclude-group --group --testsuite --spec --only -P --pattern -Dgroups -DexcludedGroups --test_tag_filters -L -LE -x --selectProjects --dir -p --package --test --doc --example --bin -E --filterset -pl --projects --suite --no-suite --tag --exclude-tag -c -F --shard --shard-id --test-shard --partition --partitions")

// severity is that of a mark. had says that the argument was there before
// with another value.
func severity(m configtext.Mark, had bool) metric.Severity {
	switch m.Effect {
	case framework.Mask:
		return masking(m)
	case framework.RunNone:
		return metric.Critical
	case framework.Update:
		return metric.High
	case framework.Loosen, framework.HideCode, framework.Allow, framework.StopEarly:
		return metric.Medium
	default:
	}
	switch {
	case m.Effect == framework.Focus && had && !strings.Contains(m.Value, "not ") && !strings.Contains(m.Value, "!"):
		return metric.Medium
	case slices.Contains(gentle, m.Name) && (m.Effect == framework.Exclude || m.Name != "-t"):
		return metric.High
	}
	return metric.Critical
}

// masking is the severity of a mark by which a failure is ignored.
func masking(m configtext.Mark) metric.Severity {
	if m.Name == configtext.Unchecked || slices.ContainsFunc([]string{"--pass", "--no-tests", "when: "}, func(p string) bool { return strings.HasPrefix(m.Name, p) }) {
		return metric.High
	}
	return metric.Critical
}

// rewritten finds the commands that no longer run tests, neither there nor in another
// changed file.
func rewritten(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, f := range facts.ConfigFiles.Of(c) {
		out = append(out, rewrittenIn(c, f)...)
	}
	return out
}

func rewrittenIn(c *facts.Set, f *facts.ConfigFile) []facts.Finding {
	type place struct {
		key     string
		purpose framework.Purpose
	}
	var out []facts.Finding
	done := map[place]bool{}
	calls := slices.Clone(f.CallsWas)
	slices.SortStableFunc(calls, func(a, b configtext.Call) int { return cmp.Compare(guess(a), guess(b)) })
	for _, was := range calls {
		at := place{was.Key, was.Purpose}
		if done[at] || configtext.AddsArguments(was.Key) || was.Key == "" && !f.Deleted && countTests(f.CallsIs) > 0 {
			continue
		}
		done[at] = true
		if !slices.ContainsFunc(f.CallsIs, was.Follows) {
			out = append(out, goneCall(c, f, was)...)
		}
	}
	return out
}

func guess(x configtext.Call) int {
	if x.Guessed {
		return 1
	}
	return 0
}

// goneCall returns the findings about a call that is gone from its place.
func goneCall(c *facts.Set, f *facts.ConfigFile, was configtext.Call) []facts.Finding {
	now := commandsAt(f, was.Key)
	switch {
	case f.After().Exists() && len(now) > 0 && (allQuiet(now) || quieted(f, was.Key, now)):
		return []facts.Finding{{File: f.Path, Line: now[0].Line, Evidence: facts.Evidence(was.Text + " → " + now[0].Text)}}
	case was.Purpose != framework.RunsTests || was.Guessed || gained(c, was.Purpose):
		return nil
	case emptied(f, was.Key):
		return []facts.Finding{{File: f.Path, Line: was.Line, Evidence: facts.Evidence(was.Text + " → nothing")}}
	}
	finding := facts.Finding{File: f.Path, Severity: metric.Medium, Line: cmp.Or(lineOf(now), was.Line), Evidence: facts.Evidence(was.Text + " is gone")}
	switch {
	case mentioned(now, was.Name), exampleFolder.MatchString(f.Path):
	case countTests(f.CallsIs) == 0 && (!strings.Contains(f.Path, "/") || strings.HasPrefix(f.Path, ".")), mainScript.MatchString(was.Key), replacedByQuiet(f, was.Key):
		finding.Severity = metric.High
	}
	return []facts.Finding{finding}
}

// exampleFolder matches folders with their own projects, by which this one is not tested.
var exampleFolder = regexp.MustCompile(`(?:^|/)(?:examples?|samples?|demos?|playgrounds?)/`)

// mainScript is the key of the script by which a project is tested.
var mainScript = regexp.MustCompile(`(^|\.)scripts\.(test|tests|check|ci)(\[\])?$`)

// replacedByQuiet reports whether a step that does nothing replaced one that is gone:
// steps without a name are identified by what they run.
func replacedByQuiet(f *facts.ConfigFile, key string) bool {
	job, _, ok := strings.Cut(key, "[")
	return ok && slices.ContainsFunc(f.Is.Commands, func(x configtext.Command) bool {
		return strings.HasPrefix(x.Key, job+"[") && allQuiet([]configtext.Command{x}) && !strings.HasPrefix(x.Text, "$") &&
			!slices.ContainsFunc(f.Was.Commands, func(y configtext.Command) bool { return y.Text == x.Text })
	})
}

// mentioned reports whether a command has the name of a program among its words: an
// unknown wrapper may start it.
func mentioned(list []configtext.Command, program string) bool {
	return slices.ContainsFunc(list, func(x configtext.Command) bool {
		return strings.Contains(x.Text, " "+program) && !strings.ContainsAny(x.Text, "|;")
	})
}

// gained reports whether other commands with the purpose were added: one that is gone
// may have moved or been replaced.
func gained(c *facts.Set, p framework.Purpose) bool {
	var was, is []string
	for _, f := range facts.ConfigFiles.Of(c) {
		for _, x := range f.CallsWas {
			if x.Purpose == p && !x.Guessed {
				was = append(was, x.Text)
			}
		}
		for _, x := range f.CallsIs {
			if x.Purpose == p && len(x.Marks) == 0 && !x.Guessed {
				is = append(is, x.Text)
			}
		}
	}
	return slices.ContainsFunc(is, func(text string) bool { return !slices.Contains(was, text) }) || len(is) >= len(was)
}

func countTests(calls []configtext.Call) int {
	n := 0
	for _, x := range calls {
		if x.Purpose == framework.RunsTests && !x.Guessed {
			n++
		}
	}
	return n
}

// commandsAt returns what is run under a key after the change.
func commandsAt(f *facts.ConfigFile, key string) []configtext.Command {
	var out []configtext.Command
	for _, x := range f.Is.Commands {
		if x.Key == key {
			out = append(out, x)
		}
	}
	return out
}

// emptied reports whether the target or the script is still there, with nothing
// to run.
func emptied(f *facts.ConfigFile, key string) bool {
	return key != "" && len(commandsAt(f, key)) == 0 && slices.ContainsFunc(f.Is.Settings, func(s configtext.Setting) bool {
		return s.Value == "" && (s.Key == key || s.Key == key+".needs")
	})
}

// reworkedFrom is the number of new effective commands from which on a script counts as
// rewritten.
const reworkedFrom = 3

// quieted reports whether a command that does nothing was put under a key, unless the
// entire script was rewritten.
func quieted(f *facts.ConfigFile, key string, now []configtext.Command) bool {
	still, busy := 0, 0
	for _, x := range now {
		switch {
		case slices.ContainsFunc(f.Was.Commands, func(y configtext.Command) bool { return y.Key == key && y.Text == x.Text }):
		case !allQuiet([]configtext.Command{x}):
			busy++
		case !strings.HasPrefix(x.Text, "$"):
			still++
		}
	}
	return still > 0 && busy < reworkedFrom
}

func lineOf(list []configtext.Command) int {
	if len(list) == 0 {
		return 0
	}
	return list[0].Line
}

// movers are programs that only move files: they test nothing.
var movers = strings.Fields("cp mv ln rm mkdir touch tee install sed chmod cd set")

// allQuiet reports whether none of the commands can be a check.
func allQuiet(list []configtext.Command) bool {
	for _, x := range list {
		for _, s := range configtext.SimpleCommands(strings.TrimLeft(x.Text, "@-")) {
			if len(s.Words) > 0 && !configtext.DoesNothing(s.Words) && !slices.Contains(movers, s.Words[0]) {
				return false
			}
		}
	}
	return true
}

// fewerPaths finds the calls of test programs that had all packages as their
// arguments, or none, and now name single files or packages.
func fewerPaths(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, f := range facts.ConfigFiles.Of(c) {
		for _, is := range f.CallsIs {
			if is.Purpose != framework.RunsTests || !narrow(is) && !deeper(f, is) {
				continue
			}
			if deeper(f, is) {
				out = append(out, facts.Finding{File: f.Path, Line: is.Line, Evidence: facts.Evidence(is.Text)})
				continue
			}
			wide := func(_ *facts.ConfigFile, x configtext.Call) bool { return x.Name == is.Name && !narrow(x) }
			same := func(_ *facts.ConfigFile, x configtext.Call) bool {
				return x.Name == is.Name && slices.Equal(x.Args, is.Args)
			}
			if calls(c, true, wide) < calls(c, false, wide) && calls(c, true, same) > calls(c, false, same) {
				out = append(out, facts.Finding{File: f.Path, Line: is.Line, Evidence: facts.Evidence(is.Text)})
			}
		}
	}
	return out
}

// deeper reports whether a call that replaced one with a folder has a folder within
// it.
func deeper(f *facts.ConfigFile, is configtext.Call) bool {
	return slices.ContainsFunc(f.CallsWas, func(was configtext.Call) bool {
		return was.Name == is.Name && was.Key == is.Key && !slices.Equal(was.Args, is.Args) && within(was.Args, is.Args)
	}) && !slices.ContainsFunc(f.CallsWas, func(was configtext.Call) bool { return was.Name == is.Name && slices.Equal(was.Args, is.Args) })
}

// within reports whether all new paths among the arguments are in folders that were
// arguments before.
func within(was, is []string) bool {
	found := false
	for _, a := range is {
		if strings.HasPrefix(a, "-") || slices.Contains(was, a) {
			if !strings.HasPrefix(a, "-") && folder.MatchString(a) {
				return false
			}
			continue
		}
		if !slices.ContainsFunc(was, func(w string) bool {
			return folder.MatchString(w) && strings.HasPrefix(strings.TrimPrefix(a, "./"), strings.TrimSuffix(strings.TrimPrefix(w, "./"), "/")+"/")
		}) {
			return false
		}
		found = true
	}
	return found
}

// folder is an argument that names a folder of tests.
var folder = regexp.MustCompile(`^(\./)?[\w-]*(tests?|spec|__tests__)[\w-]*(/[\w-]+)*/?$`)

// narrow reports whether the arguments of a call name single files, or packages.
func narrow(x configtext.Call) bool {
	if x.Framework == nil {
		return !strings.HasPrefix(x.Name, "npm") && !strings.HasPrefix(x.Name, "make") && slices.ContainsFunc(x.Args, singleFile)
	}
	switch x.Framework.Operands {
	case framework.Packages:
		return !slices.ContainsFunc(x.Args, func(a string) bool { return strings.Contains(a, "...") || strings.Contains(a, "$") })
	case framework.Names:
		return slices.ContainsFunc(x.Operands(), func(a string) bool { return !strings.ContainsAny(a, "$={") })
	case framework.Modules:
		return !slices.Contains(x.Args, "discover") && slices.ContainsFunc(x.Args, func(a string) bool { return strings.Contains(a, ".") && !strings.HasPrefix(a, "-") })
	case framework.Projects:
		return slices.ContainsFunc(x.Args, func(a string) bool { return strings.HasSuffix(a, "proj") })
	case framework.Files:
	}
	return slices.ContainsFunc(x.Args, singleFile)
}

// singleFile reports whether an argument names one file of tests, or one test.
func singleFile(a string) bool {
	if strings.ContainsAny(a, "*$={") || strings.HasPrefix(a, "-") {
		return false
	}
	for _, ext := range []string{".py", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".rb", ".php", ".exs", ".bats"} {
		if strings.HasSuffix(a, ext) && !strings.Contains(a, "config") && !strings.Contains(a, "setup") {
			return true
		}
	}
	return strings.Contains(a, "::") || strings.Contains(a, ".py::")
}
