package hook

import (
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
)

// program is a row of the table of risky programs.
type program struct {
	names string
	look  func(*judge, command)
}

// programs lists the programs. git has its own table.
func programs() []program {
	return []program{
		{removers, removed},
		{"rmdir", nil}, // only empty folders
		{"mv", movedBy},
		{"cp install ln rsync", copied},
		{"sed gsed perl ruby awk gawk ed ex vim", editedInPlace},
		{"truncate", truncated},
		{"tee sponge", teed},
		{"dd", ddWritten},
		{"chmod chattr chown", chmodded},
		{"patch", patched},
		{"gzip bzip2 xz zip tar", packed},
		{"curl wget", downloaded},
		{strings.Join(framework.Interpreters, " "), scripted},
		{"supervise", supervised},
		{"pkill killall", killed},
		{"git", gitUsed},
	}
}

// shell judges what a command line would do.
func (j *judge) shell(s script) {
	table := programs()
	for _, c := range s.commands {
		j.environment(c)
		for _, row := range table {
			if row.look != nil && slices.Contains(strings.Fields(row.names), c.name) {
				row.look(j, c)
			}
		}
	}
	for _, r := range s.redirects {
		j.written(j.place(r.target, r.dir), r.out, r.append)
	}
}

var (
	hooksOff   = regexp.MustCompile(`^(HUSKY=0|HUSKY_SKIP_HOOKS=\w+|LEFTHOOK=(0|false)|SKIP=\S+|PRE_COMMIT_ALLOW_NO_CONFIG=1)$`)
	gitHookEnv = regexp.MustCompile(`^GIT_CONFIG_(KEY|VALUE)_\d+=.*(hookspath|/dev/null)`)
)

// environment judges the variables that are set for a command.
func (j *judge) environment(c command) {
	for _, kv := range c.set {
		switch {
		case hooksOff.MatchString(kv) && (c.name == "git" || !strings.HasPrefix(kv, "SKIP=")):
			j.add("git_no_verify", kv)
		case gitHookEnv.MatchString(strings.ToLower(kv)):
			j.add("git_hooks_path", kv)
		case strings.HasPrefix(kv, SocketEnv+"="):
			j.add("supervise_command", kv)
		}
	}
}

func removed(j *judge, c command) {
	j.deleted(operands(c.args), c.dir, has(c.args, "-r", "--recursive") || has(c.args, "-R", ""))
}

func movedBy(j *judge, c command) {
	rest := operands(c.args)
	for i, w := range c.args {
		if (w.text == "-t" || w.text == "--target-directory") && i+1 < len(c.args) {
			rest = append(slices.DeleteFunc(rest, func(o word) bool { return o.text == c.args[i+1].text }), c.args[i+1])
		}
	}
	if len(rest) >= 2 {
		j.moved(rest[:len(rest)-1], rest[len(rest)-1], c.dir)
	}
}

// copied judges the files that a copy would overwrite.
func copied(j *judge, c command) {
	rest := operands(c.args)
	if len(rest) < 2 {
		return
	}
	if c.name == "rsync" && has(c.args, "", "--delete") {
		j.deleted(rest[len(rest)-1:], c.dir, true)
	}
	target := j.place(rest[len(rest)-1], c.dir)
	if j.own(target) {
		j.add("supervise_files", target.w.text)
		return
	}
	for _, w := range rest[:len(rest)-1] {
		to := target
		if j.isDir(target) || strings.HasSuffix(target.w.text, "/") {
			to = j.place(word{text: strings.TrimSuffix(target.w.text, "/") + "/" + base(w.text), glob: w.glob}, c.dir)
		}
		if w.text == "/dev/null" {
			j.written(to, stream{known: true}, false)
			continue
		}
		text, ok := j.read(j.place(w, c.dir).rel)
		j.written(to, stream{text: string(text), known: ok && c.name != "ln"}, false)
	}
}

var inPlace = map[string]*regexp.Regexp{
	"sed":  regexp.MustCompile(`^(-[a-zA-Z]*i|--in-place)`),
	"perl": regexp.MustCompile(`^-[a-zA-Z0]*i`),
	"ruby": regexp.MustCompile(`^-[a-zA-Z]*i`),
	"awk":  regexp.MustCompile(`^inplace$`),
}

var (
	cutsLines = regexp.MustCompile(`(^|[0-9$/}; ])d(\s|;|}|$)`)
	skipsIt   = regexp.MustCompile(`(?i)skip|ignore|disabled|xfail|\btodo\b|^(s/|.*\bs/).*(assert|expect)`)
)

