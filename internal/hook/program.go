package hook

import (
	"cmp"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
)

// programRow is a row of the table of risky programs.
type programRow struct {
	names string                // names of programs, separated by spaces
	judge func(*judge, command) // adds the risks of a command; nil if there are none
}

// programRows returns the table of risky programs. The commands of git have a separate table.
func programRows() []programRow {
	return []programRow{
		{removers, judgeRemove},
		{"rmdir", nil}, // deletes only empty folders
		{"mv", judgeMoveCommand},
		{"cp install ln rsync", judgeCopy},
		{"sed gsed perl ruby awk gawk ed ex vim", judgeInPlaceEdit},
		{"truncate", judgeTruncate},
		{"tee sponge", judgeTee},
		{"dd", judgeDD},
		{"chmod chattr chown", judgeChmod},
		{"patch", judgePatchCommand},
		{"gzip bzip2 xz zip tar", judgeArchive},
		{"curl wget", judgeDownload},
		{strings.Join(framework.Interpreters, " "), judgeInterpreter},
		{"supervise", judgeSupervise},
		{"pkill killall", judgeKill},
		{"git", judgeGit},
	}
}

// judgeScript judges what a command line would do.
func (j *judge) judgeScript(s script) {
	table := programRows()
	for _, c := range s.commands {
		j.judgeVariables(c)
		for _, row := range table {
			if row.judge != nil && slices.Contains(strings.Fields(row.names), c.name) {
				row.judge(j, c)
			}
		}
	}
	for _, r := range s.redirects {
		j.judgeWrite(j.resolve(r.target, r.dir), r.out, r.append)
	}
}

var (
	// disabledHooksRE matches a variable that disables the hooks of git, as in HUSKY=0.
	disabledHooksRE = regexp.MustCompile(`^(HUSKY=0|HUSKY_SKIP_HOOKS=\w+|LEFTHOOK=(0|false)|SKIP=\S+|PRE_COMMIT_ALLOW_NO_CONFIG=1)$`)
	// gitHookVariableRE matches a variable that sets the folder of git's hooks, as in
	// GIT_CONFIG_KEY_0=core.hooksPath.
	gitHookVariableRE = regexp.MustCompile(`(?i)^GIT_CONFIG_(KEY|VALUE)_\d+=.*(hookspath|/dev/null)`)
)

// judgeVariables judges the variables that are set for a command.
func (j *judge) judgeVariables(c command) {
	for _, kv := range c.set {
		switch {
		case disabledHooksRE.MatchString(kv) && (c.name == "git" || !strings.HasPrefix(kv, "SKIP=")):
			j.addRisk("git_no_verify", kv)
		case gitHookVariableRE.MatchString(kv):
			j.addRisk("git_hooks_path", kv)
		case strings.HasPrefix(kv, SocketEnv+"="):
			j.addRisk("supervise_command", kv)
		}
	}
}

// judgeRemove judges the files that a program deletes.
func judgeRemove(j *judge, c command) {
	j.judgeDeletions(operands(c.args), c.dir, hasOption(c.args, "-r -R --recursive"))
}

// judgeMoveCommand judges the files that mv moves. The target may precede them, after -t.
func judgeMoveCommand(j *judge, c command) {
	remaining := operands(c.args)
	for i, w := range c.args {
		if (w.text == "-t" || w.text == "--target-directory") && i+1 < len(c.args) {
			target := c.args[i+1]
			remaining = append(slices.DeleteFunc(remaining, func(o word) bool { return o.text == target.text }), target)
		}
	}
	if len(remaining) >= 2 {
		j.judgeMoves(remaining[:len(remaining)-1], remaining[len(remaining)-1], c.dir)
	}
}

