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

// addEvidence appends the measured evidence to the task, up to the size that the settings allow,
// and removes repetitions of it from the other facts. left describes what remains of the limits.
// It returns the complete evidence as texts by file name, nil if there is none.
func (p *prompter) addEvidence(f *prompt.Facts, left []string) map[string]string {
	source := sourceLines{read: map[string][]string{}}
	if tree, err := projectfile.Open(p.set.Root); err == nil { // without it, no source line is quoted
		defer tree.Close()
		source.tree, source.root = tree, p.set.Root
	}

	evidence := prompt.Evidence{History: p.past, Remaining: left, HasNext: f.Iteration < f.Max, SourceLine: source.line}
	if p.past.Rejected != nil {
		evidence.Patch = p.readPatch(p.past.Rejected.Number)
	}

	groups := evidence.Groups()
	text := prompt.EvidenceText(groups, p.set.EvidenceTokens)
	if text == "" {
		return nil
	}

	f.Task = strings.TrimSpace(f.Task + "\n\n" + text)
	removeRepetitions(f, text)

	out := map[string]string{prompt.EvidenceFile: prompt.AllEvidence(groups)}
	if evidence.Patch != "" {
		out[prompt.PatchFile] = evidence.Patch
		if f.Rejection != nil {
			f.Rejection.Files = nil
		}
	}
	return out
}

// removeRepetitions removes from the facts what the evidence already says.
func removeRepetitions(f *prompt.Facts, evidence string) {
	f.Failing = nil
	if f.Rejection != nil {
		f.Rejection.Tests = slices.DeleteFunc(f.Rejection.Tests, func(test string) bool { return strings.Contains(evidence, test) })
		for i, reason := range f.Rejection.Reasons {
			finding, message, hasMessage := strings.Cut(reason, ": ")
			if hasMessage && len(message) >= minErrorBytes && strings.Contains(evidence, message) {
				f.Rejection.Reasons[i] = finding
			}
		}
	}
	if f.Error != nil && strings.Contains(evidence, f.Error.Text[:min(len(f.Error.Text), comparedErrorBytes)]) {
		f.Error.Text = "see above"
	}
}

// minErrorBytes is the minimum length of a message that is searched for in the evidence. Shorter
// ones could occur there by chance.
const minErrorBytes = 12

// comparedErrorBytes is how much of an error, from its start, is searched for in the evidence.
const comparedErrorBytes = 40

// maxPatch limits how much of a rejected change is read, in bytes.
const maxPatch = 1 << 20

// readPatch returns the patch of iteration n, "" if it cannot be read.
func (p *prompter) readPatch(n int) string {
	dir, err := p.iterationDir(n)
	if err != nil {
		return ""
	}
	f, err := os.Open(filepath.Join(dir, patchName))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxPatch)) // an incomplete patch is better than none
	return string(text)
}

// sourceLines reads lines of the project's files, each file once. The file names come from reports
// and are not trusted, so paths that lead out of the project are not read.
type sourceLines struct {
	tree *projectfile.Tree // nil if the project cannot be opened
	root string
	read map[string][]string // lines by file name
}

// line returns line n of a file, counted from 1, and "" if it cannot be read.
func (l sourceLines) line(file string, n int) string {
	if filepath.IsAbs(file) {
		file, _ = filepath.Rel(l.root, file) // "" on error, which is not a local path
	}
	if l.tree == nil || !filepath.IsLocal(file) {
		return ""
	}
	lines, known := l.read[file]
	if !known {
		if content, err := l.tree.Read(file, projectfile.Settings); err == nil {
			lines = strings.Split(string(content), "\n")
		}
		l.read[file] = lines
	}
	if n < 1 || n > len(lines) {
		return ""
	}
	return lines[n-1]
}
