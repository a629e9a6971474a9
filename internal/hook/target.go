package hook

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"supervise/integrity"
	"supervise/internal/framework"
	"supervise/internal/regexp"

	"github.com/bmatcuk/doublestar/v4"
)

// files returns the known files of the tree: those that existed when the agent started, or that
// git tracks. They are listed once.
func (j *judge) files() []string {
	if !j.listed && j.opt.Tree.Files != nil {
		j.knownFiles = j.opt.Tree.Files()
	}
	j.listed = true
	return j.knownFiles
}

// target is the path that a word of a command refers to.
type target struct {
	path string // absolute and cleaned
	rel  string // relative to the tree: "." for the tree itself, "" for a path outside
	word word   // the word of the command
}

// resolve returns the target of a word of a command that runs in dir.
func (j *judge) resolve(w word, dir string) target {
	p := target{path: joinPath(dir, filepath.FromSlash(w.text)), word: w}
	if strings.HasPrefix(w.text, "~/") || w.text == "~" {
		p.path = filepath.Clean(j.opt.Home + w.text[1:])
	}
	if rel, err := filepath.Rel(j.opt.Tree.Root, p.path); err == nil && (rel == "." || filepath.IsLocal(rel)) {
		p.rel = filepath.ToSlash(rel)
	}
	return p
}

// filesAt returns the known files at a target: the file itself, those that its pattern matches,
// and everything below. It returns nil for a target outside the tree.
func (j *judge) filesAt(t target) []string {
	if t.rel == "" {
		return nil
	}
	return filter(j.files(), func(f string) bool { return t.matches(f) && t.word.passesFilters(f) })
}

// filter returns the files that match.
func filter(files []string, matches func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !matches(f) })
}

// matches reports whether a target is the file, contains it, or matches it with its pattern.
func (t target) matches(file string) bool {
	if t.rel == "." {
		return true
	}
	if !t.word.glob {
		return file == t.rel || strings.HasPrefix(file, t.rel+"/")
	}
	return doublestar.MatchUnvalidated(t.rel, file) || doublestar.MatchUnvalidated(t.rel+"/**", file)
}

// isTest reports whether a file is a test, and not a fixture next to tests.
func isTest(rel string) bool { return integrity.BelongsToTests(rel) }

// filterTests returns the files that are tests.
func (j *judge) filterTests(files []string) []string { return filter(files, isTest) }

var (
	// superviseFileRE matches a file of supervise, as in .supervise/state and aiwg.yaml.
	superviseFileRE = regexp.MustCompile(`(^|/)\.supervise([.-][\w.-]+)?(/|$)|(^|/)aiwg\.ya?ml$`)
	// hookFileRE matches a file that configures hooks of git or of an agent, as in
	// .husky/pre-commit and .claude/settings.json.
	hookFileRE = regexp.MustCompile(`(^|/)(\.husky|\.githooks)/|(^|/)\.git/hooks/|(^|/)\.pre-commit-config\.ya?ml$|(^|/)\.?lefthook\.ya?ml$|(^|/)\.(claude|codex|gemini|qwen)/(settings[\w.]*\.json|hooks\.json|hooks/|config\.toml)|(^|/)\.opencode/|(^|/)opencode\.jsonc?$|(^|/)\.pi/extensions/`)
)

// isConfig reports whether a file configures the checks.
func (j *judge) isConfig(rel string) bool {
	return framework.CheckFile(rel) || slices.Contains(j.opt.CheckFiles, rel)
}

// isOwn reports whether a target belongs to supervise. Reading it is harmless.
func (j *judge) isOwn(p target) bool {
	if p.rel != "" && superviseFileRE.MatchString(p.rel) {
		return true
	}
	return slices.ContainsFunc(j.opt.StateFiles, func(o string) bool {
		return p.path == o || strings.HasPrefix(p.path, o+string(filepath.Separator)) || p.word.glob && matchesGlob(p.path, o)
	})
}

// matchesGlob reports whether a pattern matches a path.
func matchesGlob(pattern, name string) bool {
	return doublestar.MatchUnvalidated(filepath.ToSlash(pattern), filepath.ToSlash(name))
}

// containsOwn reports whether files of supervise are below a target.
func (j *judge) containsOwn(p target) bool {
	return slices.ContainsFunc(j.opt.StateFiles, func(o string) bool { return strings.HasPrefix(o, strings.TrimSuffix(p.path, "/")+"/") })
}

// scratchFolderRE matches a path outside the tree that is harmless to delete, as in /tmp/x and
// /home/me/.cache/x.
var scratchFolderRE = regexp.MustCompile(`^(/private)?(/tmp|/var/tmp|/dev/shm|/var/folders)(/|$)|/(\.cache|Caches|go-build|__pycache__|node_modules|\.npm|\.gradle|\.m2|\.cargo|\.rustup|target|dist|build)(/|$)`)