// judgeCopy judges the files that a copy would overwrite, and those that rsync --delete would
// delete.
func judgeCopy(j *judge, c command) {
	remaining := operands(c.args)
	if len(remaining) < 2 {
		return
	}
	if c.name == "rsync" && hasOption(c.args, "--delete") {
		j.judgeDeletions(remaining[len(remaining)-1:], c.dir, true)
	}

	target := j.resolve(remaining[len(remaining)-1], c.dir)
	if j.isOwn(target) {
		j.addRisk("supervise_files", target.word.text)
		return
	}

	for _, w := range remaining[:len(remaining)-1] {
		to := target
		if j.isDir(target) || strings.HasSuffix(target.word.text, "/") {
			to = j.resolve(wordInFolder(target.word, w), c.dir)
		}
		if w.text == "/dev/null" {
			j.judgeWrite(to, stream{known: true}, false)
			continue
		}
		text, ok := j.read(j.resolve(w, c.dir).rel)
		j.judgeWrite(to, stream{text: string(text), known: ok && c.name != "ln"}, false)
	}
}

// inPlaceOptionREs match the option by which a program edits files in place, as in "sed -i" and
// "perl -pi".
var inPlaceOptionREs = map[string]*regexp.Regexp{
	"sed":  regexp.MustCompile(`^(-[a-zA-Z]*i|--in-place)`),
	"perl": regexp.MustCompile(`^-[a-zA-Z0]*i`),
	"ruby": regexp.MustCompile(`^-[a-zA-Z]*i`),
	"awk":  regexp.MustCompile(`^inplace$`),
}

var (
	// deleteLinesRE matches a script of sed or similar that deletes lines, as in "1,5d".
	deleteLinesRE = regexp.MustCompile(`(^|[0-9$/}; ])d(\s|;|}|$)`)
	// skipTestsRE matches a script that may skip tests or replace assertions, as in
	// "s/assert/pass/".
	skipTestsRE = regexp.MustCompile(`(?i)skip|ignore|disabled|xfail|\btodo\b|^(s/|.*\bs/).*(assert|expect)`)
)

// judgeInPlaceEdit judges files that a program edits in place.
func judgeInPlaceEdit(j *judge, c command) {
	name := strings.TrimPrefix(c.name, "g")
	isInPlace := name == "ed" || name == "ex" || name == "vim" && hasOption(c.args, "-c -es")
	if re, ok := inPlaceOptionREs[name]; ok {
		isInPlace = slices.ContainsFunc(c.args, func(w word) bool { return re.MatchString(w.text) })
	}
	if !isInPlace {
		return
	}
	scripts, files := splitScriptArguments(c.args)
	for _, w := range files {
		j.judgeInPlaceFile(j.resolve(w, c.dir), strings.Join(scripts, "\n"))
	}
}

// scriptOptionRE matches an option whose value is a script, as in -e and -ne.
var scriptOptionRE = regexp.MustCompile(`^-(e|f|c|[^-].*e)$`)

// splitScriptArguments separates the scripts of sed and similar programs from the files. Without
// an option for a script, the first file is the script.
func splitScriptArguments(args []word) (scripts []string, files []word) {
	for i := 0; i < len(args); i++ {
		t := args[i].text
		switch {
		case scriptOptionRE.MatchString(t) && i+1 < len(args):
			i++
			scripts = append(scripts, args[i].text)
		case t == "" || strings.HasPrefix(t, "-") || t == "inplace":
		default:
			files = append(files, args[i])
		}
	}
	if len(scripts) == 0 && len(files) > 0 {
		scripts, files = []string{files[0].text}, files[1:]
	}
	return scripts, files
}

// judgeInPlaceFile judges a file that a script edits in place.
func (j *judge) judgeInPlaceFile(p target, script string) {
	if j.addProtected(p) {
		return
	}
	for _, f := range j.filesAt(p) {
		switch {
		case isTest(f) && (deleteLinesRE.MatchString(script) || skipTestsRE.MatchString(script)):
			j.addRisk("cut_test_lines", f)
		case isTest(f):
			j.addRisk("edit_test_in_place", f)
		case j.isConfig(f):
			j.addRisk("sed_config", f)
		}
	}
}

