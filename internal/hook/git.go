package hook

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
)

// gitRow is a row of the table of risky git commands. It matches a command with its subcommand
// that has at least one of the options in any and none of those in none. An empty any requires no
// option.
type gitRow struct {
	rule       string // name of the rule of the risk
	subcommand string
	any, none  string // options, separated by spaces
	// when reports whether the remaining arguments match. A nil when means that they always do.
	when func(g gitCommand) bool
}

// gitRows is the table of risky git commands.
var gitRows = []gitRow{
	{"git_reset_hard", "reset", "--hard --merge --keep", "", nil},
	{"git_reset_hard", "read-tree", "--reset -u", "-n --dry-run", nil},
	{"git_discard_all", "checkout", "-f --force", "", nil},
	{"git_discard_all", "checkout-index", "-f --force", "", func(g gitCommand) bool { return hasOption(g.args, "-a --all") }},
	{"git_discard_all", "switch", "-f --force --discard-changes", "", nil},
	{"git_clean", "clean", "-f --force", "-n --dry-run -i", nil},
	{"git_clean", "clean", "-x -X -d", "-n --dry-run -f --force -i", func(g gitCommand) bool { return slices.Contains(g.config, "clean.requireForce=false") }},
	{"git_stash", "stash", "", "", func(g gitCommand) bool { return stashVerb(g) == "push" }},
	{"git_stash_drop", "stash", "", "", func(g gitCommand) bool { return stashVerb(g) == "drop" }},
	{"git_no_verify", "commit", "--no-verify -n", "", nil},
	{"git_no_verify", "push", "--no-verify", "", nil},
	{"git_no_verify", "merge", "--no-verify", "", nil},
	{"git_no_verify", "rebase", "--no-verify", "", nil},
	{"git_no_verify", "am", "--no-verify -n", "", nil},
	{"git_force_push", "push", "-f --force --force-with-lease --mirror --prune -d --delete", "-n --dry-run", nil},
	{"git_force_push", "push", "", "-n --dry-run", func(g gitCommand) bool {
		return slices.ContainsFunc(operands(g.args), func(w word) bool { return strings.HasPrefix(w.text, "+") || strings.HasPrefix(w.text, ":") })
	}},
	{"git_hide", "update-index", "--assume-unchanged --skip-worktree", "", nil},
	{"git_hide", "sparse-checkout", "", "", func(g gitCommand) bool { return firstOperand(g) != "list" && firstOperand(g) != "disable" }},
	{"git_history", "filter-branch", "", "", nil},
	{"git_history", "filter-repo", "", "", nil},
	{"git_history", "replace", "", "-l --list", nil},
	{"git_history", "reflog", "", "", func(g gitCommand) bool { return firstOperand(g) == "expire" || firstOperand(g) == "delete" }},
	{"git_history", "update-ref", "-d --delete", "", nil},
	{"git_history", "gc", "--prune", "", nil},
	{"git_history", "prune", "", "-n --dry-run", nil},
	{"git_branch_delete", "branch", "-D", "", nil},
	{"git_branch_delete", "branch", "-f --force", "", func(g gitCommand) bool { return hasOption(g.args, "-d --delete") }},
	{"git_branch_delete", "worktree", "-f --force", "", func(g gitCommand) bool { return firstOperand(g) == "remove" }},
}

// firstOperand returns the first argument that is not an option, or "".
func firstOperand(g gitCommand) string {
	if remaining := operands(g.args); len(remaining) > 0 {
		return remaining[0].text
	}
	return ""
}

// stashVerb returns what a "git stash" does: "push", "drop", or a harmless subcommand such as
// "list".
func stashVerb(g gitCommand) string {
	switch v := firstOperand(g); {
	case len(g.args) > 0 && strings.HasPrefix(g.args[0].text, "-"), v == "", v == "push", v == "save":
		return "push"
	case v == "drop", v == "clear":
		return "drop"
	default:
		return v
	}
}

// judgeGit judges a git command.
func judgeGit(j *judge, c command) {
	g := parseGit(c)
	for _, kv := range g.config {
		j.judgeGitSetting(kv)
	}
	for _, row := range gitRows {
		if row.matches(g) {
			j.addRisk(row.rule, shorten("git "+g.subcommand+" "+joinTexts(g.args)))
		}
	}

	switch g.subcommand {
	case "rm":
		if !hasOption(g.args, "--cached -n --dry-run") {
			j.judgeDeletions(operands(g.args), g.dir, hasOption(g.args, "-r"))
		}
	case "mv":
		if remaining := operands(g.args); len(remaining) >= 2 {
			j.judgeMoves(remaining[:len(remaining)-1], remaining[len(remaining)-1], g.dir)
		}
	case "checkout":
		j.judgeGitCheckout(g)
	case "restore":
		j.judgeGitRestore(g)
	case "config":
		j.judgeGitConfig(g)
	case "apply", "am":
		judgePatchCommand(j, command{args: g.args, dir: g.dir, in: c.in})
	}
}

