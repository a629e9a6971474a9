package loop

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/projectfile"
	"supervise/internal/prompt"
)

// brief adds what was measured to the task, takes it out of the rest, so that nothing
// stands twice, and returns all of it.
func (p *prompter) brief(f *prompt.Facts, left []string) map[string]string {
	source := lines{read: map[string][]string{}}
	if tree, err := projectfile.Open(p.set.Root); err == nil { // else no line is told
		defer tree.Close()
		source.tree, source.root = tree, p.set.Root
	}
	told := prompt.Evidence{History: p.past, Remaining: left, HasNext: f.Iteration < f.Max, SourceLine: source.at}
	if p.past.Rejected != nil {
		told.Patch = p.patch(p.past.Rejected.Number)
	}
	groups := told.Groups()
	text := prompt.EvidenceText(groups, p.set.EvidenceTokens)
	if text == "" {
		return nil
	}
	f.Task = strings.TrimSpace(f.Task + "\n\n" + text)
	f.Failing = nil
	if x := f.Rejection; x != nil {
		x.Tests = slices.DeleteFunc(x.Tests, func(test string) bool { return strings.Contains(text, test) })
		for i, reason := range x.Reasons {
			if what, why, ok := strings.Cut(reason, ": "); ok && len(why) >= anError && strings.Contains(text, why) {
				x.Reasons[i] = what
			}
		}
		if told.Patch != "" {
			x.Files = nil
		}
	}
	if f.Error != nil && strings.Contains(text, f.Error.Text[:min(len(f.Error.Text), sameError)]) {
		f.Error.Text = "see above"
	}
	out := map[string]string{prompt.EvidenceFile: prompt.AllEvidence(groups)}
	if told.Patch != "" {
		out[prompt.PatchFile] = told.Patch
	}
	return out
}

// anError is how many bytes an error has at least that is told by itself.
const anError = 12

// sameError is how many bytes of an error say that it is the same.
const sameError = 40

// maxPatch is how much of a refused change is read, in bytes.
const maxPatch = 1 << 20

// patch is what iteration n changed, "" where that is not known.
func (p *prompter) patch(n int) string {
	dir, err := p.folder(n)
	if err != nil {
		return ""
	}
	f, err := os.Open(filepath.Join(dir, patchName))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxPatch)) // what could be read is told
	return string(text)
}

// lines reads lines of a project's files, each file once. Reports name them, which anybody
// may have written: what leads out of the project is not read.
type lines struct {
	tree *projectfile.Tree // nil: there is none
	root string
	read map[string][]string
}

// at is a line of a file, "" where it cannot be read.
func (l lines) at(file string, n int) string {
	if filepath.IsAbs(file) {
		file, _ = filepath.Rel(l.root, file) // "" is no file
	}
	if l.tree == nil || !filepath.IsLocal(file) {
		return ""
	}
	text, known := l.read[file]
	if !known {
		whole, err := l.tree.Read(file, projectfile.Settings)
		if err == nil {
			text = strings.Split(string(whole), "\n")
		}
		l.read[file] = text
	}
	if n < 1 || n > len(text) {
		return ""
	}
	return text[n-1]
}
