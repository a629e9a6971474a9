package configtext

import (
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
)

// makeTarget is the head of a rule, but not an assignment with :=.
var makeTarget = regexp.MustCompile(`^([A-Za-z0-9_.%/$(){}-][^:=#]*?)\s*::?([^=].*)?$`)

var makeAssignment = regexp.MustCompile(`^(?:export\s+|override\s+)?([A-Za-z_][\w.-]*)\s*(?:[:+?!]{0,2}=)\s*(.*)$`)

// makefile reads the recipes of a Makefile or a justfile, and its variables.
func (r *Reading) makefile(text string) {
	target := ""
	lines := joined(text, 1)
	values := makeValues(lines)
	for _, l := range lines {
		recipe := strings.HasPrefix(l.text, "\t") || target != "" && strings.HasPrefix(l.text, "  ")
		switch m := makeAssignment.FindStringSubmatch(l.text); {
		case recipe && target != "":
			r.run(target, expanded(l.text, values), l.n)
		case m != nil:
			r.set(PlainKey(m[1]), m[2], l.n)
		default:
			if m := makeTarget.FindStringSubmatch(l.text); m != nil {
				target = PlainKey(m[1])
				r.set(target+".needs", strings.TrimSpace(m[2]), l.n)
			}
		}
	}
}

// makeValues are the variables of a Makefile whose value is written out.
func makeValues(lines []scriptLine) map[string]string {
	out := map[string]string{}
	for _, l := range lines {
		if m := makeAssignment.FindStringSubmatch(l.text); m != nil && !strings.HasPrefix(l.text, "\t") {
			out[m[1]] = strings.TrimSpace(m[2])
			if strings.Contains(m[2], "$") {
				delete(out, m[1])
			}
		}
	}
	return out
}

var makeName = regexp.MustCompile(`\$[({](\w+)[)}]`)

// expanded replaces variables by their values.
func expanded(text string, values map[string]string) string {
	return makeName.ReplaceAllStringFunc(text, func(name string) string {
		if v := values[name[2:len(name)-1]]; v != "" {
			return v
		}
		return name
	})
}

var dockerLine = regexp.MustCompile(`(?i)^\s*(RUN|CMD|ENTRYPOINT|ENV|ARG)\s+(.*)$`)

func (r *Reading) dockerfile(text string) {
	for _, l := range joined(text, 1) {
		m := dockerLine.FindStringSubmatch(l.text)
		if m == nil {
			continue
		}
		switch word := strings.ToUpper(m[1]); word {
		case "ENV", "ARG":
			if name, value, ok := strings.Cut(strings.Replace(m[2], " ", "=", 1), "="); ok {
				r.set("env."+PlainKey(name), unquote(value), l.n)
			}
		default:
			if strings.HasPrefix(m[2], "[") {
				m[2] = strings.NewReplacer("[", "", "]", "", `"`, "", ",", " ").Replace(m[2])
			}
			r.run(strings.ToLower(word), m[2], l.n)
		}
	}
}

var shellAssignment = regexp.MustCompile(`^\s*(?:export\s+|declare\s+-x\s+)?([A-Za-z_]\w*)=(.*)$`)

// hereDocument matches the beginning of a here-document.
var hereDocument = regexp.MustCompile(`<<-?\s*['"]?([A-Za-z_]\w*)['"]?`)

// withoutTexts leaves out the here-documents of a script.
func withoutTexts(script string) string {
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
		if m := hereDocument.FindStringSubmatch(l); m != nil && !strings.Contains(l, "<<<") {
			end = m[1]
		}
	}
	if end != "" {
		return script // it does not end: it was no text
	}
	return strings.Join(out, "\n")
}

// powerShell reads a script of PowerShell or of the command prompt, which both continue
// after a failure.
func (r *Reading) powerShell(text string) {
	list := strings.Split(text, "\n")
	for i, l := range list {
		list[i] = strings.TrimLeft(strings.TrimSpace(l), "&@ ")
		if low := strings.ToLower(list[i]); strings.HasPrefix(low, "rem ") || strings.HasPrefix(list[i], "::") {
			list[i] = ""
		}
	}
	r.run(powerShellKey, strings.Join(list, "\n"), 1)
}

func (r *Reading) shell(text string) {
	text = withoutTexts(text)
	r.run(shellKey, text, 1)
	for i, l := range strings.Split(text, "\n") {
		if m := shellAssignment.FindStringSubmatch(l); m != nil && !strings.ContainsAny(unquote(m[2]), "$`") {
			r.set("env."+PlainKey(m[1]), unquote(m[2]), i+1)
		}
	}
}