// matches reports whether a row matches a git command.
func (row gitRow) matches(g gitCommand) bool {
	if row.subcommand != g.subcommand || hasOption(g.args, "--help") {
		return false
	}
	hasAny := row.any == "" || hasOption(g.args, row.any)
	return hasAny && !hasOption(g.args, row.none) && (row.when == nil || row.when(g))
}

// joinTexts returns the texts of words, separated by spaces.
func joinTexts(list []word) string {
	out := make([]string, 0, len(list))
	for _, w := range list {
		out = append(out, w.text)
	}
	return strings.Join(out, " ")
}

// judgeGitRestore judges the files of "git restore". With only --staged, it changes only the
// index.
func (j *judge) judgeGitRestore(g gitCommand) {
	if hasOption(g.args, "-S --staged") && !hasOption(g.args, "-W --worktree") {
		return
	}

	remaining := operands(g.args)
	source := ""
	for i, w := range g.args {
		if (w.text == "-s" || w.text == "--source") && i+1 < len(g.args) {
			source = g.args[i+1].text
			remaining = slices.DeleteFunc(remaining, func(o word) bool { return o.text == source })
		} else if v, ok := strings.CutPrefix(w.text, "--source="); ok {
			source = v
		}
	}
	j.judgeDiscard(remaining, g.dir, source != "" && source != "HEAD")
}

// judgeGitCheckout judges the files of "git checkout". A checkout of a branch has none.
func (j *judge) judgeGitCheckout(g gitCommand) {
	if hasOption(g.args, "-b -B --orphan") {
		return
	}

	for i, w := range g.args {
		if w.text == "--" {
			old := i > 0 && !strings.HasPrefix(g.args[i-1].text, "-") && g.args[i-1].text != "HEAD"
			j.judgeDiscard(g.args[i+1:], g.dir, old)
			return
		}
	}

	// Without "--", a word is a file if it looks like one or follows another word.
	remaining := operands(g.args)
	old := len(remaining) > 1 && remaining[0].text != "HEAD" && len(j.filesAt(j.resolve(remaining[0], g.dir))) == 0
	for i, w := range remaining {
		p := j.resolve(w, g.dir)
		if w.text == "." || i > 0 || len(j.filesAt(p)) > 0 && strings.ContainsAny(w.text, "./") {
			j.judgeDiscard([]word{w}, g.dir, old)
		}
	}
}

// judgeDiscard judges files that git would replace, by an earlier version if old is true.
func (j *judge) judgeDiscard(list []word, dir string, old bool) {
	for _, w := range list {
		p := j.resolve(w, dir)
		files := j.filesAt(p)
		switch tests := j.filterTests(files); {
		case old && len(tests) > 0:
			j.addRisk("git_old_tests", listFiles(tests))
		case p.rel == "." || w.text == ":/" || w.text == "*":
			j.addRisk("git_discard_all", w.text)
		case len(files) > 0 || p.rel != "":
			j.addRisk("git_discard", w.text)
		}
	}
}

var (
	// dangerousKeyRE matches a setting by which git runs other programs or ignores files, as in
	// core.hooksPath.
	dangerousKeyRE = regexp.MustCompile(`(?i)^(core\.(hookspath|fsmonitor|worktree|sparsecheckout|excludesfile|attributesfile)|alias\.\w+|include\.path)$`)
	// emptyFolderRE matches a folder that contains no hooks, as in /dev/null.
	emptyFolderRE = regexp.MustCompile(`^(|/dev/null|/tmp(/.*)?|/nonexistent.*)$`)
)

// judgeGitSetting judges a setting of git: key=value.
func (j *judge) judgeGitSetting(kv string) {
	key, value, _ := strings.Cut(kv, "=")
	switch {
	case strings.EqualFold(key, "core.hooksPath") && emptyFolderRE.MatchString(value):
		j.addRisk("git_hooks_path", kv)
	case dangerousKeyRE.MatchString(key) && !strings.HasPrefix(strings.ToLower(key), "alias."):
		j.addRisk("agent_hooks", kv)
	}
}

// judgeGitConfig judges "git config". Without a value, it only reads a setting.
func (j *judge) judgeGitConfig(g gitCommand) {
	remaining, verb := operands(g.args), firstOperand(g)
	if verb == "unset" && len(remaining) > 1 {
		j.judgeGitSetting(remaining[1].text + "=")
		return
	}
	if verb == "set" || verb == "unset" {
		remaining = remaining[1:]
	}
	switch {
	case hasOption(g.args, "--unset --unset-all"):
		if len(remaining) > 0 && strings.EqualFold(remaining[0].text, "core.hooksPath") {
			j.addRisk("agent_hooks", "git config --unset "+remaining[0].text)
		}
	case len(remaining) >= 2 && !hasOption(g.args, "--get"):
		j.judgeGitSetting(remaining[0].text + "=" + remaining[1].text)
	}
}
