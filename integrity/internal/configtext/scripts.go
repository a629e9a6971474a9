package configtext

import (
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
)

// makeTargetRE matches the head of a rule, as in "test: build", but not an assignment with :=.
var makeTargetRE = regexp.MustCompile(`^([A-Za-z0-9_.%/$(){}-][^:=#]*?)\s*::?([^=].*)?$`)

// makeAssignmentRE matches an assignment of a makefile, as in "export PYTEST ?= pytest".
var makeAssignmentRE = regexp.MustCompile(`^(?:export\s+|override\s+)?([A-Za-z_][\w.-]*)\s*(?:[:+?!]{0,2}=)\s*(.*)$`)

// readMakefile reads the recipes of a Makefile or a justfile as commands under their target, its
// variables as settings, and the prerequisites of a target as the setting "target.needs".
func (r *Reading) readMakefile(text string) {
	target := ""
	lines := joinContinuedLines(text, 1)
	values := makeValues(lines)
	for _, l := range lines {
		recipe := strings.HasPrefix(l.text, "\t") || target != "" && strings.HasPrefix(l.text, "  ")

		switch m := makeAssignmentRE.FindStringSubmatch(l.text); {
		case recipe && target != "":
			r.addCommands(target, expandVariables(l.text, values), l.number)
		case m != nil:
			r.addSetting(NormalizeKey(m[1]), m[2], l.number)
		default:
			if m := makeTargetRE.FindStringSubmatch(l.text); m != nil {
				target = NormalizeKey(m[1])
				r.addSetting(target+".needs", strings.TrimSpace(m[2]), l.number)
			}
		}
	}
}

// makeValues returns the variables of a Makefile whose values contain no other variable.
func makeValues(lines []scriptLine) map[string]string {
	out := map[string]string{}
	for _, l := range lines {
		if m := makeAssignmentRE.FindStringSubmatch(l.text); m != nil && !strings.HasPrefix(l.text, "\t") {
			out[m[1]] = strings.TrimSpace(m[2])
			if strings.Contains(m[2], "$") {
				delete(out, m[1])
			}
		}
	}
	return out
}

// makeVariableRE matches the use of a variable: $(PYTEST) and ${PYTEST}.
var makeVariableRE = regexp.MustCompile(`\$[({](\w+)[)}]`)

// expandVariables returns a text with the known variables replaced by their values.
func expandVariables(text string, values map[string]string) string {
	return makeVariableRE.ReplaceAllStringFunc(text, func(name string) string {
		if v := values[name[2:len(name)-1]]; v != "" {
			return v
		}
		return name
	})
}

// dockerLineRE matches the instructions that run something or set variables, such as "RUN go test
// ./...".
var dockerLineRE = regexp.MustCompile(`(?i)^\s*(RUN|CMD|ENTRYPOINT|ENV|ARG)\s+(.*)$`)

// readDockerfile reads the variables of a Dockerfile as settings, and what it runs as commands.
func (r *Reading) readDockerfile(text string) {
	for _, l := range joinContinuedLines(text, 1) {
		m := dockerLineRE.FindStringSubmatch(l.text)
		if m == nil {
			continue
		}
		switch word := strings.ToUpper(m[1]); word {
		case "ENV", "ARG":
			if name, value, ok := strings.Cut(strings.Replace(m[2], " ", "=", 1), "="); ok {
				r.addSetting("env."+NormalizeKey(name), unquote(value), l.number)
			}
		default:
			if strings.HasPrefix(m[2], "[") {
				m[2] = strings.NewReplacer("[", "", "]", "", `"`, "", ",", " ").Replace(m[2])
			}
			r.addCommands(strings.ToLower(word), m[2], l.number)
		}
	}
}

// shellAssignmentRE matches a line that sets a variable, as in "export CI=1".
var shellAssignmentRE = regexp.MustCompile(`^\s*(?:export\s+|declare\s+-x\s+)?([A-Za-z_]\w*)=(.*)$`)

