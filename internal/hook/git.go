package hook

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
)

// gitRow is a row of the table of risky git commands. It matches a command with the
// subcommand, one of the options in any, and none of those in none.
type gitRow struct {
	rule      string
	sub       string
	any, none string
	// when reports whether the rest of the command matches; nil means always.
	when func(g git) bool
}

var gitRows = []gitRow{
	{"git_reset_hard", "reset", "--hard --merge --keep", "", nil},
	{"git_reset_hard", "read-tree", "--reset -u", "-n --dry-run", nil},
	{"git_discard_all", "checkout", "-f --force", "", nil},
	{"git_discard_all", "checkout-index", "-f --force", "", func(g git) bool { return has(g.args, "-a", "--all") }},
	{"git_discard_all", "switch", "-f --force --discard-changes", "", nil},
	{"git_clean", "clean", "-f --force", "-n --dry-run -i", nil},
	{"git_clean", "clean", "-x -X -d", "-n --dry-run -f --force -i", func(g git) bool { return slices.Contains(g.config, "clean.requireForce=false") }},
	{"git_stash", "stash", "", "", func(g git) bool { return stashVerb(g) == "push" }},
	{"git_stash_drop", "stash", "", "", func(g git) bool { return stashVerb(g) == "drop" }},
	{"git_no_verify", "commit", "--no-verify -n", "", nil},
	{"git_no_verify", "push", "--no-verify", "", nil},
	{"git_no_verify", "merge", "--no-verify", "", nil},
	{"git_no_verify", "rebase", "--no-verify", "", nil},
	{"git_no_verify", "am", "--no-verify -n", "", nil},
	{"git_force_push", "push", "-f --force --force-with-lease --mirror --prune -d --delete", "-n --dry-run", nil},
	{"git_force_push", "push", "", "-n --dry-run", func(g git) bool {
		return slices.ContainsFunc(operands(g.args), func(w word) bool { return strings.HasPrefix(w.text, "+") || strings.HasPrefix(w.text, ":") })
	}},
	{"git_hide", "update-index", "--assume-unchanged --skip-worktree", "", nil},
	{"git_hide", "sparse-checkout", "", "", func(g git) bool { return verb(g) != "list" && verb(g) != "disable" }},
	{"git_history", "filter-branch", "", "", nil},
	{"git_history", "filter-repo", "", "", nil},
	{"git_history", "replace", "", "-l --list", nil},
	{"git_history", "reflog", "", "", func(g git) bool { return verb(g) == "expire" || verb(g) == "delete" }},
	{"git_history", "update-ref", "-d --delete", "", nil},
	{"git_history", "gc", "--prune", "", nil},
	{"git_history", "prune", "", "-n --dry-run", nil},
	{"git_branch_delete", "branch", "-D", "", nil},
	{"git_branch_delete", "branch", "-f --force", "", func(g git) bool { return has(g.args, "-d", "--delete") }},
	{"git_branch_delete", "worktree", "-f --force", "", func(g git) bool { return verb(g) == "remove" }},
}

func verb(g git) string {
	if rest := operands(g.args); len(rest) > 0 {
		return rest[0].text
	}
	return ""
}

// stashVerb returns what a stash does: push, drop or something harmless.
func stashVerb(g git) string {
	switch v := verb(g); {
	case len(g.args) > 0 && strings.HasPrefix(g.args[0].text, "-"), v == "", v == "push", v == "save":
		return "push"
	case v == "drop", v == "clear":
		return "drop"
	default:
		return v
	}
}

// gitUsed judges a git command.
func gitUsed(j *judge, c command) {
	g := parseGit(c)
	for _, kv := range g.config {
		j.gitConfig(kv)
	}
	for _, row := range gitRows {
		if row.holds(g) {
			j.add(row.rule, shortened("git "+g.sub+" "+texts(g.args)))
		}
	}
	switch g.sub {
	case "rm":
		if !has(g.args, "", "--cached") && !has(g.args, "-n", "--dry-run") {
			j.deleted(operands(g.args), g.dir, has(g.args, "-r", ""))
		}
	case "mv":
		if rest := operands(g.args); len(rest) >= 2 {
			j.moved(rest[:len(rest)-1], rest[len(rest)-1], g.dir)
		}
	case "checkout":
		j.gitCheckout(g)
	case "restore":
		j.gitRestore(g)
	case "config":
		j.gitConfigured(g)
	case "apply", "am":
		patched(j, command{args: g.args, dir: g.dir, in: c.in})
	}
}

