package hook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"supervise/integrity"
	"supervise/internal/textstream"
	"supervise/metric"
)

// Mode is how strict the judgment is. The names are those of the modes of a loop.
type Mode string

// The modes, from lenient to strict.
const (
	ModeOff        Mode = "off"        // judges nothing
	ModeMinimal    Mode = "minimal"    // denies CRITICAL, allows everything else
	ModeStandard   Mode = "standard"   // denies CRITICAL, asks a person about HIGH, warns of MEDIUM
	ModeAggressive Mode = "aggressive" // denies MEDIUM and above, warns of LOW
)

// Tree is what a judgement needs to know about the project. Paths are slash separated and
// relative to Root.
type Tree struct {
	Root string // absolute
	// Files lists the files to protect: those that existed when the agent started, or
	// that git tracks. It is called at most once per tool call.
	Files func() []string
	// Read returns the current text of a file, and false if it is missing.
	Read func(rel string) ([]byte, bool)
	// Before returns the text of a file when the agent started, and false if the file was
	// missing. A nil Before means Read.
	Before func(rel string) ([]byte, bool)
	// ReadOutside returns the text of a file outside the tree, by its absolute path, and false if
	// the file is missing or too long. It is called for scripts in temporary folders. If it is
	// nil, no such file is known.
	ReadOutside func(path string) ([]byte, bool)
}

// Options are what a judgment depends on besides the call.
type Options struct {
	Tree Tree
	Mode Mode   // "" means ModeStandard
	Home string // the home of the user, absolute
	// StateFiles are the files and folders outside the tree in which supervise keeps its state,
	// absolute.
	StateFiles []string
	// CheckFiles are the files that the checks run, relative to the tree.
	CheckFiles []string
	Integrity  integrity.Options
}

// rule is a row of the table of risks. A finding may have another severity than its rule.
type rule struct {
	severity metric.Severity
	destroys bool   // the call can lose something, so a checkpoint is needed
	why      string // the message to the agent, which names the target after it
	instead  string // the advice to the agent, without a full stop
}

// rules are the rules, by name.
var rules = map[string]rule{
	"delete_tests":           {metric.Critical, true, "it deletes tests", "Fix the code under test. Leave obsolete tests to a person"},
	"tests_out_of_discovery": {metric.Critical, true, "it moves tests to a place where they do not run", "Leave the test in its place"},
	"empty_test_file":        {metric.Critical, true, "it empties a test file", "Change the test, or fix the code"},
	"tests_unreadable":       {metric.High, false, "it makes tests unreadable", "Leave the permissions of tests alone"},
	"overwrite_test":         {metric.Medium, true, "it overwrites a test file with unknown text", "Make sure that no test is lost"},
	"edit_test_in_place":     {metric.Medium, true, "it edits test files in place", "Make sure that no test is lost or weakened"},
	"cut_test_lines":         {metric.High, true, "it deletes lines of test files", "Edit the test file, so that the change is visible"},
	"script_on_tests":        {metric.High, true, "it runs a script that deletes or writes test files", "Edit the test file, so that the change is visible"},
	"delete_all":             {metric.Critical, true, "it deletes the complete project", "Delete only files that you created, by name"},
	"delete_many":            {metric.High, true, "it deletes a large part of the project", "Delete only files that you created, by name"},
	"delete_files":           {metric.Medium, true, "it deletes files of the project", "Make sure that the files are no longer needed"},
	"delete_unknown":         {metric.Medium, true, "it deletes unknown files", "Name the files to delete"},
	"delete_outside":         {metric.High, true, "it deletes files outside the project", "Stay within the project, or use a temporary folder"},
	"delete_git":             {metric.Critical, true, "it deletes the history of the project", "Leave .git alone"},
	"checks_config":          {metric.Medium, false, "it changes what the checks run", "Leave the checks as they are"},
	"delete_checks_config":   {metric.High, true, "it deletes what the checks run", "Leave the checks as they are"},
	"supervise_files":        {metric.Critical, false, "it changes files of supervise", "Leave this change to a person"},
	"supervise_command":      {metric.Critical, false, "it decides for a person, or ends the supervisor", "Leave that to the person who started the loop"},
	"agent_hooks":            {metric.High, false, "it changes the hooks of git or of an agent", "Leave hooks to a person"},
	"git_reset_hard":         {metric.High, true, "it throws away uncommitted work", "Undo single changes by editing"},
	"git_discard_all":        {metric.High, true, "it throws away all uncommitted work", "Undo single changes by editing"},
	"git_discard":            {metric.Medium, true, "it throws away the changes of files", "Make sure that the changes are not needed"},
	"git_old_tests":          {metric.High, true, "it restores another version of tests", "Fix the code instead"},
	"git_clean":              {metric.High, true, "it deletes what git does not track", "Delete only files that you created, by name"},
	"git_stash":              {metric.High, true, "it removes uncommitted work from the tree", "Keep the work in the tree: supervise keeps every version of it"},
	"git_stash_drop":         {metric.High, true, "it deletes stashed work", "Leave the stash alone"},
	"git_no_verify":          {metric.High, false, "it skips the hooks of the project", "Commit without --no-verify, and fix what the hooks find"},
	"git_force_push":         {metric.High, true, "it overwrites or deletes what others see", "Push without force, or leave it to a person"},
	"git_hide":               {metric.Critical, false, "it tells git not to look at files", "Leave the index as it is"},
	"git_hooks_path":         {metric.Critical, false, "it disables the hooks of git", "Leave the configuration of git alone"},
	"git_history":            {metric.High, true, "it rewrites or deletes history", "Leave the history alone"},
	"git_branch_delete":      {metric.Medium, true, "it deletes a branch whether it is merged or not", "Make sure that nothing is lost"},
	"sed_config":             {metric.Medium, false, "it edits what the checks run, in place", "Leave the checks as they are"},
}

