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

// files returns the known files of the tree.
func (j *judge) files() []string {
	if !j.asked && j.opt.Tree.Files != nil {
		j.known = j.opt.Tree.Files()
	}
	j.asked = true
	return j.known
}

// place is the path that a word of a command refers to.
type place struct {
	abs string // cleaned
	rel string // relative to the tree, "." for the tree itself; "" outside
	w   word
}

func (j *judge) place(w word, dir string) place {
	p := place{abs: joined(dir, filepath.FromSlash(w.text)), w: w}
	if strings.HasPrefix(w.text, "~/") || w.text == "~" {
		p.abs = filepath.Clean(j.opt.Home + w.text[1:])
	}
	if rel, err := filepath.Rel(j.opt.Tree.Root, p.abs); err == nil && (rel == "." || filepath.IsLocal(rel)) {
		p.rel = filepath.ToSlash(rel)
	}
	return p
}

// covers returns the known files at a place: itself, what a pattern matches, and everything
// below.
func (j *judge) covers(p place) []string {
	if p.rel == "" {
		return nil
	}
	var out []string
	for _, f := range j.files() {
		if p.hits(f) && p.w.passes(f) {
			out = append(out, f)
		}
	}
	return out
}

func (p place) hits(file string) bool {
	switch {
	case p.rel == ".":
		return true
	case !p.w.glob:
		return file == p.rel || strings.HasPrefix(file, p.rel+"/")
	}
	if ok, err := doublestar.Match(p.rel, file); ok && err == nil {
		return true
	}
	ok, err := doublestar.Match(p.rel+"/**", file)
	return ok && err == nil
}

// isTest reports whether a file is a test, and not a fixture next to tests.
func isTest(rel string) bool {
	return integrity.BelongsToTests(rel)
}

func (j *judge) tests(files []string) []string {
	var out []string
	for _, f := range files {
		if isTest(f) {
			out = append(out, f)
		}
	}
	return out
}

var (
	superviseFiles = regexp.MustCompile(`(^|/)\.supervise([.-][\w.-]+)?(/|$)|(^|/)aiwg\.ya?ml$`)
	hookFiles      = regexp.MustCompile(`(^|/)(\.husky|\.githooks)/|(^|/)\.git/hooks/|(^|/)\.pre-commit-config\.ya?ml$|(^|/)\.?lefthook\.ya?ml$|(^|/)\.(claude|codex|gemini|qwen)/(settings[\w.]*\.json|hooks\.json|hooks/|config\.toml)|(^|/)\.opencode/|(^|/)opencode\.jsonc?$|(^|/)\.pi/extensions/`)
)

// isConfig reports whether a file configures the checks.
func (j *judge) isConfig(rel string) bool {
	return framework.CheckFile.MatchString(rel) || slices.Contains(j.opt.CheckFiles, rel)
}

// own reports whether a place belongs to supervise. Reading it is harmless.
func (j *judge) own(p place) bool {
	if p.rel != "" && superviseFiles.MatchString(p.rel) {
		return true
	}
	return slices.ContainsFunc(j.opt.StateFiles, func(o string) bool {
		return p.abs == o || strings.HasPrefix(p.abs, o+string(filepath.Separator)) || p.w.glob && matches(p.abs, o)
	})
}

func matches(pattern, name string) bool {
	ok, err := doublestar.Match(filepath.ToSlash(pattern), filepath.ToSlash(name))
	return ok && err == nil
}

// holdsOwn reports whether files of supervise are below a place.
func (j *judge) holdsOwn(p place) bool {
	return slices.ContainsFunc(j.opt.StateFiles, func(o string) bool { return strings.HasPrefix(o, strings.TrimSuffix(p.abs, "/")+"/") })
}

// scratch are the folders outside the tree in which deleting is harmless.
var scratch = regexp.MustCompile(`^(/private)?(/tmp|/var/tmp|/dev/shm|/var/folders)(/|$)|/(\.cache|Caches|go-build|__pycache__|node_modules|\.npm|\.gradle|\.m2|\.cargo|\.rustup|target|dist|build)(/|$)`)