// judgeDeletions judges the targets that a command would delete. recursive reports whether it
// also deletes folders.
func (j *judge) judgeDeletions(list []word, dir string, recursive bool) {
	var files []string
	all := ""
	for _, w := range list {
		p := j.resolve(w, dir)
		more := j.judgeDeletion(p, recursive)
		if p.rel == "." || p.word.glob && len(more) > 0 {
			all = w.text
		}
		files = append(files, more...)
	}
	slices.Sort(files)
	j.judgeDeletedFiles(slices.Compact(files), all)
}

// judgeDeletion judges one target that would be deleted. It returns the known files below it,
// unless it has added a risk for the target itself.
func (j *judge) judgeDeletion(p target, recursive bool) []string {
	switch {
	case p.word.unknown && p.word.text == "*":
		j.addRisk("delete_unknown", "")
	case p.rel == "" && p.contains(j.opt.Tree.Root) && recursive:
		j.addRisk("delete_all", p.word.text)
	case j.isOwn(p) || recursive && j.containsOwn(p) && p.rel == "":
		j.addRisk("supervise_files", p.word.text)
	case p.rel == "" && !scratchFolderRE.MatchString(p.path):
		j.addRisk("delete_outside", p.word.text)
	case p.rel == "":
	case p.isInGit():
		j.addGitDeletion(p)
	default:
		return j.filesAt(p)
	}
	return nil
}

// isInGit reports whether a target is in .git, except for a stale lock.
func (t target) isInGit() bool {
	return t.rel == ".git" || strings.HasPrefix(t.rel, ".git/") && !strings.HasSuffix(t.rel, ".lock")
}

// addGitDeletion adds the risk of deleting a target in .git.
func (j *judge) addGitDeletion(p target) {
	if strings.HasPrefix(p.rel, ".git/hooks") {
		j.addRisk("agent_hooks", p.rel)
		return
	}
	j.addRisk("delete_git", p.rel)
}

// contains reports whether a folder is below a target that would be deleted, or matches its
// pattern.
func (t target) contains(root string) bool {
	for dir := root; t.word.glob; dir = filepath.Dir(dir) {
		if isTop := dir == filepath.Dir(dir); isTop || matchesGlob(t.path, dir) {
			return matchesGlob(t.path, dir)
		}
	}
	return t.path == "/" || strings.HasPrefix(root, strings.TrimSuffix(t.path, "/")+"/")
}

// manyFiles is the number of known files from which a deletion counts as large.
const manyFiles = 25

// judgeDeletedFiles judges the known files that would be deleted. Files that the agent or a build
// made are not known. all is the pattern or folder that names all files, or "".
func (j *judge) judgeDeletedFiles(files []string, all string) {
	tests := j.filterTests(files)
	total := len(j.files())
	switch {
	case len(files) == 0:
		return
	case len(files) == total && total > 1 && all != "":
		j.addRisk("delete_all", all)
	case len(tests) > 0:
		j.addRisk("delete_tests", listFiles(tests))
	case len(files) >= manyFiles || total >= 8 && 2*len(files) >= total:
		j.addRisk("delete_many", listFiles(files))
	default:
		j.judgeFewDeletedFiles(files)
	}
}

// judgeFewDeletedFiles judges the files of a small deletion without tests.
func (j *judge) judgeFewDeletedFiles(files []string) {
	var remaining []string
	for _, f := range files {
		switch {
		case superviseFileRE.MatchString(f):
			j.addRisk("supervise_files", f)
		case hookFileRE.MatchString(f):
			j.addRisk("agent_hooks", f)
		case j.isConfig(f):
			j.addRisk("delete_checks_config", f)
		default:
			remaining = append(remaining, f)
		}
	}
	if len(remaining) > 0 {
		j.addRisk("delete_files", listFiles(remaining))
	}
}

// listFiles returns the names of the first three files.
func listFiles(files []string) string {
	if len(files) > 3 {
		return strings.Join(files[:3], ", ") + " …"
	}
	return strings.Join(files, ", ")
}

