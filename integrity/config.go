package integrity

import (
	"cmp"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
)

// configRules are the rows about what runs and judges the tests: scripts,
// configuration, thresholds, suppressions, the environment.
var configRules = slices.Concat(commandRules, settingRules, lineRules, needRules, harnessRules, suppressionRules, environmentRules)

// configFile is a changed configuration file as it was read.
type configFile struct {
	*file
	was, is           reading
	callsWas, callsIs []call
	came, gone        []setting // see news
}

// configs returns the configuration files of the change.
func (c *change) configs() []*configFile {
	if c.configured {
		return c.config
	}
	c.configured = true
	for _, f := range c.files {
		was := f.before().configKind()
		is := f.after().configKind()
		if was == noConfig && is == noConfig || len(f.addedLines())+len(f.removedLines()) == 0 && was == is && f.OldPath == "" {
			continue
		}
		cf := &configFile{file: f}
		wasWell, isWell := true, true
		if f.before().there() {
			cf.was, wasWell = readConfig(was, f.before().path, f.before().text)
		}
		if f.after().there() {
			cf.is, isWell = readConfig(is, f.after().path, f.after().text)
		}
		if !wasWell || !isWell { // the keys must be the same on both sides
			cf.was, cf.is = readLines(f.before().text), readLines(f.after().text)
		}
		cf.callsWas, cf.callsIs = callsOf(&cf.was), callsOf(&cf.is)
		c.config = append(c.config, cf)
	}
	news(c.config)
	return c.config
}

// commandRules are the rows about commands that run checks.
var commandRules = []rule{
	{"TP-08", "focus_in_configuration", metric.Critical, traitRule(focuses)},
	{"TP-15", "retries_in_command", metric.Medium, traitRule(loosens)},
	{"TP-16", "expectations_rewritten_by_command", metric.High, traitRule(updates)},
	{"TP-24", "test_command_rewritten", metric.Critical, rewritten},
	{"TP-24", "test_command_runs_nothing", metric.Critical, traitRule(runsNone)},
	{"TP-25", "failure_ignored", metric.Critical, traitRule(masks)},
	{"TP-26", "discovery_narrowed_by_command", metric.Critical, traitRule(excludes)},
	{"TP-26", "command_runs_fewer_tests", metric.High, fewerPaths},
	{"TP-27", "coverage_excluded_by_command", metric.Medium, traitRule(hidesCode)},
	{"TP-28", "rule_off_by_command", metric.Medium, traitRule(allows)},
}

// traitRule finds the calls that have a trait which the same calls had not.
func traitRule(t trait) func(*change) []Finding {
	return func(c *change) []Finding {
		var out []Finding
		for _, f := range c.configs() {
			for _, is := range f.callsIs {
				for _, m := range is.traits {
					if m.trait != t || !c.newMark(is, m) {
						continue
					}
					if s := c.weigh(f, is, m); s != 0 {
						out = append(out, Finding{File: f.Path, Line: is.line, Severity: s, Evidence: evidence(is.text)})
					}
				}
			}
		}
		return out
	}
}