// heredocRE matches the beginning of a here-document, as in "cat <<EOF".
var heredocRE = regexp.MustCompile(`<<-?\s*['"]?([A-Za-z_]\w*)['"]?`)

// removeHeredocs returns a script with blank lines in place of its here-documents. If the last of
// them does not end, nothing is removed.
func removeHeredocs(script string) string {
	out := strings.Split(script, "\n")
	end := ""
	for i, l := range out {
		if end != "" {
			if strings.TrimSpace(l) == end {
				end = ""
			}
			out[i] = ""
			continue
		}
		if m := heredocRE.FindStringSubmatch(l); m != nil && !strings.Contains(l, "<<<") {
			end = m[1]
		}
	}
	if end != "" {
		return script // it does not end: it was no text
	}
	return strings.Join(out, "\n")
}

// readPowerShell reads a script of PowerShell or of the Windows command prompt. Both continue after
// a failure.
func (r *Reading) readPowerShell(text string) {
	list := strings.Split(text, "\n")
	for i, l := range list {
		list[i] = strings.TrimLeft(strings.TrimSpace(l), "&@ ")
		if low := strings.ToLower(list[i]); strings.HasPrefix(low, "rem ") || strings.HasPrefix(list[i], "::") {
			list[i] = ""
		}
	}
	r.addCommands(powerShellKey, strings.Join(list, "\n"), 1)
}

// readShell reads a script of the shell as commands, and its variables with a fixed value as
// settings.
func (r *Reading) readShell(text string) {
	text = removeHeredocs(text)
	r.addCommands(shellKey, text, 1)
	for i, l := range strings.Split(text, "\n") {
		if m := shellAssignmentRE.FindStringSubmatch(l); m != nil && !strings.ContainsAny(unquote(m[2]), "$`") {
			r.addSetting("env."+NormalizeKey(m[1]), unquote(m[2]), i+1)
		}
	}
}