// judgeMoves judges the files that would be moved, and those that would be overwritten.
func (j *judge) judgeMoves(from []word, to word, dir string) {
	target := j.resolve(to, dir)
	if j.isOwn(target) {
		j.addRisk("supervise_files", to.text)
	}

	// into reports whether the files are moved into a folder and keep their names.
	into := len(from) > 1 || strings.HasSuffix(to.text, "/") || target.rel == "." || j.isDir(target)
	for _, w := range from {
		p := j.resolve(w, dir)
		if j.isOwn(p) {
			j.addRisk("supervise_files", w.text)
			continue
		}
		if strings.HasPrefix(p.rel+"/", ".git/") {
			j.addGitDeletion(p)
			continue
		}

		for _, f := range j.filesAt(p) {
			j.judgeMovedFile(p, f, target, into)
		}
		if into {
			j.judgeOverwrite(p, j.resolve(wordInFolder(to, w), dir))
		} else {
			j.judgeOverwrite(p, target)
		}
	}
}

// wordInFolder returns the word for a file that is moved or copied into a folder.
func wordInFolder(folder, file word) word {
	return word{text: strings.TrimSuffix(folder.text, "/") + "/" + baseName(file.text), glob: file.glob, unknown: file.unknown}
}

// judgeOverwrite judges the file that a move would overwrite.
func (j *judge) judgeOverwrite(p, target target) {
	if target.rel == "" || target.rel == p.rel || !slices.Contains(j.files(), target.rel) {
		return
	}
	text, ok := j.read(p.rel)
	j.judgeWrite(target, stream{text: string(text), known: ok}, false)
}

// isDir reports whether known files are below a target.
func (j *judge) isDir(p target) bool {
	return p.rel != "" && slices.ContainsFunc(j.files(), func(f string) bool { return strings.HasPrefix(f, p.rel+"/") })
}

// judgeMovedFile judges one known file at target p that would be moved to another target. into
// reports whether it is moved into a folder.
func (j *judge) judgeMovedFile(p target, file string, target target, into bool) {
	// end is what follows the new target in the new path.
	end := strings.TrimPrefix(file, p.rel)
	switch {
	case p.word.glob && target.word.glob && !into:
		end = "" // the target is a pattern for the new names
	case p.word.glob:
		end = "/" + path.Base(file)
	case into:
		end = "/" + path.Base(p.rel) + end
	}

	to := ""
	if target.rel != "" {
		to = path.Clean(target.rel + end)
	}
	switch {
	case isTest(file) && !isStillDiscovered(file, to):
		j.addRisk("tests_out_of_discovery", file)
	case j.isConfig(file) && to != file:
		j.addRisk("delete_checks_config", file)
	case to == "" && !isTest(file):
		j.addRisk("delete_files", file)
	}
}

// unusedFolderRE matches a path in a folder that test runners ignore or that people use for
// disabled code, as in old/calc_test.go.
var unusedFolderRE = regexp.MustCompile(`(?i)(^|/)(\.[^/]+|_[^/]*|old|disabled|deprecated|backup|bak|archive|attic|trash|tmp|temp|skip(ped)?|unused|node_modules|vendor|build|dist|out|target)/`)

// isStillDiscovered reports whether runners find a test at its new path: its name is that of a
// test in the same language, and no runner ignores its folder.
func isStillDiscovered(from, to string) bool {
	switch {
	case to == "" || path.Ext(from) != path.Ext(to) || !isTest(to):
		return false
	case unusedFolderRE.MatchString(to) && !unusedFolderRE.MatchString(from):
		return false
	}
	return !strings.HasPrefix(path.Base(to), "_") || strings.HasPrefix(path.Base(from), "_")
}

// read returns the current text of a file of the tree, and false if it is missing.
func (j *judge) read(rel string) ([]byte, bool) {
	if j.opt.Tree.Read == nil || rel == "" || rel == "." {
		return nil, false
	}
	return j.opt.Tree.Read(rel)
}

// judgeWrite judges a target that a command writes to. out is the text, if known.
func (j *judge) judgeWrite(p target, out stream, appended bool) {
	isNowhere := p.word.unknown && p.word.text == "*" || p.path == "/dev/null"
	if isNowhere || !j.checkEditable(p) {
		return
	}
	switch known := slices.Contains(j.files(), p.rel); {
	case out.known && !p.word.glob:
		j.judgeWrittenText(p.rel, out.text, appended)
	case appended || !known:
	case isTest(p.rel):
		j.addRisk("overwrite_test", p.rel)
	case j.isConfig(p.rel):
		j.addRisk("checks_config", p.rel)
	}
}

// judgeWrittenText judges a file whose new text is known, or the text that is appended to it.
func (j *judge) judgeWrittenText(rel, text string, appended bool) {
	before, there := j.read(rel)
	if there && !appended && isTest(rel) && strings.TrimSpace(text) == "" && len(before) > 0 {
		j.addRisk("empty_test_file", rel)
		return
	}
	if appended {
		text = string(before) + text
	}
	j.auditFiles([]integrity.File{j.changedFile(rel, text)})
}
