package hook

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"supervise/integrity"
	"supervise/metric"
)

// judgeEdit judges the files that an edit tool would write.
func (j *judge) judgeEdit() {
	switch j.call.Kind {
	case Write:
		j.judgeFileEdit(j.call.Path, func(string) (string, bool) { return j.call.Content, true })
	case Edit:
		j.judgeFileEdit(j.call.Path, func(before string) (string, bool) { return applyReplacements(before, j.call.Edits) })
	case Patch:
		j.judgePatch()
	case Shell, OtherTool:
	}
}

// judgeFileEdit judges one file. after returns the text of the file after the edit, and false if
// the tool will fail.
func (j *judge) judgeFileEdit(name string, after func(before string) (string, bool)) {
	p := j.resolve(word{text: name}, cmp.Or(j.call.Dir, j.opt.Tree.Root))
	if name == "" || !j.checkEditable(p) {
		return
	}
	before, there := j.read(p.rel)
	text, ok := after(string(before))
	isEmptied := strings.TrimSpace(text) == "" && strings.TrimSpace(string(before)) != ""
	switch {
	case !ok:
	case there && isTest(p.rel) && isEmptied:
		j.addRisk("empty_test_file", p.rel)
	default:
		j.auditFiles([]integrity.File{j.changedFile(p.rel, text)})
	}
}

// checkEditable adds the risks of a file that do not depend on its new text. It returns false if
// the new text does not matter.
func (j *judge) checkEditable(p target) bool {
	if j.addProtected(p) || p.rel == "" {
		return false
	}
	isHistory := strings.HasPrefix(p.rel, ".git/")
	if isHistory {
		j.addRisk("git_history", p.rel)
	}
	return !isHistory
}

// addProtected adds the risk of changing a file of supervise, or one that configures hooks. It
// returns false for any other file.
func (j *judge) addProtected(p target) bool {
	switch {
	case j.isOwn(p):
		j.addRisk("supervise_files", p.word.text)
	case hookFileRE.MatchString(p.rel):
		j.addRisk("agent_hooks", p.rel)
	default:
		return false
	}
	return true
}

// applyReplacements returns a text after replacements in order. It returns false if one of them
// is not found.
func applyReplacements(text string, list []Replacement) (string, bool) {
	for _, r := range list {
		switch {
		case r.Old == "" && text == "":
			text = r.New
		case r.Old == "" || !strings.Contains(text, r.Old):
			return "", false
		case r.All:
			text = strings.ReplaceAll(text, r.Old, r.New)
		default:
			text = strings.Replace(text, r.Old, r.New, 1)
		}
	}
	return text, true
}

// changedFile returns a change for the integrity rules: the text of the file when the agent
// started, and its new text.
func (j *judge) changedFile(rel, text string) integrity.File {
	read := j.opt.Tree.Before
	if read == nil {
		read = j.read
	}
	before, there := read(rel) // a file that was added later can lose nothing
	return integrity.File{Path: rel, Before: before, After: []byte(text), Added: !there}
}

// auditFiles applies the integrity rules to changed files, and adds their findings as risks.
func (j *judge) auditFiles(files []integrity.File) {
	for _, f := range integrity.Audit(files, j.opt.Integrity) {
		f.Severity = max(f.Severity, f.SeverityIfRan) // whether the test ran is known only later
		if f.ExplainedBy != "" || f.Severity < metric.Medium {
			continue
		}
		target := f.File
		if f.Test != "" {
			target += ", " + f.Test
		}
		why := strings.ReplaceAll(f.Type, "_", " ") + " (" + f.Rule + ")"
		if f.Evidence != "" {
			why += ": " + shorten(f.Evidence)
		}
		j.addUnique(Risk{Rule: f.Type, Severity: f.Severity, Target: target, Why: why, Destroys: f.Severity >= metric.High})
	}
}