var (
	// codeOptionRE matches an option with a number or a truth, such as "minimum_coverage 90" and
	// "strict: true". codeStringRE matches a string in quotes.
	codeOptionRE = regexp.MustCompile(`([A-Za-z_][\w.]*)["']?\s*(?:[:=(]|=>|\s)\s*["']?([0-9]+(?:\.[0-9]+)?%?|true|false|True|False|TRUE|FALSE|ON|OFF)\b`)
	codeStringRE = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`)
	// codeRunRE matches a call that runs a program, as in session.run("pytest").
	codeRunRE = regexp.MustCompile(`\b(?:session\.run(?:_always)?|(?:c|ctx|context|conn)\.run|subprocess\.\w+|os\.system|local|sh|system|exec|spawn|execa|shell|run)\s*[( ]`)
	// codeCoverageRE matches the name of a limit of the coverage whose parts follow, such as
	// minimum_coverage.
	codeCoverageRE = regexp.MustCompile(`(?i)min\w*_?coverage\w*|coverage_?(threshold|minimum)\w*`)
	// codeNamedListRE matches a list after a name, as in "exclude: [:slow]".
	codeNamedListRE = regexp.MustCompile(`\b(exclude|include|only|omit|ignore|except):\s*\[([^\]]*)\]`)
	// codeListRE matches an assignment of strings, as in collect_ignore = ["a"].
	codeListRE = regexp.MustCompile(`^\s*([A-Za-z_][\w.]*)\s*(?:\+?=|:|\.append\(|\.extend\()\s*(.*)$`)
)

// rakeDefaultRE matches the tasks of which the default task of a Rakefile consists, as in
// "task default: [:spec, :lint]". codeNameRE matches one of them.
var (
	rakeDefaultRE = regexp.MustCompile(`^\s*(?:multi)?task\s*\(?\s*:?default\b(.*)$`)
	codeNameRE    = regexp.MustCompile(`\w+`)
)

// readCode reads options from code: names with numbers, lists of strings, and the programs that are
// run. A statement continues while brackets are open, for at most 40 lines.
func (r *Reading) readCode(text string) {
	list := strings.Split(text, "\n")
	for i := 0; i < len(list); i++ {
		l, at := list[i], i+1
		if trimmed := strings.TrimSpace(l); strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "//") {
			continue
		}
		if m := rakeDefaultRE.FindStringSubmatch(l); m != nil {
			r.addSetting("default.needs", strings.Join(codeNameRE.FindAllString(m[1], -1), " "), at)
		}
		r.addOptions(l, at)

		runs, assigned := codeRunRE.MatchString(l), codeListRE.FindStringSubmatch(l)
		if !runs && assigned == nil {
			continue
		}
		for countOpenBrackets(l) > 0 && i+1 < len(list) && i < at+40 {
			i++
			l += "\n" + list[i]
		}
		r.addStrings(l, at, runs, assigned)
	}
}

// addStrings adds the strings of a statement: as a command if it runs a program, or as the elements
// of the list that it sets. assigned is the match of codeListRE, nil for none.
func (r *Reading) addStrings(l string, at int, runs bool, assigned []string) {
	var words []string
	for _, m := range codeStringRE.FindAllStringSubmatch(l, -1) {
		words = append(words, m[1]+m[2])
	}
	switch {
	case runs && len(words) > 0:
		r.addCommands("run", strings.ReplaceAll(strings.Join(words, " "), "\n", " "), at)
	case assigned != nil:
		for _, w := range words {
			r.addSetting(NormalizeKey(assigned[1])+"[]", w, at)
		}
	}
}

// addOptions adds the names with numbers, and the named lists, of a line.
func (r *Reading) addOptions(l string, at int) {
	about := ""
	if m := codeCoverageRE.FindString(l); m != "" {
		about = NormalizeKey(m)
	}
	for _, m := range codeOptionRE.FindAllStringSubmatch(l, 4) {
		key := NormalizeKey(m[1])
		if about != "" && !strings.HasSuffix(key, about) {
			key = about + "." + key
		}
		r.addSetting(key, m[2], at)
	}
	for _, m := range codeNamedListRE.FindAllStringSubmatch(l, 4) {
		for _, w := range strings.FieldsFunc(m[2], func(c rune) bool { return strings.ContainsRune(` ,"':`, c) }) {
			r.addSetting(NormalizeKey(m[1])+"[]", w, at)
		}
	}
}

// countOpenBrackets returns how many more brackets a text opens than it closes.
func countOpenBrackets(s string) int {
	n := 0
	for _, c := range s {
		switch c {
		case '(', '[', '{':
			n++
		case ')', ']', '}':
			n--
		}
	}
	return n
}

// commandKeyRE matches the keys of settings whose values are run, such as scripts.test of
// package.json.
var commandKeyRE = regexp.MustCompile(`(^|\.|\])(scripts|tasks|alias|aliases|script|beforescript|afterscript|run|command|commands|commandspre|commandspost|cmd|cmds|entry|bash|pwsh|powershell|testscript|buildscript|aftertestscript|checks?|exec@command|sh|bat|testcommand)(\[\])?$|(^|\.)(scripts|tasks|alias|aliases)\.[^.]+(\[\])?$|(^|\.)(scripts|tasks)\.[^.]+\.(cmd|shell|run|sequence\[\])$|^lefthook.*\.run$`)

// argumentKeyRE matches the keys of settings whose values are arguments of a known program, such as
// tool.pytest.inioptions.addopts.
var argumentKeyRE = regexp.MustCompile(`(^|\.)(addopts|args\[\]|testargs|maven\.?opts|mavenargs|gradleopts)$`)

// auxiliaryActionRE matches the names of GitHub actions that run no tests, whatever their step is
// called, such as actions/upload-artifact.
var auxiliaryActionRE = regexp.MustCompile(`(?i)report|upload|download|artifact|comment|publish|setup|checkout|cache|cov|login|summary|annotat|notif|slack|label|free-disk`)

// addNamedCommands adds the settings whose keys say that their values are commands, arguments or
// actions.
func (r *Reading) addNamedCommands() {
	there := map[Setting]bool{}
	for _, s := range r.Settings {
		there[Setting{Key: s.Key, Line: s.Line}] = true
	}

	r.addListedArguments()
	for _, s := range r.Settings {
		if list, ok := strings.CutSuffix(s.Key, "[]"); ok && there[Setting{Key: list, Line: s.Line}] {
			continue // the words of a value that is there completely
		}

		switch {
		case strings.HasSuffix(s.Key, ".uses"):
			name, _, _ := strings.Cut(s.Value, "@")
			key, step := strings.CutSuffix(s.Key, ".uses")
			if text, ok := framework.ActionCommands[name]; ok {
				r.Commands = append(r.Commands, Command{Key: s.Key, Text: text, Line: s.Line})
			} else if step && name != "" && purposeOf(key+".run") == framework.RunsTests && !auxiliaryActionRE.MatchString(name) {
				r.Commands = append(r.Commands, Command{Key: key + ".run", Text: name, Line: s.Line})
			}
		case strings.HasSuffix(s.Key, ".inputs.command"): // of a step of Azure Pipelines
			r.addCommands(s.Key, "dotnet "+s.Value, s.Line)
		case argumentKeyRE.MatchString(s.Key):
			r.addCommands(s.Key, argumentProgram(s.Key)+strings.ReplaceAll(s.Value, "\n", " "), s.Line)
		case commandKeyRE.MatchString(s.Key):
			r.addCommands(s.Key, s.Value, s.Line)
		}
	}
}

// addListedArguments adds a command for each list of arguments whose elements are the words of one
// command. Lists that were split from a value are left out, because the value itself is read.
func (r *Reading) addListedArguments() {
	values := map[string][]string{}
	for _, s := range r.Settings {
		values[s.Key] = append(values[s.Key], s.Value)
	}
	taken := map[string]bool{}
	for _, s := range r.Settings {
		key, ok := strings.CutSuffix(s.Key, "[]")
		ofValue := slices.ContainsFunc(values[key], func(v string) bool { return strings.Contains(v, s.Value) }) // a word of it
		if ok && strings.HasSuffix(key, "addopts") && !taken[key] && !ofValue {
			taken[key] = true
			r.addCommands(key, argumentProgram(key)+r.joinElements(s.Key), s.Line)
		}
	}
}

// joinElements returns the elements of a list as the words of one line, with quotes where they
// contain blanks.
func (r *Reading) joinElements(key string) string {
	var out []string
	for _, s := range r.Settings {
		switch {
		case s.Key != key:
		case strings.ContainsAny(s.Value, " \t"):
			out = append(out, "'"+s.Value+"'")
		default:
			out = append(out, s.Value)
		}
	}
	return strings.Join(out, " ")
}

// argumentProgram returns the program that gets the arguments of a setting, followed by a blank; ""
// if it is not known.
func argumentProgram(key string) string {
	for part, program := range framework.ArgumentSettings {
		if strings.Contains(key, part) {
			return program + " "
		}
	}
	return ""
}

// limitFlagRE matches an argument that is a limit, as in "--cov-fail-under=80".
// coverageComparisonRE matches a comparison of the coverage, as in "[ $cov -lt 80 ]".
var (
	limitFlagRE          = regexp.MustCompile(`(?:^|\s)(?:--?|/p:|-D|-P)([\w.:-]*(?:fail-?under|threshold|max-warnings|min-?cov\w*|minimum-?coverage|min-msi|min-covered-msi|-lines|-branches|-functions|-statements)[\w.:-]*|lines|branches|functions|statements)[= ]["']?(\d+(?:\.\d+)?)`)
	coverageComparisonRE = regexp.MustCompile(`(?i)cov\w*.*?(?:<|-lt|-le|<=)\s*["']?(\d+(?:\.\d+)?)`)
)

// addLimits adds the limits in commands as settings whose keys begin with "flag.".
func (r *Reading) addLimits() {
	for _, c := range r.Commands {
		for _, m := range limitFlagRE.FindAllStringSubmatch(c.Text, -1) {
			r.addSetting("flag.coverage."+NormalizeKey(strings.ReplaceAll(m[1], ".", "")), m[2], c.Line)
		}
		if m := coverageComparisonRE.FindStringSubmatch(c.Text); m != nil {
			r.addSetting("flag.coveragethreshold", m[1], c.Line)
		}
	}
}

// maskKeyRE matches the keys of settings by which the failure of a command next to them is ignored,
// or the command does not run, such as jobs.ci.continueonerror.
var maskKeyRE = regexp.MustCompile(`(^|\.)(continueonerror|allowfailure|ignorefailure|ignoreerrors|if|enabled|when|ignoreoutcome|softfail|ignoreerror|ignorefail|condition|stages\[\]|failfast)$`)

var (
	// alwaysFalseRE matches a condition that never holds, such as "${{ false }}".
	alwaysFalseRE = regexp.MustCompile(`^\s*(\$\{\{\s*)?(false|0|!\s*true|always\(\)\s*&&\s*false|false\s*&&.*|.*&&\s*false)(\s*\}\})?\s*$`)
	// AlwaysTrueRE matches a condition that always holds, such as "true" and "yes".
	AlwaysTrueRE = regexp.MustCompile(`(?i)^\s*(\$\{\{\s*)?(true|1|yes|on|always)(\s*\}\})?\s*$`)
)

// markMaskedCommands marks the commands whose failure is ignored, or that do not run, because of a
// setting next to or above them.
func (r *Reading) markMaskedCommands() {
	for _, s := range r.Settings {
		s = r.translateMask(s)
		m := maskKeyRE.FindStringSubmatchIndex(s.Key)
		if m == nil {
			continue
		}

		why := maskOf(s.Key[m[4]:m[5]], s.Value)
		if why == "" {
			continue
		}

		above := s.Key[:m[0]]
		for i := range r.Commands {
			if c := &r.Commands[i]; above == "" || strings.HasPrefix(c.Key, above+".") {
				c.maskedBy = why
			}
		}
	}
}

// translateMask returns settings of GitLab and Jenkins as those of other services that do the same.
// Other settings are returned unchanged.
func (r *Reading) translateMask(s Setting) Setting {
	if job, ok := strings.CutSuffix(s.Key, ".rules[].when"); ok && !slices.ContainsFunc(r.Settings, func(x Setting) bool {
		return strings.HasPrefix(x.Key, job+".rules[].") && x.Key != s.Key
	}) {
		return Setting{job + ".when", s.Value, s.Line}
	}
	if job, ok := strings.CutSuffix(s.Key, ".allowfailure.exitcodes[]"); ok {
		return Setting{job + ".allowfailure", "true", s.Line}
	}
	if steps, ok := strings.CutSuffix(s.Key, ".catcherror.buildresult"); ok && s.Value == "SUCCESS" {
		return Setting{steps + ".catcherror.ignorefailure", "true", s.Line}
	}
	return s
}

// maskOf returns what a setting next to a command does, such as "if: false". name is the last name
// of its key. It returns "" if the value lets the command run and fail.
func maskOf(name, value string) string {
	switch name {
	case "stages[]":
		if value == "manual" {
			return "when: manual"
		}
	case "if", "condition":
		if alwaysFalseRE.MatchString(value) {
			return "if: false"
		}
	case "enabled":
		if strings.EqualFold(value, "false") {
			return "enabled: false"
		}
	case "when":
		if value == "manual" || value == "never" {
			return "when: " + value
		}
	case "failfast":
	default:
		if AlwaysTrueRE.MatchString(value) {
			return name
		}
	}
	return ""
}