// calls counts the calls of a program in the changed files, before or after,
// that satisfy a condition.
func (c *change) calls(after bool, ok func(*configFile, call) bool) int {
	n := 0
	for _, f := range c.configs() {
		list := f.callsWas
		if after {
			list = f.callsIs
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
func (c *change) newMark(is call, m mark) bool {
	same := func(_ *configFile, x call) bool { return x.head == is.head && slices.Contains(x.traits, m) }
	return c.calls(true, same) > c.calls(false, same)
}

// weigh returns how grave a new mark is, 0 for not at all. What counts is whether
// a call without it is gone: a further call that is excused, or runs a part,
// takes nothing away.
func (c *change) weigh(f *configFile, is call, m mark) metric.Severity {
	clean := func(_ *configFile, x call) bool { return x.head == is.head && !slices.Contains(x.traits, m) }
	here := func(g *configFile, x call) bool {
		return g == f && x.key == is.key && x.purpose == is.purpose && !slices.Contains(x.traits, m)
	}
	replaced := c.calls(true, clean) < c.calls(false, clean) || c.calls(false, here) > 0 && c.calls(true, here) == 0
	if !replaced && !standing(is.key) {
		if m.trait == masks && m.name != unwatched {
			return metric.Medium
		}
		return 0
	}
	return m.severity(c.calls(false, func(_ *configFile, x call) bool { return x.head == is.head && x.has(m.trait, m.name) }) > 0)
}

// standing reports whether what stands under a key is added to every call of a
// program, and is no call of its own.
func standing(key string) bool { return argumentKeys.MatchString(key) || key == "args" }

// gentle are the arguments that honest projects use to divide their tests.
var gentle = strings.Fields("--project -m -short -test.short -t --tag --lib --bins --exclude-group --group --testsuite --spec --only -P --pattern -Dgroups -DexcludedGroups --test_tag_filters -L -LE -x --selectProjects --dir -p --package --test --doc --example --bin -E --filterset -pl --projects --suite --no-suite --tag --exclude-tag -c -F")

// severity is how grave a mark is. had says that the argument was there before
// with another value.
func (m mark) severity(had bool) metric.Severity {
	switch m.trait {
	case masks:
		return m.masking()
	case runsNone:
		return metric.Critical
	case updates:
		return metric.High
	case loosens, hidesCode, allows:
		return metric.Medium
	case focuses, excludes:
	}
	switch {
	case m.trait == focuses && had && !strings.Contains(m.value, "not ") && !strings.Contains(m.value, "!"):
		return metric.Medium
	case slices.Contains(gentle, m.name) && (m.trait == excludes || m.name != "-t"):
		return metric.High
	}
	return metric.Critical
}

// masking is how grave a mark is by which a failure counts for nothing.
func (m mark) masking() metric.Severity {
	if m.name == unwatched || slices.ContainsFunc([]string{"--pass", "--no-tests", "when: "}, func(p string) bool { return strings.HasPrefix(m.name, p) }) {
		return metric.High
	}
	return metric.Critical
}

// rewritten finds the commands that ran tests and do so no more, neither there
// nor in another changed file.
func rewritten(c *change) []Finding {
	var out []Finding
	for _, f := range c.configs() {
		out = append(out, c.rewrittenIn(f)...)
	}
	return out
}

func (c *change) rewrittenIn(f *configFile) []Finding {
	type place struct {
		key     string
		purpose purpose
	}
	var out []Finding
	done := map[place]bool{}
	calls := slices.Clone(f.callsWas)
	slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(guess(a), guess(b)) })
	for _, was := range calls {
		at := place{was.key, was.purpose}
		if done[at] || standing(was.key) || was.key == "" && !f.Deleted && countTests(f.callsIs) > 0 {
			continue
		}
		done[at] = true
		if !slices.ContainsFunc(f.callsIs, was.follows) {
			out = append(out, c.goneCall(f, was)...)
		}
	}
	return out
}

func guess(x call) int {
	if x.guessed {
		return 1
	}
	return 0
}

// follows reports whether another call checks at least as much in the same place.
func (was call) follows(x call) bool {
	return x.key == was.key && (x.purpose == was.purpose || x.purpose == runsTests) && (was.guessed || !x.guessed)
}

// goneCall says what it means that a call is gone from its place.
func (c *change) goneCall(f *configFile, was call) []Finding {
	now := f.commandsAt(was.key)
	switch {
	case f.after().there() && len(now) > 0 && (allQuiet(now) || f.quieted(was.key, now)):
		return []Finding{{File: f.Path, Line: now[0].line, Evidence: evidence(was.text + " → " + now[0].text)}}
	case was.purpose != runsTests || was.guessed || c.gained(was.purpose):
		return nil
	case f.emptied(was.key):
		return []Finding{{File: f.Path, Line: was.line, Evidence: evidence(was.text + " → nothing")}}
	}
	finding := Finding{File: f.Path, Severity: metric.Medium, Line: cmp.Or(lineOf(now), was.line), Evidence: evidence(was.text + " is gone")}
	switch {
	case mentioned(now, was.head), aside.MatchString(f.Path):
	case countTests(f.callsIs) == 0 && (!strings.Contains(f.Path, "/") || strings.HasPrefix(f.Path, ".")), mainScript.MatchString(was.key), f.replacedByQuiet(was.key):
		finding.Severity = metric.High
	}
	return []Finding{finding}
}

// aside matches folders with projects of their own, by which this one is not tested.
var aside = regexp.MustCompile(`(?:^|/)(?:examples?|samples?|demos?|playgrounds?)/`)

// mainScript is the key of the script by which a project is tested.
var mainScript = regexp.MustCompile(`(^|\.)scripts\.(test|tests|check|ci)(\[\])?$`)

// replacedByQuiet reports whether a step that does nothing came in the place of one
// that is gone: steps without a name are known by what they run.
func (f *configFile) replacedByQuiet(key string) bool {
	job, _, ok := strings.Cut(key, "[")
	return ok && slices.ContainsFunc(f.is.commands, func(x command) bool {
		return strings.HasPrefix(x.key, job+"[") && allQuiet([]command{x}) && !strings.HasPrefix(x.text, "$") &&
			!slices.ContainsFunc(f.was.commands, func(y command) bool { return y.text == x.text })
	})
}

// mentioned reports whether a command has the name of a program among its words:
// something may start it that is not known to do so.
func mentioned(list []command, program string) bool {
	return slices.ContainsFunc(list, func(x command) bool {
		return strings.Contains(x.text, " "+program) && !strings.ContainsAny(x.text, "|;")
	})
}

// gained reports whether other commands with the purpose were added, so that one
// which is gone may have moved or been replaced.
func (c *change) gained(p purpose) bool {
	var was, is []string
	for _, f := range c.configs() {
		for _, x := range f.callsWas {
			if x.purpose == p && !x.guessed {
				was = append(was, x.text)
			}
		}
		for _, x := range f.callsIs {
			if x.purpose == p && len(x.traits) == 0 && !x.guessed {
				is = append(is, x.text)
			}
		}
	}
	return slices.ContainsFunc(is, func(text string) bool { return !slices.Contains(was, text) }) || len(is) >= len(was)
}

func countTests(calls []call) int {
	n := 0
	for _, x := range calls {
		if x.purpose == runsTests && !x.guessed {
			n++
		}
	}
	return n
}

// commandsAt returns what is run under a key after the change.
func (f *configFile) commandsAt(key string) []command {
	var out []command
	for _, x := range f.is.commands {
		if x.key == key {
			out = append(out, x)
		}
	}
	return out
}

// emptied reports whether the target or the script is still there, with nothing
// to run.
func (f *configFile) emptied(key string) bool {
	return key != "" && len(f.commandsAt(key)) == 0 && slices.ContainsFunc(f.is.settings, func(s setting) bool {
		return s.value == "" && (s.key == key || s.key == key+".needs")
	})
}

// reworkedFrom is how many new commands that do something a script has which was
// written anew.
const reworkedFrom = 3

// quieted reports whether something that does nothing was put under a key, and not
// the script as a whole written anew.
func (f *configFile) quieted(key string, now []command) bool {
	still, busy := 0, 0
	for _, x := range now {
		switch {
		case slices.ContainsFunc(f.was.commands, func(y command) bool { return y.key == key && y.text == x.text }):
		case !allQuiet([]command{x}):
			busy++
		case !strings.HasPrefix(x.text, "$"):
			still++
		}
	}
	return still > 0 && busy < reworkedFrom
}

func lineOf(list []command) int {
	if len(list) == 0 {
		return 0
	}
	return list[0].line
}

// movers only move files about: what they leave was not tested.
var movers = strings.Fields("cp mv ln rm mkdir touch tee install sed chmod cd set")

// allQuiet reports whether none of the commands can be a check.
func allQuiet(list []command) bool {
	for _, x := range list {
		for _, s := range simples(strings.TrimLeft(x.text, "@-")) {
			if len(s.words) > 0 && !quiet(s.words) && !slices.Contains(movers, s.words[0]) {
				return false
			}
		}
	}
	return true
}

// fewerPaths finds the calls of test programs that had all packages as their
// arguments, or none, and now name single files or packages.
func fewerPaths(c *change) []Finding {
	var out []Finding
	for _, f := range c.configs() {
		for _, is := range f.callsIs {
			if is.purpose != runsTests || !narrow(is) && !f.deeper(is) {
				continue
			}
			if f.deeper(is) {
				out = append(out, Finding{File: f.Path, Line: is.line, Evidence: evidence(is.text)})
				continue
			}
			wide := func(_ *configFile, x call) bool { return x.head == is.head && !narrow(x) }
			same := func(_ *configFile, x call) bool { return x.head == is.head && slices.Equal(x.args, is.args) }
			if c.calls(true, wide) < c.calls(false, wide) && c.calls(true, same) > c.calls(false, same) {
				out = append(out, Finding{File: f.Path, Line: is.line, Evidence: evidence(is.text)})
			}
		}
	}
	return out
}

// deeper reports whether a call that replaced one with a folder has a folder within
// it.
func (f *configFile) deeper(is call) bool {
	return slices.ContainsFunc(f.callsWas, func(was call) bool {
		return was.head == is.head && was.key == is.key && !slices.Equal(was.args, is.args) && within(was.args, is.args)
	}) && !slices.ContainsFunc(f.callsWas, func(was call) bool { return was.head == is.head && slices.Equal(was.args, is.args) })
}

// within reports whether all paths among the arguments lie in folders that stood
// there before, and are not these.
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
func narrow(x call) bool {
	if x.head == "go test" {
		return !slices.ContainsFunc(x.args, func(a string) bool { return strings.Contains(a, "...") || strings.Contains(a, "$") })
	}
	switch {
	case strings.HasPrefix(x.head, "npm"), strings.HasPrefix(x.head, "make"):
		return false
	case x.head == "cargo test":
		return byTestName(x.args)
	case x.head == "unittest":
		return !slices.Contains(x.args, "discover") && slices.ContainsFunc(x.args, func(a string) bool { return strings.Contains(a, ".") && !strings.HasPrefix(a, "-") })
	case x.head == "dotnet test":
		return slices.ContainsFunc(x.args, func(a string) bool { return strings.HasSuffix(a, "proj") })
	}
	return slices.ContainsFunc(x.args, singleFile)
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

// cargoValues are the arguments of cargo test that take the next word.
var cargoValues = strings.Fields("-p --package --features -F --target --manifest-path --profile -j --jobs --color --config --exclude --test --bench --example --bin --target-dir --message-format -Z")

// byTestName reports whether a call of cargo test selects tests by name.
func byTestName(args []string) bool {
	for i, a := range args {
		if a == "--" {
			return false
		}
		if !strings.HasPrefix(a, "-") && !strings.ContainsAny(a, "$={") && (i == 0 || !slices.Contains(cargoValues, args[i-1])) {
			return true
		}
	}
	return false
}