// deleted judges places that would be deleted.
func (j *judge) deleted(list []word, dir string, recursive bool) {
	var files []string
	all := ""
	for _, w := range list {
		p := j.place(w, dir)
		more := j.delete(p, recursive)
		if p.rel == "." || p.w.glob && len(more) > 0 {
			all = w.text
		}
		files = append(files, more...)
	}
	slices.Sort(files)
	j.deleteFiles(slices.Compact(files), all)
}

// delete judges one place and returns the known files that would be deleted.
func (j *judge) delete(p place, recursive bool) []string {
	switch {
	case p.w.unknown && p.w.text == "*":
		j.add("delete_unknown", "")
	case p.rel == "" && p.holds(j.opt.Tree.Root) && recursive:
		j.add("delete_all", p.w.text)
	case j.own(p) || recursive && j.holdsOwn(p) && p.rel == "":
		j.add("supervise_files", p.w.text)
	case p.rel == "" && !scratch.MatchString(p.abs):
		j.add("delete_outside", p.w.text)
	case p.rel == "":
	case p.ofGit():
		j.deleteGit(p)
	default:
		return j.covers(p)
	}
	return nil
}

// ofGit reports whether a place is in .git, except for a stale lock.
func (p place) ofGit() bool {
	return p.rel == ".git" || strings.HasPrefix(p.rel, ".git/") && !strings.HasSuffix(p.rel, ".lock")
}

func (j *judge) deleteGit(p place) {
	if strings.HasPrefix(p.rel, ".git/hooks") {
		j.add("agent_hooks", p.rel)
		return
	}
	j.add("delete_git", p.rel)
}

// holds reports whether a folder is below a deleted place.
func (p place) holds(root string) bool {
	if p.w.glob {
		for dir := root; ; dir = filepath.Dir(dir) {
			if matches(p.abs, dir) {
				return true
			}
			if dir == filepath.Dir(dir) {
				return false
			}
		}
	}
	return p.abs == "/" || strings.HasPrefix(root, strings.TrimSuffix(p.abs, "/")+"/")
}

// manyFiles is the number of known files from which a deletion is large.
const manyFiles = 25

// deleteFiles judges the known files among those that would be deleted. The others were made
// by the agent or by a build. all is the pattern or folder that names all of them, if any.
func (j *judge) deleteFiles(files []string, all string) {
	tests := j.tests(files)
	total := len(j.files())
	switch {
	case len(files) == 0:
		return
	case len(files) == total && total > 1 && all != "":
		j.add("delete_all", all)
	case len(tests) > 0:
		j.add("delete_tests", listing(tests))
	case len(files) >= manyFiles || total >= 8 && 2*len(files) >= total:
		j.add("delete_many", listing(files))
	default:
		j.deleteFew(files)
	}
}

func (j *judge) deleteFew(files []string) {
	var rest []string
	for _, f := range files {
		switch {
		case superviseFiles.MatchString(f):
			j.add("supervise_files", f)
		case hookFiles.MatchString(f):
			j.add("agent_hooks", f)
		case j.isConfig(f):
			j.add("delete_checks_config", f)
		default:
			rest = append(rest, f)
		}
	}
	if len(rest) > 0 {
		j.add("delete_files", listing(rest))
	}
}

// listing names the first files.
func listing(files []string) string {
	if len(files) > 3 {
		return strings.Join(files[:3], ", ") + " …"
	}
	return strings.Join(files, ", ")
}

// moved judges files that would be moved.
func (j *judge) moved(from []word, to word, dir string) {
	target := j.place(to, dir)
	if j.own(target) {
		j.add("supervise_files", to.text)
	}
	into := len(from) > 1 || strings.HasSuffix(to.text, "/") || target.rel == "." || j.isDir(target)
	for _, w := range from {
		p := j.place(w, dir)
		if j.own(p) {
			j.add("supervise_files", w.text)
			continue
		}
		if strings.HasPrefix(p.rel+"/", ".git/") {
			j.deleteGit(p)
			continue
		}
		for _, f := range j.covers(p) {
			j.moveFile(p, f, target, into)
		}
		at := target
		if into {
			at = j.place(word{text: strings.TrimSuffix(to.text, "/") + "/" + base(w.text), glob: w.glob, unknown: w.unknown}, dir)
		}
		j.overwrittenBy(p, at)
	}
}