// judge collects the risks of one call.
type judge struct {
	opt        Options
	call       Call     // the call to judge
	knownFiles []string // the result of files
	listed     bool     // files was called
	risks      []Risk   // the risks so far
}

// Judge returns the verdict on a call before it happens. Events other than PreTool are allowed.
func Judge(call Call, opt Options) Decision {
	if opt.Mode = cmp.Or(opt.Mode, ModeStandard); opt.Mode == ModeOff || call.Event != PreTool {
		return Decision{Verdict: Allow}
	}
	j := &judge{opt: opt, call: call}
	j.judgeCall()
	return j.decide()
}

// judgeCall collects the risks of the call, most severe first.
func (j *judge) judgeCall() {
	switch j.call.Kind {
	case Shell:
		j.judgeScript(readShell(j.call.Command, environment{cmp.Or(j.call.Dir, j.opt.Tree.Root), j.opt.Home, j.opt.Tree.Root, j.agentScript}))
	case Write, Edit, Patch:
		j.judgeEdit()
	case OtherTool:
	}
	slices.SortStableFunc(j.risks, func(a, b Risk) int { return cmp.Compare(b.Severity, a.Severity) })
}

// addRisk adds a risk of the rule with the name. A rule counts once for each target.
func (j *judge) addRisk(name, target string) {
	r := rules[name]
	j.addUnique(Risk{Rule: name, Severity: r.severity, Target: target, Why: r.why, Destroys: r.destroys})
}

// maxRisks bounds the risks of one call.
const maxRisks = 20

// addUnique adds a risk, unless its rule was already added for its target.
func (j *judge) addUnique(r Risk) {
	if len(j.risks) < maxRisks && !slices.ContainsFunc(j.risks, func(have Risk) bool { return have.Rule == r.Rule && have.Target == r.Target }) {
		j.risks = append(j.risks, r)
	}
}

// verdicts are the verdicts by mode and severity. A missing one is Allow.
var verdicts = map[Mode]map[metric.Severity]Verdict{
	ModeMinimal:    {metric.Critical: Deny},
	ModeStandard:   {metric.Critical: Deny, metric.High: Ask, metric.Medium: Warn},
	ModeAggressive: {metric.Critical: Deny, metric.High: Deny, metric.Medium: Deny, metric.Low: Warn},
}

// strictness orders the verdicts.
var strictness = map[Verdict]int{Allow: 0, Warn: 1, Ask: 2, Deny: 3}

// decide returns the strictest verdict on the risks, with a message unless everything is allowed.
func (j *judge) decide() Decision {
	d := Decision{Verdict: Allow, Risks: j.risks}
	for _, r := range j.risks {
		d.Checkpoint = d.Checkpoint || r.Destroys && r.Severity >= metric.Medium
		if v := cmp.Or(verdicts[j.opt.Mode][r.Severity], Allow); strictness[v] > strictness[d.Verdict] {
			d.Verdict = v
		}
	}
	if d.Verdict != Allow {
		d.Reason = DecisionMessage(d)
	}
	return d
}

// DecisionMessage returns the message to an agent about the risks of a call. It names up to three
// risks of the highest severity, and what to do instead. It is "" without risks.
func DecisionMessage(d Decision) string {
	if len(d.Risks) == 0 {
		return ""
	}
	lead := map[Verdict]string{Deny: "supervise denied this: ", Ask: "supervise asks a person to decide: ", Warn: "supervise warns: ", Allow: "supervise: "}[d.Verdict]

	worst := d.Risks[0].Severity
	var messages, instead []string
	for _, r := range d.Risks {
		if r.Severity < worst || len(messages) == 3 {
			break
		}
		text := r.Why
		if r.Target != "" {
			text += " (" + shorten(r.Target) + ")"
		}
		messages = append(messages, text)
		if row, ok := rules[r.Rule]; ok && !slices.Contains(instead, row.instead) {
			instead = append(instead, row.instead)
		}
	}

	text := lead + strings.Join(messages, "; ") + "."
	if len(instead) > 0 {
		text += " " + strings.Join(instead, ". ") + "."
	}
	if more := len(d.Risks) - len(messages); more > 0 && d.Risks[len(messages)].Severity == worst {
		text += fmt.Sprintf(" (%d more of this kind)", more)
	}
	return text
}

// shorten returns a text on one line of at most 163 bytes.
func shorten(s string) string { return textstream.Truncate(strings.Join(strings.Fields(s), " "), 163) }