var (
	// codeNumber is an option with a number: minimum_coverage 90, threshold: 80.
	codeOption = regexp.MustCompile(`([A-Za-z_][\w.]*)["']?\s*(?:[:=(]|=>|\s)\s*["']?([0-9]+(?:\.[0-9]+)?%?|true|false|True|False|TRUE|FALSE|ON|OFF)\b`)
	codeWord   = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`)
	// codeRun is a call that runs a program.
	codeRun = regexp.MustCompile(`\b(?:session\.run(?:_always)?|(?:c|ctx|context|conn)\.run|subprocess\.\w+|os\.system|local|sh|system|exec|spawn|execa|shell|run)\s*[( ]`)
	// codeCover is the name of a limit of the coverage whose parts follow.
	codeCover = regexp.MustCompile(`(?i)min\w*_?coverage\w*|coverage_?(threshold|minimum)\w*`)
	// codeNamed is a list given by name: exclude: [:slow].
	codeNamed = regexp.MustCompile(`\b(exclude|include|only|omit|ignore|except):\s*\[([^\]]*)\]`)
	// codeList is an assignment of strings: collect_ignore = ["a"].
	codeList = regexp.MustCompile(`^\s*([A-Za-z_][\w.]*)\s*(?:\+?=|:|\.append\(|\.extend\()\s*(.*)$`)
)

// rakeNeeds is what the default task of a Rakefile consists of.
var (
	rakeNeeds = regexp.MustCompile(`^\s*(?:multi)?task\s*\(?\s*:?default\b(.*)$`)
	codeName  = regexp.MustCompile(`\w+`)
)

// code reads options from code: names with numbers, lists of strings, and the programs
// that are run.
func (r *Reading) code(text string) {
	list := strings.Split(text, "\n")
	for i := 0; i < len(list); i++ {
		l, at := list[i], i+1
		if trimmed := strings.TrimSpace(l); strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "//") {
			continue
		}
		if m := rakeNeeds.FindStringSubmatch(l); m != nil {
			r.set("default.needs", strings.Join(codeName.FindAllString(m[1], -1), " "), at)
		}
		r.options(l, at)
		runs, assigned := codeRun.MatchString(l), codeList.FindStringSubmatch(l)
		if !runs && assigned == nil {
			continue
		}
		for balance(l) > 0 && i+1 < len(list) && i < at+40 {
			i++
			l += "\n" + list[i]
		}
		r.quoted(l, at, runs, assigned)
	}
}

// quoted takes the strings of a statement: the words of a program that it runs,
// or the elements of a list that it sets.
func (r *Reading) quoted(l string, at int, runs bool, assigned []string) {
	var words []string
	for _, m := range codeWord.FindAllStringSubmatch(l, -1) {
		words = append(words, m[1]+m[2])
	}
	switch {
	case runs && len(words) > 0:
		r.run("run", strings.ReplaceAll(strings.Join(words, " "), "\n", " "), at)
	case assigned != nil:
		for _, w := range words {
			r.set(PlainKey(assigned[1])+"[]", w, at)
		}
	}
}

// options takes the names with numbers, and the named lists, of a line.
func (r *Reading) options(l string, at int) {
	about := ""
	if m := codeCover.FindString(l); m != "" {
		about = PlainKey(m)
	}
	for _, m := range codeOption.FindAllStringSubmatch(l, 4) {
		key := PlainKey(m[1])
		if about != "" && !strings.HasSuffix(key, about) {
			key = about + "." + key
		}
		r.set(key, m[2], at)
	}
	for _, m := range codeNamed.FindAllStringSubmatch(l, 4) {
		for _, w := range strings.FieldsFunc(m[2], func(c rune) bool { return strings.ContainsRune(` ,"':`, c) }) {
			r.set(PlainKey(m[1])+"[]", w, at)
		}
	}
}

// balance counts the brackets that a text leaves open.
func balance(s string) int {
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

// commandKeys are the settings whose values are run.
var commandKeys = regexp.MustCompile(`(^|\.|\])(scripts|tasks|alias|aliases|script|beforescript|afterscript|run|command|commands|commandspre|commandspost|cmd|cmds|entry|bash|pwsh|powershell|testscript|buildscript|aftertestscript|checks?|exec@command|sh|bat|testcommand)(\[\])?$|(^|\.)(scripts|tasks|alias|aliases)\.[^.]+(\[\])?$|(^|\.)(scripts|tasks)\.[^.]+\.(cmd|shell|run|sequence\[\])$|^lefthook.*\.run$`)

// argumentKeys are the settings whose values are arguments of a known program.
var argumentKeys = regexp.MustCompile(`(^|\.)(addopts|args\[\]|testargs|maven\.?opts|mavenargs|gradleopts)$`)

// aroundTests are actions that run no tests, whatever their step is called.
var aroundTests = regexp.MustCompile(`(?i)report|upload|download|artifact|comment|publish|setup|checkout|cache|cov|login|summary|annotat|notif|slack|label|free-disk`)

// namedCommands takes the settings that are commands.
func (r *Reading) namedCommands() {
	there := map[Setting]bool{}
	for _, s := range r.Settings {
		there[Setting{Key: s.Key, Line: s.Line}] = true
	}
	r.listedArguments()
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
			} else if step && name != "" && purposeOf(key+".run") == framework.RunsTests && !aroundTests.MatchString(name) {
				r.Commands = append(r.Commands, Command{Key: key + ".run", Text: name, Line: s.Line})
			}
		case strings.HasSuffix(s.Key, ".inputs.command"): // of a step of Azure Pipelines
			r.run(s.Key, "dotnet "+s.Value, s.Line)
		case argumentKeys.MatchString(s.Key):
			r.run(s.Key, argumentsOf(s.Key)+strings.ReplaceAll(s.Value, "\n", " "), s.Line)
		case commandKeys.MatchString(s.Key):
			r.run(s.Key, s.Value, s.Line)
		}
	}
}