// judgeTruncate judges files that become shorter or empty.
func judgeTruncate(j *judge, c command) {
	for _, w := range operands(c.args) {
		p := j.resolve(w, c.dir)
		for _, f := range j.filesAt(p) {
			if isTest(f) {
				j.addRisk("empty_test_file", f)
			} else if !hasOption(c.args, "-s --size") || slices.ContainsFunc(c.args, func(w word) bool { return w.text == "0" || strings.HasSuffix(w.text, "=0") || w.text == "-s0" }) {
				j.addRisk("delete_files", f)
			}
		}
		if j.isOwn(p) {
			j.addRisk("supervise_files", w.text)
		}
	}
}

// judgeTee judges the files that tee writes.
func judgeTee(j *judge, c command) {
	for _, w := range operands(c.args) {
		j.judgeWrite(j.resolve(w, c.dir), c.in, hasOption(c.args, "-a --append"))
	}
}

// judgeDD judges the file that dd writes: of=FILE.
func judgeDD(j *judge, c command) {
	for _, w := range c.args {
		if name, ok := strings.CutPrefix(w.text, "of="); ok {
			j.judgeWrite(j.resolve(word{text: name, glob: w.glob, unknown: w.unknown}, c.dir), stream{}, false)
		}
	}
}

// judgeChmod judges tests that would become unreadable, and hooks that may no longer run.
func judgeChmod(j *judge, c command) {
	if len(c.args) == 0 || c.name == "chown" {
		return
	}
	remaining := c.args
	for len(remaining) > 1 && strings.HasPrefix(remaining[0].text, "-") && len(remaining[0].text) == 2 && strings.ContainsAny(remaining[0].text[1:], "Rvfc") {
		remaining = remaining[1:]
	}

	mode := remaining[0].text
	makesUnreadable := mode == "000" || mode == "0" || strings.Contains(mode, "-r") || mode == "+i"
	for _, w := range remaining[1:] {
		p := j.resolve(w, c.dir)
		if tests := j.filterTests(j.filesAt(p)); !j.addProtected(p) && makesUnreadable && len(tests) > 0 {
			j.addRisk("tests_unreadable", listFiles(tests))
		}
	}
}

// judgeArchive judges files that a program deletes after archiving them.
func judgeArchive(j *judge, c command) {
	remaining := operands(c.args)
	switch {
	case c.name == "tar" && hasOption(c.args, "--remove-files"), c.name == "zip" && hasOption(c.args, "-m --move"):
		if len(remaining) > 1 {
			j.judgeDeletions(remaining[1:], c.dir, true)
		}
	case c.name == "tar" || c.name == "zip" || hasOption(c.args, "-k --keep -c --stdout -d --decompress -t -l"):
	default:
		for _, w := range remaining {
			if tests := j.filterTests(j.filesAt(j.resolve(w, c.dir))); len(tests) > 0 {
				j.addRisk("tests_out_of_discovery", listFiles(tests))
			}
		}
	}
}

// judgeDownload judges the files that a download overwrites.
func judgeDownload(j *judge, c command) {
	options := map[string][]string{"curl": {"-o", "--output"}, "wget": {"-O", "--output-document"}}[c.name]
	for i, w := range c.args {
		if i+1 < len(c.args) && slices.Contains(options, w.text) {
			j.judgeWrite(j.resolve(c.args[i+1], c.dir), stream{}, false)
		}
	}
}

// judgePatchCommand judges the files of a patch, if its text is known. With -R, the patch is
// reversed.
func judgePatchCommand(j *judge, c command) {
	if !c.in.known || hasOption(c.args, "--dry-run --check --stat") {
		return
	}
	before := ""
	for line := range strings.Lines(c.in.text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "\t")
		if name, ok := strings.CutPrefix(line, "--- "); ok {
			before = name
		}
		after, ok := strings.CutPrefix(line, "+++ ")
		switch {
		case !ok:
		case hasOption(c.args, "-R --reverse"):
			j.judgePatchedFile(after, before, c.dir)
		default:
			j.judgePatchedFile(before, after, c.dir)
		}
	}
}

