package hook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"supervise/integrity"
)

// JudgeAfter returns the risks of the changed files after a call. changed lists the files that
// are known to differ from when the agent started. Files that the call itself names are judged as
// well. Events other than PostTool have no risks.
func JudgeAfter(call Call, opt Options, changed []string) []Risk {
	if opt.Mode = cmp.Or(opt.Mode, ModeStandard); opt.Mode == ModeOff || call.Event != PostTool {
		return nil
	}

	j := &judge{opt: opt, call: call}
	list := append(slices.Clone(changed), j.namedFiles()...)
	slices.Sort(list)

	var files []integrity.File
	var removed []string
	for _, rel := range slices.Compact(list) {
		after, there := j.read(rel)
		f := j.changedFile(rel, string(after))
		switch {
		case there && !f.Added && string(f.Before) == string(after):
		case there:
			files = append(files, f)
		case isTest(rel) && !f.Added:
			removed = append(removed, rel)
		}
	}

	// A test file whose text is now in another file was moved, not deleted.
	for _, rel := range removed {
		before := string(j.changedFile(rel, "").Before)
		if !slices.ContainsFunc(files, func(f integrity.File) bool { return string(f.After) == before }) {
			j.addRisk("delete_tests", rel)
		}
	}

	j.auditFiles(files)
	slices.SortStableFunc(j.risks, func(a, b Risk) int { return cmp.Compare(b.Severity, a.Severity) })

	// A risk for which a call would only be a warning is not worth a message afterwards.
	isMinor := func(r Risk) bool { return strictness[verdicts[opt.Mode][r.Severity]] <= strictness[Warn] }
	return slices.DeleteFunc(j.risks, isMinor)
}

// namedFiles returns the files that an edit tool wrote, relative to the tree.
func (j *judge) namedFiles() []string {
	var names []string
	switch j.call.Kind {
	case Write, Edit:
		names = []string{j.call.Path}
	case Patch:
		parts, _ := parsePatch(j.call.Content)
		for _, p := range parts {
			names = append(names, p.path)
		}
	case Shell, OtherTool:
	}
	var out []string
	for _, name := range names {
		if p := j.resolve(word{text: name}, cmp.Or(j.call.Dir, j.opt.Tree.Root)); name != "" && p.rel != "" && p.rel != "." {
			out = append(out, p.rel)
		}
	}
	return out
}

// WarningMessage returns the message to the agent about the risks of its last call. It is ""
// without risks.
func WarningMessage(risks []Risk) string {
	if len(risks) == 0 {
		return ""
	}
	var messages []string
	for _, r := range risks {
		if len(messages) == 5 {
			messages = append(messages, fmt.Sprintf("and %d more", len(risks)-5))
			break
		}
		text := r.Why
		if r.Target != "" {
			text = shorten(r.Target) + ": " + text
		}
		messages = append(messages, text)
	}
	return "supervise sees, compared with the tree that you started from: " + strings.Join(messages, "; ") + ". Such a change is undone, or keeps the loop from ending as done. Put it right now."
}

// DelayedWarning returns a warning that the agent should have read before the call. Some clients
// show such warnings only to people, so the agent reads it after the call. It is "" for other
// clients.
func DelayedWarning(call Call, opt Options) string {
	if call.Kind != Shell || call.Client != Codex && call.Client != Gemini {
		return ""
	}
	call.Event = PreTool
	if d := Judge(call, opt); d.Verdict == Warn {
		return d.Reason
	}
	return ""
}

// SessionMessage returns the message to an agent that starts. passed of count tests pass; a count
// of 0 means that this is unknown.
func SessionMessage(passed, count int) string {
	text := "supervise watches this session."
	if count > 0 {
		text += fmt.Sprintf(" %d of %d tests pass now.", passed, count)
	}
	return text + " Tests must not be deleted, skipped or weakened, and checks not turned off: what does so is refused or undone. The numbers are measured after you stop; a claim counts for nothing."
}