// listedArguments takes the lists of arguments, whose elements are the words of one
// command, where they are not there completely.
func (r *Reading) listedArguments() {
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
			r.run(key, argumentsOf(key)+r.words(s.Key), s.Line)
		}
	}
}

// words joins the elements of a list to a line of words.
func (r *Reading) words(key string) string {
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

// argumentsOf names the program that gets the arguments.
func argumentsOf(key string) string {
	for part, program := range framework.ArgumentSettings {
		if strings.Contains(key, part) {
			return program + " "
		}
	}
	return ""
}

// numberFlag is an argument that is a limit.
var (
	numberFlag  = regexp.MustCompile(`(?:^|\s)(?:--?|/p:|-D|-P)([\w.:-]*(?:fail-?under|threshold|max-warnings|min-?cov\w*|minimum-?coverage|min-msi|min-covered-msi|-lines|-branches|-functions|-statements)[\w.:-]*|lines|branches|functions|statements)[= ]["']?(\d+(?:\.\d+)?)`)
	coverageCut = regexp.MustCompile(`(?i)cov\w*.*?(?:<|-lt|-le|<=)\s*["']?(\d+(?:\.\d+)?)`)
)

// limits adds the limits in commands to the settings.
func (r *Reading) limits() {
	for _, c := range r.Commands {
		for _, m := range numberFlag.FindAllStringSubmatch(c.Text, -1) {
			r.set("flag.coverage."+PlainKey(strings.ReplaceAll(m[1], ".", "")), m[2], c.Line)
		}
		if m := coverageCut.FindStringSubmatch(c.Text); m != nil {
			r.set("flag.coveragethreshold", m[1], c.Line)
		}
	}
}

// excuseKeys are the settings next to a command that ignore its failure, or keep it from
// running.
var excuseKeys = regexp.MustCompile(`(^|\.)(continueonerror|allowfailure|ignorefailure|ignoreerrors|if|enabled|when|ignoreoutcome|softfail|ignoreerror|ignorefail|condition|stages\[\]|failfast)$`)

var (
	never = regexp.MustCompile(`^\s*(\$\{\{\s*)?(false|0|!\s*true|always\(\)\s*&&\s*false|false\s*&&.*|.*&&\s*false)(\s*\}\})?\s*$`)
	// AlwaysTrue matches a condition that always holds.
	AlwaysTrue = regexp.MustCompile(`(?i)^\s*(\$\{\{\s*)?(true|1|yes|on|always)(\s*\}\})?\s*$`)
)

// excuses marks the commands whose failure is ignored by a setting next to or above
// them.
func (r *Reading) excuses() {
	for _, s := range r.Settings {
		s = r.plainExcuse(s)
		m := excuseKeys.FindStringSubmatchIndex(s.Key)
		if m == nil {
			continue
		}
		why := excuse(s.Key[m[4]:m[5]], s.Value)
		if why == "" {
			continue
		}
		above := s.Key[:m[0]]
		for i := range r.Commands {
			if c := &r.Commands[i]; above == "" || strings.HasPrefix(c.Key, above+".") {
				c.excused = why
			}
		}
	}
}

// plainExcuse translates such settings of GitLab and Jenkins to those of other services.
func (r *Reading) plainExcuse(s Setting) Setting {
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

func excuse(name, value string) string {
	switch name {
	case "stages[]":
		if value == "manual" {
			return "when: manual"
		}
	case "if", "condition":
		if never.MatchString(value) {
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
		if AlwaysTrue.MatchString(value) {
			return name
		}
	}
	return ""
}