// judgePatch judges the files of a patch. It passes them to the integrity rules together, since
// code may move between them.
func (j *judge) judgePatch() {
	parts, err := parsePatch(j.call.Content)
	if err != nil {
		return // the tool will refuse the patch, too
	}
	var files []integrity.File
	dir := cmp.Or(j.call.Dir, j.opt.Tree.Root)
	for _, part := range parts {
		p := j.resolve(word{text: part.path}, dir)
		if part.op == patchDelete {
			j.judgeDeletedFiles(j.judgeDeletion(p, false), "")
			continue
		}
		if !j.checkEditable(p) {
			continue
		}
		before, _ := j.read(p.rel)
		text, ok := part.apply(string(before))
		to := j.resolve(word{text: cmp.Or(part.to, part.path)}, dir)
		if !ok || part.to != "" && !j.checkEditable(to) {
			continue
		}
		f := j.changedFile(p.rel, text)
		if part.to != "" {
			if isTest(p.rel) && !isStillDiscovered(p.rel, to.rel) {
				j.addRisk("tests_out_of_discovery", p.rel)
			}
			f.OldPath, f.Path = f.Path, to.rel
		}
		files = append(files, f)
	}

	j.auditFiles(files)
}

// The operations of a patch on a file.
const (
	patchAdd    = "Add"
	patchUpdate = "Update"
	patchDelete = "Delete"
)

// patchPart is what a patch does to one file. to is the new path if the file is moved, else "".
type patchPart struct {
	op, path, to string
	hunks        []hunk
}

// hunk is one change of a file: its lines before and after, including the unchanged ones.
type hunk struct{ before, after []string }

var errPatch = errors.New("not a readable patch")

// parsePatch reads a patch as codex and opencode write it:
//
//	*** Begin Patch
//	*** Update File: calc.go
//	@@
//	-	return a - b
//	+	return a + b
//	*** End Patch
//
// The error is errPatch.
func parsePatch(text string) ([]patchPart, error) {
	var parts []patchPart
	started := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		head, isHead := strings.CutPrefix(line, "*** ")
		switch {
		case !started:
			started = strings.Contains(line, "*** Begin Patch")
		case isHead && strings.HasPrefix(head, "End"):
			if head == "End Patch" {
				return parts, nil
			}
		case isHead:
			if err := addPatchPart(&parts, head); err != nil {
				return nil, err
			}
		case len(parts) == 0:
			return nil, errPatch
		default:
			parts[len(parts)-1].addLine(line)
		}
	}
	if !started || len(parts) == 0 {
		return nil, errPatch
	}
	return parts, nil
}

// addPatchPart adds the part that a line such as "Update File: calc.go" starts, or the new path
// of the last part: "Move to: sum.go".
func addPatchPart(parts *[]patchPart, head string) error {
	if to, ok := strings.CutPrefix(head, "Move to: "); ok && len(*parts) > 0 {
		(*parts)[len(*parts)-1].to = strings.TrimSpace(to)
		return nil
	}
	op, name, ok := strings.Cut(head, " File: ")
	if !ok || op != patchAdd && op != patchUpdate && op != patchDelete {
		return fmt.Errorf("%w: %s", errPatch, head)
	}
	*parts = append(*parts, patchPart{op: op, path: path.Clean(strings.TrimSpace(name)), hunks: []hunk{{}}})
	return nil
}

// addLine adds a line of the patch to the last hunk.
func (p *patchPart) addLine(line string) {
	if strings.HasPrefix(line, "@@") {
		p.hunks = append(p.hunks, hunk{})
		return
	}
	h := &p.hunks[len(p.hunks)-1]
	switch {
	case strings.HasPrefix(line, "+"):
		h.after = append(h.after, line[1:])
	case strings.HasPrefix(line, "-"):
		h.before = append(h.before, line[1:])
	default:
		line = strings.TrimPrefix(line, " ")
		h.before, h.after = append(h.before, line), append(h.after, line)
	}
}

// apply returns the text of the file after the changes. It returns false if the text does not
// contain the lines to change.
func (p patchPart) apply(text string) (string, bool) {
	if p.op == patchAdd {
		return strings.Join(p.hunks[0].after, "\n") + "\n", true
	}
	for _, h := range p.hunks {
		old, after := strings.Join(h.before, "\n"), strings.Join(h.after, "\n")
		switch {
		case len(h.before) == 0 && len(h.after) == 0:
			continue
		case len(h.before) == 0:
			text += after + "\n"
			continue
		case !strings.Contains(text, old):
			return "", false
		case len(h.after) == 0:
			old += "\n"
		}
		text = strings.Replace(text, old, after, 1)
	}
	return text, true
}