func (row gitRow) holds(g git) bool {
	if row.sub != g.sub || has(g.args, "", "--help") {
		return false
	}
	given := func(list string) bool {
		return slices.ContainsFunc(strings.Fields(list), func(option string) bool {
			if strings.HasPrefix(option, "--") {
				return has(g.args, "", option)
			}
			return has(g.args, option, "")
		})
	}
	if row.any != "" && !given(row.any) || row.none != "" && given(row.none) {
		return false
	}
	return row.when == nil || row.when(g)
}

func texts(list []word) string {
	out := make([]string, 0, len(list))
	for _, w := range list {
		out = append(out, w.text)
	}
	return strings.Join(out, " ")
}

// gitRestore judges files that are restored, unless only in the index.
func (j *judge) gitRestore(g git) {
	if has(g.args, "-S", "--staged") && !has(g.args, "-W", "--worktree") {
		return
	}
	rest := operands(g.args)
	source := ""
	for i, w := range g.args {
		if (w.text == "-s" || w.text == "--source") && i+1 < len(g.args) {
			source = g.args[i+1].text
			rest = slices.DeleteFunc(rest, func(o word) bool { return o.text == source })
		} else if v, ok := strings.CutPrefix(w.text, "--source="); ok {
			source = v
		}
	}
	j.discarded(rest, g.dir, source != "" && source != "HEAD")
}

// gitCheckout distinguishes a checkout of files from one of a branch.
func (j *judge) gitCheckout(g git) {
	if has(g.args, "-b", "--orphan") || has(g.args, "-B", "") {
		return
	}
	for i, w := range g.args {
		if w.text == "--" {
			old := i > 0 && !strings.HasPrefix(g.args[i-1].text, "-") && g.args[i-1].text != "HEAD"
			j.discarded(g.args[i+1:], g.dir, old)
			return
		}
	}
	rest := operands(g.args)
	old := len(rest) > 1 && rest[0].text != "HEAD" && len(j.covers(j.place(rest[0], g.dir))) == 0
	for i, w := range rest {
		p := j.place(w, g.dir)
		if w.text == "." || i > 0 || len(j.covers(p)) > 0 && strings.ContainsAny(w.text, "./") {
			j.discarded([]word{w}, g.dir, old)
		}
	}
}

// discarded judges files that git would replace, by an earlier version if old is true.
func (j *judge) discarded(list []word, dir string, old bool) {
	for _, w := range list {
		p := j.place(w, dir)
		files := j.covers(p)
		switch tests := j.tests(files); {
		case old && len(tests) > 0:
			j.add("git_old_tests", listing(tests))
		case p.rel == "." || w.text == ":/" || w.text == "*":
			j.add("git_discard_all", w.text)
		case len(files) > 0 || p.rel != "":
			j.add("git_discard", w.text)
		}
	}
}

var (
	dangerousKeys = regexp.MustCompile(`(?i)^(core\.(hookspath|fsmonitor|worktree|sparsecheckout|excludesfile|attributesfile)|alias\.\w+|include\.path)$`)
	nowhere       = regexp.MustCompile(`^(|/dev/null|/tmp(/.*)?|/nonexistent.*)$`)
)

// gitConfig judges a setting of git.
func (j *judge) gitConfig(kv string) {
	key, value, _ := strings.Cut(kv, "=")
	switch {
	case strings.EqualFold(key, "core.hooksPath") && nowhere.MatchString(value):
		j.add("git_hooks_path", kv)
	case dangerousKeys.MatchString(key) && !strings.HasPrefix(strings.ToLower(key), "alias."):
		j.add("agent_hooks", kv)
	}
}

// gitConfigured judges git config. Without a value it only reads.
func (j *judge) gitConfigured(g git) {
	rest := operands(g.args)
	if len(rest) > 0 && (rest[0].text == "set" || rest[0].text == "unset") {
		if rest[0].text == "unset" && len(rest) > 1 {
			j.gitConfig(rest[1].text + "=")
			return
		}
		rest = rest[1:]
	}
	switch {
	case has(g.args, "", "--unset") || has(g.args, "", "--unset-all"):
		if len(rest) > 0 && strings.EqualFold(rest[0].text, "core.hooksPath") {
			j.add("agent_hooks", "git config --unset "+rest[0].text)
		}
	case len(rest) >= 2 && !has(g.args, "", "--get"):
		j.gitConfig(rest[0].text + "=" + rest[1].text)
	}
}
