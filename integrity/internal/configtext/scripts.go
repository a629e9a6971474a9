package configtext

import (
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
)

// makeTargetRE is the head of a rule, but not an assignment with :=.
var makeTargetRE = regexp.MustCompile(`^([A-Za-z0-9_.%/$(){}-][^:=#]*?)\s*::?([^=].*)?$`)

var makeAssignmentRE = regexp.MustCompile(`^(?:export\s+|override\s+)?([A-Za-z_][\w.-]*)\s*(?:[:+?!]{0,2}=)\s*(.*)$`)

// readMakefile reads the recipes of a Makefile or a justfile, and its variables.
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

// makeValues are the variables of a Makefile whose value is written out.
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

var makeVariableRE = regexp.MustCompile(`\$[({](\w+)[)}]`)

// expandVariables replaces variables by their values.
func expandVariables(text string, values map[string]string) string {
	return makeVariableRE.ReplaceAllStringFunc(text, func(name string) string {
		if v := values[name[2:len(name)-1]]; v != "" {
			return v
		}
		return name
	})
}

var dockerLineRE = regexp.MustCompile(`(?i)^\s*(RUN|CMD|ENTRYPOINT|ENV|ARG)\s+(.*)$`)

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

var shellAssignmentRE = regexp.MustCompile(`^\s*(?:export\s+|declare\s+-x\s+)?([A-Za-z_]\w*)=(.*)$`)

// heredocRE matches the beginning of a here-document.
var heredocRE = regexp.MustCompile(`<<-?\s*['"]?([A-Za-z_]\w*)['"]?`)

// removeHeredocs leaves out the here-documents of a script.
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

// readPowerShell reads a script of PowerShell or of the command prompt, which both continue
// after a failure.
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
	// codeNumber is an option with a number: minimum_coverage 90, threshold: 80.
	codeOptionRE = regexp.MustCompile(`([A-Za-z_][\w.]*)["']?\s*(?:[:=(]|=>|\s)\s*["']?([0-9]+(?:\.[0-9]+)?%?|true|false|True|False|TRUE|FALSE|ON|OFF)\b`)
	codeStringRE = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`)
	// codeRunRE is a call that runs a program.
	codeRunRE = regexp.MustCompile(`\b(?:session\.run(?:_always)?|(?:c|ctx|context|conn)\.run|subprocess\.\w+|os\.system|local|sh|system|exec|spawn|execa|shell|run)\s*[( ]`)
	// codeCoverageRE is the name of a limit of the coverage whose parts follow.
	codeCoverageRE = regexp.MustCompile(`(?i)min\w*_?coverage\w*|coverage_?(threshold|minimum)\w*`)
	// codeNamedListRE is a list given by name: exclude: [:slow].
	codeNamedListRE = regexp.MustCompile(`\b(exclude|include|only|omit|ignore|except):\s*\[([^\]]*)\]`)
	// codeListRE is an assignment of strings: collect_ignore = ["a"].
	codeListRE = regexp.MustCompile(`^\s*([A-Za-z_][\w.]*)\s*(?:\+?=|:|\.append\(|\.extend\()\s*(.*)$`)
)

// rakeDefaultRE is what the default task of a Rakefile consists of.
var (
	rakeDefaultRE = regexp.MustCompile(`^\s*(?:multi)?task\s*\(?\s*:?default\b(.*)$`)
	codeNameRE    = regexp.MustCompile(`\w+`)
)

// readCode reads options from code: names with numbers, lists of strings, and the programs
// that are run.
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

// addStrings takes the strings of a statement: the words of a program that it runs,
// or the elements of a list that it sets.
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

// addOptions takes the names with numbers, and the named lists, of a line.
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

// countOpenBrackets counts the brackets that a text leaves open.
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

// commandKeyRE are the settings whose values are run.
var commandKeyRE = regexp.MustCompile(`(^|\.|\])(scripts|tasks|alias|aliases|script|beforescript|afterscript|run|command|commands|commandspre|commandspost|cmd|cmds|entry|bash|pwsh|powershell|testscript|buildscript|aftertestscript|checks?|exec@command|sh|bat|testcommand)(\[\])?$|(^|\.)(scripts|tasks|alias|aliases)\.[^.]+(\[\])?$|(^|\.)(scripts|tasks)\.[^.]+\.(cmd|shell|run|sequence\[\])$|^lefthook.*\.run$`)

// argumentKeyRE are the settings whose values are arguments of a known program.
var argumentKeyRE = regexp.MustCompile(`(^|\.)(addopts|args\[\]|testargs|maven\.?opts|mavenargs|gradleopts)$`)

// auxiliaryActionRE are actions that run no tests, whatever their step is called.
var auxiliaryActionRE = regexp.MustCompile(`(?i)report|upload|download|artifact|comment|publish|setup|checkout|cache|cov|login|summary|annotat|notif|slack|label|free-disk`)

// addNamedCommands takes the settings that are commands.
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

// addListedArguments takes the lists of arguments, whose elements are the words of one
// command, where they are not there completely.
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

// joinElements joins the elements of a list to a line of words.
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

// argumentProgram names the program that gets the arguments.
func argumentProgram(key string) string {
	for part, program := range framework.ArgumentSettings {
		if strings.Contains(key, part) {
			return program + " "
		}
	}
	return ""
}

// limitFlagRE is an argument that is a limit.
var (
	limitFlagRE          = regexp.MustCompile(`(?:^|\s)(?:--?|/p:|-D|-P)([\w.:-]*(?:fail-?under|threshold|max-warnings|min-?cov\w*|minimum-?coverage|min-msi|min-covered-msi|-lines|-branches|-functions|-statements)[\w.:-]*|lines|branches|functions|statements)[= ]["']?(\d+(?:\.\d+)?)`)
	coverageComparisonRE = regexp.MustCompile(`(?i)cov\w*.*?(?:<|-lt|-le|<=)\s*["']?(\d+(?:\.\d+)?)`)
)

// addLimits adds the limits in commands to the settings.
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

// maskKeyRE are the settings next to a command that ignore its failure, or keep it from
// running.
var maskKeyRE = regexp.MustCompile(`(^|\.)(continueonerror|allowfailure|ignorefailure|ignoreerrors|if|enabled|when|ignoreoutcome|softfail|ignoreerror|ignorefail|condition|stages\[\]|failfast)$`)

var (
	alwaysFalseRE = regexp.MustCompile(`^\s*(\$\{\{\s*)?(false|0|!\s*true|always\(\)\s*&&\s*false|false\s*&&.*|.*&&\s*false)(\s*\}\})?\s*$`)
	// AlwaysTrueRE matches a condition that always holds.
	AlwaysTrueRE = regexp.MustCompile(`(?i)^\s*(\$\{\{\s*)?(true|1|yes|on|always)(\s*\}\})?\s*$`)
)

// markMaskedCommands marks the commands whose failure is ignored by a setting next to or above
// them.
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

// translateMask translates such settings of GitLab and Jenkins to those of other services.
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