// editedInPlace judges files that a program edits in place.
func editedInPlace(j *judge, c command) {
	name := strings.TrimPrefix(c.name, "g")
	re, ok := inPlace[name]
	switch {
	case name == "ed" || name == "ex" || name == "vim":
		if name == "vim" && !has(c.args, "-c", "") && !has(c.args, "-es", "") {
			return
		}
	case !ok || !slices.ContainsFunc(c.args, func(w word) bool { return re.MatchString(w.text) }):
		return
	}
	scripts, files := scriptAndFiles(c.args)
	for _, w := range files {
		j.inPlace(j.place(w, c.dir), strings.Join(scripts, "\n"))
	}
}

var scriptOption = regexp.MustCompile(`^-(e|f|c|[^-].*e)$`)

// scriptAndFiles separates the scripts of sed and similar programs from the files.
func scriptAndFiles(args []word) (scripts []string, files []word) {
	for i := 0; i < len(args); i++ {
		t := args[i].text
		switch {
		case scriptOption.MatchString(t) && i+1 < len(args):
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

func (j *judge) inPlace(p place, script string) {
	if j.own(p) {
		j.add("supervise_files", p.w.text)
		return
	}
	if hookFiles.MatchString(p.rel) {
		j.add("agent_hooks", p.rel)
		return
	}
	for _, f := range j.covers(p) {
		switch {
		case isTest(f) && (cutsLines.MatchString(script) || skipsIt.MatchString(script)):
			j.add("cut_test_lines", f)
		case isTest(f):
			j.add("edit_test_in_place", f)
		case j.isConfig(f):
			j.add("sed_config", f)
		}
	}
}

func truncated(j *judge, c command) {
	for _, w := range operands(c.args) {
		p := j.place(w, c.dir)
		for _, f := range j.covers(p) {
			if isTest(f) {
				j.add("empty_test_file", f)
			} else if !has(c.args, "-s", "--size") || slices.ContainsFunc(c.args, func(w word) bool { return w.text == "0" || strings.HasSuffix(w.text, "=0") || w.text == "-s0" }) {
				j.add("delete_files", f)
			}
		}
		if j.own(p) {
			j.add("supervise_files", w.text)
		}
	}
}

func teed(j *judge, c command) {
	for _, w := range operands(c.args) {
		j.written(j.place(w, c.dir), c.in, has(c.args, "-a", "--append"))
	}
}

func ddWritten(j *judge, c command) {
	for _, w := range c.args {
		if name, ok := strings.CutPrefix(w.text, "of="); ok {
			j.written(j.place(word{text: name, glob: w.glob, unknown: w.unknown}, c.dir), stream{}, false)
		}
	}
}

// chmodded judges tests that would become unreadable, and hooks that could no longer run.
func chmodded(j *judge, c command) {
	if len(c.args) == 0 || c.name == "chown" {
		return
	}
	rest := c.args
	for len(rest) > 1 && strings.HasPrefix(rest[0].text, "-") && len(rest[0].text) == 2 && strings.ContainsAny(rest[0].text[1:], "Rvfc") {
		rest = rest[1:]
	}
	mode := rest[0].text
	for _, w := range rest[1:] {
		p := j.place(w, c.dir)
		switch {
		case j.own(p):
			j.add("supervise_files", w.text)
		case hookFiles.MatchString(p.rel):
			j.add("agent_hooks", p.rel)
		case mode == "000" || mode == "0" || strings.Contains(mode, "-r") || mode == "+i":
			if tests := j.tests(j.covers(p)); len(tests) > 0 {
				j.add("tests_unreadable", listing(tests))
			}
		}
	}
}

// packed judges files that a program deletes after archiving them.
func packed(j *judge, c command) {
	rest := operands(c.args)
	switch {
	case c.name == "tar" && has(c.args, "", "--remove-files"), c.name == "zip" && has(c.args, "-m", "--move"):
		if len(rest) > 1 {
			j.deleted(rest[1:], c.dir, true)
		}
	case c.name == "tar" || c.name == "zip" || has(c.args, "-k", "--keep") || has(c.args, "-c", "--stdout") || has(c.args, "-d", "--decompress") || has(c.args, "-t", "-l"):
	default:
		for _, w := range rest {
			if tests := j.tests(j.covers(j.place(w, c.dir))); len(tests) > 0 {
				j.add("tests_out_of_discovery", listing(tests))
			}
		}
	}
}

// downloaded judges files that a download overwrites.
func downloaded(j *judge, c command) {
	for i, w := range c.args {
		if i+1 < len(c.args) && (c.name == "curl" && (w.text == "-o" || w.text == "--output") || c.name == "wget" && (w.text == "-O" || w.text == "--output-document")) {
			j.written(j.place(c.args[i+1], c.dir), stream{}, false)
		}
	}
}

// patched judges a patch whose text is known.
func patched(j *judge, c command) {
	if !c.in.known || has(c.args, "", "--dry-run") || has(c.args, "", "--check") || has(c.args, "", "--stat") {
		return
	}
	was := ""
	for line := range strings.Lines(c.in.text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "\t")
		if name, ok := strings.CutPrefix(line, "--- "); ok {
			was = name
		}
		is, ok := strings.CutPrefix(line, "+++ ")
		switch {
		case !ok:
		case has(c.args, "-R", "--reverse"):
			j.patchedFile(is, was, c.dir)
		default:
			j.patchedFile(was, is, c.dir)
		}
	}
}

// patchedFile judges one file of a patch, by its names before and after.
func (j *judge) patchedFile(was, is, dir string) {
	if _, rest, ok := strings.Cut(was, "/"); ok {
		was = rest
	}
	switch {
	case is == "/dev/null":
		j.deleted([]word{{text: was}}, dir, false)
	case isTest(was):
		j.add("edit_test_in_place", was)
	}
}

var (
	scriptDeletes = regexp.MustCompile(`\b(os\.(remove|unlink|removedirs|rmdir|rename|replace)|shutil\.(rmtree|move)|\.unlink\(|\.rmdir\(|\.rename\(|(fs\.)?(rmSync|unlinkSync|rm|unlink|renameSync|rmdirSync|truncateSync)\(|File\.(delete|unlink|rename)|FileUtils\.(rm|mv)\w*|unlink\s*\(?|rmtree)`)
	scriptWrites  = regexp.MustCompile(`(open\([^)]*["'][wa]b?\+?["']|write_text\(|write_bytes\(|writeFile(Sync)?\(|file_put_contents|File\.write|\.truncate\()`)
	quotedText    = regexp.MustCompile(`'([^'\n]{1,300})'|"([^"\n]{1,300})"`)
)

// scripted judges a script in another language, from the command line or standard input. Its
// string literals name the files.
func scripted(j *judge, c command) {
	text := scriptOf(c)
	deletes, writes := scriptDeletes.MatchString(text), scriptWrites.MatchString(text)
	if !deletes && !writes {
		return
	}
	for _, m := range quotedText.FindAllStringSubmatch(text, -1) {
		name := first(m[1], m[2])
		glob := strings.ContainsAny(name, "*?[")
		if glob && !strings.Contains(name, "/") && strings.Contains(text, "rglob(") {
			name = "**/" + name
		}
		p := j.place(word{text: name, glob: glob}, c.dir)
		switch files := j.covers(p); {
		case j.own(p):
			j.add("supervise_files", name)
		case strings.ContainsAny(name, " \t()") || p.rel == "" || p.rel == ".":
		case len(j.tests(files)) > 0 && deletes:
			j.add("script_on_tests", listing(j.tests(files)))
		case len(j.tests(files)) > 0:
			j.add("edit_test_in_place", listing(j.tests(files)))
		}
	}
}

// scriptOf returns the script of an interpreter, "" for none, or for a file that the agent did
// not write.
func scriptOf(c command) string {
	if c.script != "" {
		return c.script
	}
	for i, w := range c.args {
		if slices.Contains([]string{"-c", "-e", "--eval", "-r", "-p"}, w.text) && i+1 < len(c.args) {
			return c.args[i+1].text
		}
	}
	if rest := operands(c.args); c.in.known && (len(rest) == 0 || rest[0].text == "-") {
		return c.in.text
	}
	return ""
}

// personal are the subcommands of supervise that take a decision.
var personal = []string{"approve", "reject", "abort", "ack", "rollback", "select", "clean", "pause", "resume", "record", "decide"}

func supervised(j *judge, c command) {
	rest := operands(c.args)
	if len(rest) == 0 || has(c.args, "", "--help") {
		return
	}
	if slices.Contains(personal, rest[0].text) || rest[0].text == "hooks" && len(rest) > 1 && rest[1].text != "status" {
		j.add("supervise_command", "supervise "+rest[0].text)
	}
}

func killed(j *judge, c command) {
	for _, w := range operands(c.args) {
		if strings.Contains(w.text, "supervise") {
			j.add("supervise_command", c.name+" "+w.text)
		}
	}
}
