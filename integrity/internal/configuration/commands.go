package configuration

import (
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
)

// effectRule returns the function that finds the calls with a mark of the effect that the same
// calls did not have before.
func effectRule(e framework.Effect) facts.Finder {
	return facts.ForEach(facts.ConfigFiles, func(c *facts.Change, f *facts.ConfigFile, report facts.Report) {
		for _, after := range f.NewCalls {
			for _, m := range after.Marks {
				if m.Effect != e || !isNewMark(c, after, m) {
					continue
				}
				if s := newMarkSeverity(c, f, after, m); s != 0 {
					report(f.NewFinding(after.Line, after.Text).WithSeverity(s))
				}
			}
		}
	})
}

// netCalls returns how many more calls for which ok is true the changed files have than before.
func netCalls(c *facts.Change, ok func(*facts.ConfigFile, configtext.Call) bool) int {
	return countCalls(c, true, ok) - countCalls(c, false, ok)
}

// countCalls counts the calls in the changed files, before or after the change, for which ok is
// true.
func countCalls(c *facts.Change, after bool, ok func(*facts.ConfigFile, configtext.Call) bool) int {
	n := 0
	for _, f := range facts.ConfigFiles.Of(c) {
		list := f.OldCalls
		if after {
			list = f.NewCalls
		}
		n += facts.Count(list, func(x configtext.Call) bool { return ok(f, x) })
	}
	return n
}

// isNewMark reports whether more calls of the program have the mark than before. A mark that moved
// between lines or files is not new.
func isNewMark(c *facts.Change, after configtext.Call, m configtext.Mark) bool {
	return netCalls(c, func(_ *facts.ConfigFile, x configtext.Call) bool {
		return x.Name == after.Name && slices.Contains(x.Marks, m)
	}) > 0
}

// newMarkSeverity returns the severity of a new mark, 0 if it does not count. It counts only if a
// call without it is gone: an additional call whose failure is ignored, or that runs a part of the
// tests, takes nothing away.
func newMarkSeverity(c *facts.Change, f *facts.ConfigFile, after configtext.Call, m configtext.Mark) metric.Severity {
	clean := func(_ *facts.ConfigFile, x configtext.Call) bool {
		return x.Name == after.Name && !slices.Contains(x.Marks, m)
	}
	here := func(g *facts.ConfigFile, x configtext.Call) bool {
		return g == f && x.Key == after.Key && x.Purpose == after.Purpose && !slices.Contains(x.Marks, m)
	}
	replaced := countCalls(c, true, clean) < countCalls(c, false, clean) || countCalls(c, false, here) > 0 && countCalls(c, true, here) == 0
	if !replaced && !configtext.IsArgumentKey(after.Key) {
		if m.Effect == framework.Mask && m.Name != configtext.Unchecked {
			return metric.Medium
		}
		return 0
	}
	return markSeverity(m, countCalls(c, false, func(_ *facts.ConfigFile, x configtext.Call) bool {
		return x.Name == after.Name && x.HasMark(m.Effect, m.Name)
	}) > 0)
}

// partitionArguments are the arguments that legitimate projects use to divide their tests.
var partitionArguments = strings.Fields("--project -m -short -test.short -t --tag --lib --bins --exclude-group --group --testsuite --spec --only -P --pattern -Dgroups -DexcludedGroups --test_tag_filters -L -LE -x --selectProjects --dir -p --package --test --doc --example --bin -E --filterset -pl --projects --suite --no-suite --tag --exclude-tag -c -F --shard --shard-id --test-shard --partition --partitions")

// markSeverity returns the severity of a mark. had says that the option was there before with
// another value.
func markSeverity(m configtext.Mark, had bool) metric.Severity {
	switch m.Effect {
	case framework.Mask:
		return maskSeverity(m)
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
	case slices.Contains(partitionArguments, m.Name) && (m.Effect == framework.Exclude || m.Name != "-t"):
		return metric.High
	}
	return metric.Critical
}

// maskSeverity returns the severity of a mark by which a failure is ignored.
func maskSeverity(m configtext.Mark) metric.Severity {
	if m.Name == configtext.Unchecked || slices.ContainsFunc([]string{"--pass", "--no-tests", "when: "}, func(p string) bool { return strings.HasPrefix(m.Name, p) }) {
		return metric.High
	}
	return metric.Critical
}

// findRewrittenCommands finds the commands that no longer run tests, neither there nor in another
// changed file. Under each key, at most one call of a purpose is reported; calls that are known to
// check come before those that are guessed.
func findRewrittenCommands(c *facts.Change, f *facts.ConfigFile, report facts.Report) {
	type place struct {
		key     string
		purpose framework.Purpose
	}
	done := map[place]bool{}
	isGuessed := func(x configtext.Call) bool { return x.Guessed }
	isKnown := func(x configtext.Call) bool { return !x.Guessed }
	for _, before := range slices.Concat(facts.Filter(f.OldCalls, isKnown), facts.Filter(f.OldCalls, isGuessed)) {
		at := place{before.Key, before.Purpose}
		if done[at] || configtext.IsArgumentKey(before.Key) || before.Key == "" && !f.Deleted && countTestCalls(f.NewCalls) > 0 {
			continue
		}
		done[at] = true
		if !slices.ContainsFunc(f.NewCalls, before.IsReplacedBy) {
			reportRemovedCall(c, f, before, report)
		}
	}
}