// judgePatchedFile judges one file of a patch, by its names before and after.
func (j *judge) judgePatchedFile(before, after, dir string) {
	if _, remaining, ok := strings.Cut(before, "/"); ok {
		before = remaining
	}
	switch {
	case after == "/dev/null":
		j.judgeDeletions([]word{{text: before}}, dir, false)
	case isTest(before):
		j.addRisk("edit_test_in_place", before)
	}
}

var (
	// deletingCallRE matches a call that deletes or moves a file, as in os.remove and
	// fs.unlinkSync(.
	deletingCallRE = regexp.MustCompile(`\b(os\.(remove|unlink|removedirs|rmdir|rename|replace)|shutil\.(rmtree|move)|\.unlink\(|\.rmdir\(|\.rename\(|(fs\.)?(rmSync|unlinkSync|rm|unlink|renameSync|rmdirSync|truncateSync)\(|File\.(delete|unlink|rename)|FileUtils\.(rm|mv)\w*|unlink\s*\(?|rmtree)`)
	// writingCallRE matches a call that writes a file, as in open("x", "w") and writeFileSync(.
	writingCallRE = regexp.MustCompile(`(open\([^)]*["'][wa]b?\+?["']|write_text\(|write_bytes\(|writeFile(Sync)?\(|file_put_contents|File\.write|\.truncate\()`)
	// quotedTextRE matches a string literal. One of its groups is the text.
	quotedTextRE = regexp.MustCompile(`'([^'\n]{1,300})'|"([^"\n]{1,300})"`)
)

// judgeInterpreter judges a script in another language, from the command line, a file or standard
// input. Its string literals name the files.
func judgeInterpreter(j *judge, c command) {
	text := scriptOf(c)
	deletes, writes := deletingCallRE.MatchString(text), writingCallRE.MatchString(text)
	if !deletes && !writes {
		return
	}

	for _, m := range quotedTextRE.FindAllStringSubmatch(text, -1) {
		name := cmp.Or(m[1], m[2])
		glob := strings.ContainsAny(name, "*?[")
		if glob && !strings.Contains(name, "/") && strings.Contains(text, "rglob(") {
			name = "**/" + name
		}

		p := j.resolve(word{text: name, glob: glob}, c.dir)
		switch files := j.filesAt(p); {
		case j.isOwn(p):
			j.addRisk("supervise_files", name)
		case strings.ContainsAny(name, " \t()") || p.rel == "" || p.rel == ".":
		case len(j.filterTests(files)) > 0 && deletes:
			j.addRisk("script_on_tests", listFiles(j.filterTests(files)))
		case len(j.filterTests(files)) > 0:
			j.addRisk("edit_test_in_place", listFiles(j.filterTests(files)))
		}
	}
}

// scriptOf returns the script of an interpreter. It is "" if there is none, or if it is a file
// that the agent did not write.
func scriptOf(c command) string {
	if c.script != "" {
		return c.script
	}
	for i, w := range c.args {
		if slices.Contains([]string{"-c", "-e", "--eval", "-r", "-p"}, w.text) && i+1 < len(c.args) {
			return c.args[i+1].text
		}
	}
	if remaining := operands(c.args); c.in.known && (len(remaining) == 0 || remaining[0].text == "-") {
		return c.in.text
	}
	return ""
}

// decisionCommands are the subcommands of supervise that take a decision.
var decisionCommands = []string{"approve", "reject", "abort", "ack", "rollback", "select", "clean", "pause", "resume", "record", "decide"}

// judgeSupervise judges commands of supervise that decide for a person.
func judgeSupervise(j *judge, c command) {
	remaining := operands(c.args)
	if len(remaining) == 0 || hasOption(c.args, "--help") {
		return
	}
	verb := remaining[0].text
	changesHooks := verb == "hooks" && len(remaining) > 1 && remaining[1].text != "status"
	if changesHooks || slices.Contains(decisionCommands, verb) {
		j.addRisk("supervise_command", "supervise "+verb)
	}
}

// judgeKill judges commands that end the supervisor.
func judgeKill(j *judge, c command) {
	for _, w := range operands(c.args) {
		if strings.Contains(w.text, "supervise") {
			j.addRisk("supervise_command", c.name+" "+w.text)
		}
	}
}