// overwrittenBy judges the file that a move would overwrite.
func (j *judge) overwrittenBy(p, target place) {
	if target.rel == "" || target.rel == p.rel || !slices.Contains(j.files(), target.rel) {
		return
	}
	text, ok := j.read(p.rel)
	j.written(target, stream{text: string(text), known: ok}, false)
}

func (j *judge) isDir(p place) bool {
	return p.rel != "" && slices.ContainsFunc(j.files(), func(f string) bool { return strings.HasPrefix(f, p.rel+"/") })
}

// moveFile judges one known file and its new place.
func (j *judge) moveFile(p place, file string, target place, into bool) {
	end := strings.TrimPrefix(file, p.rel)
	switch {
	case p.w.glob && target.w.glob && !into:
		end = "" // a pattern for the new names
	case p.w.glob:
		end = "/" + path.Base(file)
	case into:
		end = "/" + path.Base(p.rel) + end
	}
	to := ""
	if target.rel != "" {
		to = path.Clean(target.rel + end)
	}
	switch {
	case isTest(file) && !discovered(file, to):
		j.add("tests_out_of_discovery", file)
	case j.isConfig(file) && to != file:
		j.add("delete_checks_config", file)
	case to == "" && !isTest(file):
		j.add("delete_files", file)
	}
}

var putAway = regexp.MustCompile(`(?i)(^|/)(\.[^/]+|_[^/]*|old|disabled|deprecated|backup|bak|archive|attic|trash|tmp|temp|skip(ped)?|unused|node_modules|vendor|build|dist|out|target)/`)

// discovered reports whether runners find a test at its new path: its name is that of a test in
// the same language, and no runner ignores the folder.
func discovered(from, to string) bool {
	switch {
	case to == "" || path.Ext(from) != path.Ext(to) || !isTest(to):
		return false
	case putAway.MatchString(to) && !putAway.MatchString(from):
		return false
	}
	return !strings.HasPrefix(path.Base(to), "_") || strings.HasPrefix(path.Base(from), "_")
}

// read returns the current text of a file.
func (j *judge) read(rel string) ([]byte, bool) {
	if j.opt.Tree.Read == nil || rel == "" || rel == "." {
		return nil, false
	}
	return j.opt.Tree.Read(rel)
}

// written judges a file whose content would change.
func (j *judge) written(p place, out stream, appended bool) {
	switch {
	case p.w.unknown && p.w.text == "*" || p.abs == "/dev/null":
		return
	case j.own(p):
		j.add("supervise_files", p.w.text)
		return
	case p.rel == "":
		return
	case hookFiles.MatchString(p.rel):
		j.add("agent_hooks", p.rel)
		return
	case strings.HasPrefix(p.rel, ".git/"):
		j.add("git_history", p.rel)
		return
	}
	rel := p.rel
	if !p.w.glob && out.known {
		j.writtenText(rel, out.text, appended)
		return
	}
	known := slices.Contains(j.files(), rel)
	switch {
	case appended || !known:
	case isTest(rel):
		j.add("overwrite_test", rel)
	case j.isConfig(rel):
		j.add("checks_config", rel)
	}
}

// writtenText judges a file whose new text is known.
func (j *judge) writtenText(rel, text string, appended bool) {
	before, there := j.read(rel)
	if there && !appended && isTest(rel) && strings.TrimSpace(text) == "" && len(before) > 0 {
		j.add("empty_test_file", rel)
		return
	}
	if appended {
		text = string(before) + text
	}
	j.audit([]integrity.File{j.file(rel, text)})
}