// reportRemovedCall reports a call that was removed from its place, unless another command replaced
// it.
func reportRemovedCall(c *facts.Change, f *facts.ConfigFile, before configtext.Call, report facts.Report) {
	after := commandsAt(f, before.Key)
	isSilenced := f.After().Exists() && len(after) > 0 && (areAllNoOps(after) || isNoOpAdded(f, before.Key, after))
	switch {
	case isSilenced:
		report(f.NewFinding(after[0].Line, before.Text+" → "+after[0].Text))
	case before.Purpose != framework.RunsTests || before.Guessed || hasAddedCalls(c, before.Purpose):
	case isEmptied(f, before.Key):
		report(f.NewFinding(before.Line, before.Text+" → nothing"))
	default:
		line := before.Line
		if len(after) > 0 {
			line = after[0].Line
		}
		report(f.NewFinding(line, before.Text+" is gone").WithSeverity(goneCallSeverity(f, before, after)))
	}
}

// goneCallSeverity returns the severity of a removed call. after are the commands in its place.
func goneCallSeverity(f *facts.ConfigFile, before configtext.Call, after []configtext.Command) metric.Severity {
	isAtRoot := !strings.Contains(f.Path, "/") || strings.HasPrefix(f.Path, ".")
	losesAllTests := isAtRoot && countTestCalls(f.NewCalls) == 0
	isExcused := mentionsProgram(after, before.Name) || exampleFolderRE.MatchString(f.Path)
	if !isExcused && (losesAllTests || mainScriptRE.MatchString(before.Key) || isReplacedByNoOp(f, before.Key)) {
		return metric.High
	}
	return metric.Medium
}

// exampleFolderRE matches paths in folders with separate projects, such as examples/, which do not
// test this one.
var exampleFolderRE = regexp.MustCompile(`(?:^|/)(?:examples?|samples?|demos?|playgrounds?)/`)

// mainScriptRE matches the key of the script by which a project is tested: scripts.test.
var mainScriptRE = regexp.MustCompile(`(^|\.)scripts\.(test|tests|check|ci)(\[\])?$`)

// isReplacedByNoOp reports whether a step that does nothing replaced one that was removed. Steps
// without a name have a key made from what they run, so the two have different keys.
func isReplacedByNoOp(f *facts.ConfigFile, key string) bool {
	job, _, isStep := strings.Cut(key, "[")
	return isStep && slices.ContainsFunc(f.NewConfig.Commands, func(x configtext.Command) bool {
		isOld := slices.ContainsFunc(f.OldConfig.Commands, func(old configtext.Command) bool { return old.Text == x.Text })
		return strings.HasPrefix(x.Key, job+"[") && !strings.HasPrefix(x.Text, "$") && isNoOp(x) && !isOld
	})
}

// mentionsProgram reports whether a command has the name of a program among its words: an
// unknown wrapper may start it.
func mentionsProgram(list []configtext.Command, program string) bool {
	return slices.ContainsFunc(list, func(x configtext.Command) bool {
		return strings.Contains(x.Text, " "+program) && !strings.ContainsAny(x.Text, "|;")
	})
}

// hasAddedCalls reports whether other calls with the purpose were added, or as many exist as
// before. Then a call that is gone may have moved or been replaced.
func hasAddedCalls(c *facts.Change, p framework.Purpose) bool {
	isKnown := func(x configtext.Call) bool { return x.Purpose == p && !x.Guessed }
	isUnmarked := func(x configtext.Call) bool { return isKnown(x) && len(x.Marks) == 0 }
	var before, after []configtext.Call
	for _, f := range facts.ConfigFiles.Of(c) {
		before = append(before, facts.Filter(f.OldCalls, isKnown)...)
		after = append(after, facts.Filter(f.NewCalls, isUnmarked)...)
	}
	return len(after) >= len(before) || !facts.All(after, func(x configtext.Call) bool {
		return slices.ContainsFunc(before, func(old configtext.Call) bool { return old.Text == x.Text })
	})
}

// countTestCalls counts the calls that are known to run tests.
func countTestCalls(calls []configtext.Call) int {
	return facts.Count(calls, func(x configtext.Call) bool { return x.Purpose == framework.RunsTests && !x.Guessed })
}

// commandsAt returns what is run under a key after the change.
func commandsAt(f *facts.ConfigFile, key string) []configtext.Command {
	return facts.Filter(f.NewConfig.Commands, func(x configtext.Command) bool { return x.Key == key })
}

// isEmptied reports whether a target or script still exists and has nothing to run.
func isEmptied(f *facts.ConfigFile, key string) bool {
	return key != "" && len(commandsAt(f, key)) == 0 && slices.ContainsFunc(f.NewConfig.Settings, func(s configtext.Setting) bool {
		return s.Value == "" && (s.Key == key || s.Key == key+".needs")
	})
}

// minReworkedCommands is the number of new effective commands from which on a script counts as
// rewritten.
const minReworkedCommands = 3

// isNoOpAdded reports whether a command that does nothing was put under a key. It is false if the
// script was rewritten with several commands that do something.
func isNoOpAdded(f *facts.ConfigFile, key string, after []configtext.Command) bool {
	idle, busy := 0, 0
	for _, x := range after {
		switch {
		case slices.ContainsFunc(f.OldConfig.Commands, func(y configtext.Command) bool { return y.Key == key && y.Text == x.Text }):
		case !isNoOp(x):
			busy++
		case !strings.HasPrefix(x.Text, "$"):
			idle++
		}
	}
	return idle > 0 && busy < minReworkedCommands
}

// fileCommands are programs that only move files: they test nothing.
var fileCommands = strings.Fields("cp mv ln rm mkdir touch tee install sed chmod cd set")

// areAllNoOps reports whether none of the commands can be a check.
func areAllNoOps(list []configtext.Command) bool { return facts.All(list, isNoOp) }

// isNoOp reports whether a command cannot be a check.
func isNoOp(x configtext.Command) bool {
	for _, s := range configtext.SplitCommands(strings.TrimLeft(x.Text, "@-")) {
		if len(s.Words) > 0 && !configtext.IsNoOp(s.Words) && !slices.Contains(fileCommands, s.Words[0]) {
			return false
		}
	}
	return true
}

// findNarrowedPaths finds the calls of test programs that had all packages as their
// arguments, or none, and now name single files or packages.
func findNarrowedPaths(c *facts.Change, f *facts.ConfigFile, report facts.Report) {
	for _, after := range f.NewCalls {
		if after.Purpose == framework.RunsTests && (isDeeper(f, after) || isNarrow(after) && replacesWideCall(c, after)) {
			report(f.NewFinding(after.Line, after.Text))
		}
	}
}

// replacesWideCall reports whether a call is new, and the change has fewer calls of its program
// that are not narrow.
func replacesWideCall(c *facts.Change, after configtext.Call) bool {
	lostWide := netCalls(c, func(_ *facts.ConfigFile, x configtext.Call) bool { return x.Name == after.Name && !isNarrow(x) }) < 0
	return lostWide && netCalls(c, func(_ *facts.ConfigFile, x configtext.Call) bool {
		return x.Name == after.Name && slices.Equal(x.Args, after.Args)
	}) > 0
}

// isDeeper reports whether a call names a folder within the folder that a call in its place named
// before.
func isDeeper(f *facts.ConfigFile, after configtext.Call) bool {
	sameProgram := facts.Filter(f.OldCalls, func(old configtext.Call) bool { return old.Name == after.Name })
	isOld := slices.ContainsFunc(sameProgram, func(old configtext.Call) bool { return slices.Equal(old.Args, after.Args) })
	return !isOld && slices.ContainsFunc(sameProgram, func(old configtext.Call) bool {
		return old.Key == after.Key && areWithin(old.Args, after.Args)
	})
}

// areWithin reports whether there are new paths among the arguments, and all of them are in folders
// of tests that were arguments before.
func areWithin(before, after []string) bool {
	found := false
	for _, a := range after {
		if strings.HasPrefix(a, "-") || slices.Contains(before, a) {
			if !strings.HasPrefix(a, "-") && testFolderRE.MatchString(a) {
				return false
			}
			continue
		}
		if !slices.ContainsFunc(before, func(w string) bool {
			return testFolderRE.MatchString(w) && strings.HasPrefix(strings.TrimPrefix(a, "./"), strings.TrimSuffix(strings.TrimPrefix(w, "./"), "/")+"/")
		}) {
			return false
		}
		found = true
	}
	return found
}

// testFolderRE matches an argument that names a folder of tests, such as ./tests/unit.
var testFolderRE = regexp.MustCompile(`^(\./)?[\w-]*(tests?|spec|__tests__)[\w-]*(/[\w-]+)*/?$`)

// isNarrow reports whether the arguments of a call name single files, packages or tests.
func isNarrow(x configtext.Call) bool {
	if x.Framework == nil {
		return !strings.HasPrefix(x.Name, "npm") && !strings.HasPrefix(x.Name, "make") && slices.ContainsFunc(x.Args, isSingleFile)
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
	return slices.ContainsFunc(x.Args, isSingleFile)
}

// isSingleFile reports whether an argument names one file of tests, or one test.
func isSingleFile(a string) bool {
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
