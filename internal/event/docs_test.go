package event_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"supervise/internal/approval"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/record"
	"supervise/test/docs"
)

// rows are the events in the order of docs/events.md. fields are the keys of data,
// with what a reader has to know of them.
var rows = []struct {
	typ    event.Type
	when   string
	data   any
	fields string
}{
	{event.LoopStarted, "first", event.Started{}, "`dir`, `plan` {`language`, `root`, `checks` [{`kind`, `name`, `command`, `reports`, …}]}, `agent`, `max_iterations`, `settings_sha256`, `steps` (iterations that this process does at most)"},
	{event.LoopResumed, "first, in a resumed loop", event.Resumed{}, "`dir`, `plan`, `agent`, `iteration`, `from` (what it does first), `max_iterations`, `steps`"},
	{event.LogDamaged, "the log has unreadable lines", event.Damage{}, "`problems`"},
	{event.SurvivorsEnded, "processes of a dead run's agent were still running, and were ended", event.Survivors{}, "`names`"},
	{event.TreeChanged, "the tree was not as the loop left it, and is about to be restored; or, without `restored_snapshot`, the loop goes on with it", event.TreeChange{}, "`kept_snapshot`, `restored_snapshot`, `files`"},
	{event.CrashFound, "an earlier loop of this tree was killed, or (`over`) a rollback of it", event.Crash{}, "`loop_id`, `iteration`, `restored` (it was killed during a restore, which is finished now), `over`, `trees` (snapshots: `before` the iteration, `left` by the agent, `kept` from before the restore)"},
	{event.CheckStarted, "before each check", event.Check{}, "as `check_finished`"},
	{event.CheckFinished, "after each check", event.Check{}, "`name`, `command`, `done`, `exit_code`, `duration_ms`, `why` (it counts as not measured)"},
	{event.CandidateStarted, "the loop of a [candidate](candidates.md) begins, or goes on", event.Candidate{}, "`candidate`, `candidate_loop`, `dir` (its tree), `agent`"},
	{event.CandidateFinished, "that loop has ended", event.CandidateEnd{}, "`candidate`, `candidate_loop`, `reason` and `text` (of its end), `iteration` (that it selected; 0: none), `iterations` (that it did)"},
	{event.CandidatesCompared, "once, after all candidates", event.Compared{}, "`standings` (the best first, see [candidates](candidates.md#the-choice)), `kept` (why the tree stays as it is)"},
	{event.BaselineMeasured, "once", event.Baseline{}, "`metrics`, `criterion`, `files`, `skipped`, `not_kept` (ignored, and made anew by tools), `check_outputs` (files that the checks make), `flaky`, `settings_without_effect` (limits of `paths` that match no file), `checks`"},
	{event.SnapshotTaken, "the tree is kept", event.Taken{}, "`moment` (`before_checks`, `after_checks`, `before_agent`, `after_agent`, `before_tool`: before a call that may destroy something), `snapshot`, `tree` (identity of the contents), `files`, `check_outputs`"},
	{event.SnapshotsDropped, "the snapshots exceeded their limit, or the disk was full", event.SnapshotsGone{}, "`snapshots` (names), `freed_bytes`, `store_bytes`, `limit_bytes`"},
	{event.StoreOverLimit, "once, when nothing more may be dropped", event.OverLimit{}, "`store_bytes`, `limit_bytes`, `snapshots` (number), `why`"},
	{event.RestoreIncomplete, "a restore left something out", event.Shortfall{}, "`lost` (paths that existed, were not kept, and are gone), `not_deleted` (new paths in no snapshot, still there), `displaced` (paths in the way that are in no snapshot), `displaced_to` (where they are now), `gone_made_anew` (gone, and tools make it anew), `changed` (never kept, another size or time), `in_use` (ignored, open in another program), `new_ignored` (ignored and new, still there), `replaced` (where the file or link is that was in the place of the tree), `git_fsck` (what git fsck finds), `unlike` (whole, with another owner or hard link), `differs` (should have been put back)"},
	{event.SharedLost, "in a linked worktree: branches, tags or stashes that all worktrees share are gone; somebody else may have removed them", event.SharedRefs{}, "`refs`"},
	{event.SharedPutBack, "they came back with a restore", event.SharedRefs{}, "`refs`"},
	{event.IterationStarted, "before the agent runs", event.AgentStart{}, "`max_iterations`, `reinforcement_level`, `why`, `points` ([reminders](recovery.md#prompts) besides the task), `hints` (of a person)"},
	{event.LevelChanged, "before `iteration_started`, if the level changed", event.LevelChange{}, "`from_level`, `to_level`, `reason`"},
	{event.TreeAlarmed, "[tests vanished](recovery.md#alarm) while the agent worked", event.TreeAlarm{}, "`test_files`, `files_gone`, `files`, `action`"},
	{event.ApprovalRequested, "a person is [asked](approval.md), before `iteration_finished`", event.ApprovalRequest{}, "`question` {`kind` (`regression`, `suspicion`, `standstill`, `blocked`), `why`, `findings`, `tests`, `numbers`, `diagnosis`, `target_iteration`, `patch`, …}, `terminal`"},
	{event.ApprovalAnswered, "the person, or the policy, answered", approval.Answer{}, "`choice`, `reason`, `by`, `via` (`terminal`, `command`, `timeout`), `at`"},
	{event.AnswerRefused, "an answer did not count", event.Refusal{}, "`why`"},
	{event.ChildStarting, "just before the agent, a check or the criterion starts", event.Child{}, "`process` (`agent`, `check`, `criterion`, `reviewer`), `shim` {`pid`, `start`}: the process that watches it"},
	{event.AgentSpawned, "the agent runs", event.Spawned{}, "`shim`, `leader` {`pid`, `start`}"},
	{event.AgentFinished, "the agent and all its processes are gone", ledger.AgentRun{}, "`exit_code`, `signal`, `cause`, `duration_ns`, [`containment`](engine.md#processes), `leftovers`, `refused_hosts` (that a [sandbox](threat-model.md#sandbox) kept it from), `last_words`, `alarm` (why it was ended during its work); of a known agent `program`, `outcome`, `message`, `session`, `model`, `agent_version`, [`usage`](agents.md#what-it-cost), [`window`](agents.md#windows) (of which most is used), `limit_reached` (`cost` or `tokens`, if one ended it), `completion_claimed` (it printed the completion promise), `blocked` (what it [said](agents.md#the-honest-way-out) that it cannot do), `notes` (as it [left them](recovery.md#notes)), `runs` and `waited_ns` (if its service failed; the other numbers then sum up all runs so far)"},
	{event.AgentBlocked, "the agent [said](agents.md#the-honest-way-out) that it cannot go on", ledger.Block{}, "`tests` (none: the whole task), `known_tests`, `unknown_tests`, `reason`, `at`"},
	{event.AgentRetrying, "the running agent retries to reach its service", event.Retrying{}, "`outcome`, `attempt`, `delay_ms`, `message`"},
	{event.AgentWaiting, "its service failed; it will run again in the same iteration", event.Waiting{}, "`outcome` (`rate_limit`, `server_error`), `message`, `until`, `delay_ms`, `delay_from_service` (the service named the delay), `runs`; `agent` and `next_agent` if [another one](agents.md#fallback) continues at once"},
	{event.AgentRests, "in a [watched](watch.md) session, not in the log: the agent is silent after something was found", nil, ""},
	{event.HookCalled, "the agent's [hook](hooks.md) reported a call", event.HookCall{}, "`client`, `event` (the name in the client), `tool`, `target` (command or path), `decision` (`allow`, `warn`, `ask`, `deny`), `reason`, `risks` [{`rule`, `severity`, `target`, `why`, `destroys`}], `checkpoint` (the snapshot before it), `problem`, `duration_ms`"},
	{event.HooksSilent, "installed hooks were never called", event.Silence{}, "`client`, `why`"},
	{event.HooksBroken, "hooks could not be installed", event.Silence{}, "`client`, `why`"},
	{event.IterationFinished, "measured and judged", event.IterationEnd{}, "`metrics`, `rejected`, `verified`, `changed_files`, `elapsed_ms`, `next` (`continue`, `retry`, `stop`, `escalate`), `reason`"},
	{event.RollbackStarted, "before a rollback", event.RollingBack{}, "`from_snapshot`, `to_snapshot`"},
	{event.IterationRejected, "after the rollback", event.Rejected{}, "`reasons`, `tests`, `kept_snapshot`, `restored_iteration`, `retry`, `max_retries`, `diagnosis`"},
	{event.MeasurementStale, "in a [watched](watch.md) session: the agent worked again before its tree was measured; the measurement is discarded", event.Stale{}, "`snapshot`"},
	{event.IterationInterrupted, "the loop stopped before the iteration could be judged", event.Interruption{}, "`kept_snapshot`, `changed_files`"},
	{event.LoopStopping, "no further iteration follows", event.Stop{}, "`reason`, `text`"},
	{event.OutputSelected, "at the end", event.Selected{}, "`selection`, `applied`"},
	{event.OutputVerified, "the selected tree was re-measured", event.Verification{}, "`confirmed`, `differences`, `goals` (tests as they were before the loop, over the selected code; `alerts` are the findings that are new at the end), `hidden_tests`"},
	{event.OutputReviewed, "a [reviewer](review.md) was asked about the selected tree", ledger.SelectionReview{}, "`reviewer`, `verdict` (`ok`, `concerns`, `gaming`; missing where there is no opinion), `why` (there is none), `findings` [{`file`, `line`, `reason`}], `duration_ns`, `usage`, `iteration`, `alerts`"},
	{event.SelectionChanged, "afterwards, only in the log: `supervise select` chose again", event.Reselected{}, "`selection` (with `override` {`kind`, `iteration`, `reason`, `by`}), `selected_before`, `by` (user name), `weights` (if others than the loop's were asked for)"},
	{event.SelectionApplied, "that tree was restored", event.Applied{}, "`snapshot`, `kept_snapshot` (the tree before), `by`"},
	{event.LoopRecorded, "only in the log of a [recorded loop](record.md): it began", nil, "`dir`, `settings_sha256`"},
	{event.IterationRecorded, "there, an iteration was recorded and judged", record.RecordedData{}, "`metrics`, `rejected`, `verified`, `next`, `reason`, `by`"},
	{event.IterationReplaced, "there, before a number is recorded again", record.Replaced{}, "`before` (the old record), `by`, `reason`"},
	{event.LoopFinished, "last", event.LoopEnd{}, "`reason`, `text`, `exit_code`, `report`, `iterations` (that the loop has done in all), `best_iteration` (selected, or the best so far) and its `quality_score` in [0,1], `safe_snapshot` (that a further iteration starts from), `spending` (of the agent, with `tokens`, `improvements`, and the cost of each), `declared` (findings that [`tests: change`](rules.md#what-you-declare) lets happen, to be read), `tree` (what the tree was found to be after the last restore: `snapshot`, `as`, `files_compared`, `git_files_compared`, `ignored_files_compared`, `except` as in `restore_incomplete`, `not_compared`)"},
}

func TestEventsAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| type | when | data |\n|---|---|---|\n")
	documented := map[string]bool{}
	for _, r := range rows {
		documented[string(r.typ)] = true
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.typ, r.when, r.fields)
		if strings.HasPrefix(r.fields, "as ") {
			continue
		}
		for _, key := range keys(r.data) {
			if !strings.Contains(r.fields, "`"+key+"`") {
				t.Errorf("the row of %s in docs_test.go does not name the key %q of %T", r.typ, key, r.data)
			}
		}
	}
	for name, value := range constants(t, "event.go", "Type") {
		if !documented[value] {
			t.Errorf("event.%s (%s) has no row in docs_test.go: add one, then run go test ./internal/event -update-docs", name, value)
		}
	}
	docs.Block(t, "events.md", "event types", "./internal/event", b.String())
}

// keys are the names of a struct's fields in JSON.
func keys(data any) []string {
	if data == nil {
		return nil
	}
	var out []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(data)) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" && !f.Anonymous { // the fields of an embedded one are visible themselves
			out = append(out, name)
		}
	}
	return out
}

// constants are the constants of a type in a file of this package, by name.
func constants(t *testing.T, file, typ string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == typ {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out[spec.Names[0].Name] = value
		}
		return true
	})
	if len(out) == 0 {
		t.Fatalf("%s has no constants of type %s", file, typ)
	}
	return out
}

// notes say more of the reasons for which a loop ends.
var notes = map[event.Reason]string{
	event.Done:           "all iterations, `--until never`",
	event.PausedByUser:   "`supervise pause`",
	event.Awaiting:       "for a [person](approval.md), with `--steps`; `supervise resume` takes the answer",
	event.Stepped:        "with `--steps`; `supervise resume` goes on",
	event.SessionOver:    "of `watch`",
	event.NothingChanged: "during `watch`",
	event.Refused:        "by its service",
	event.Aborted:        "by a person, or `--approval abort`",
	event.Blocked:        "the agent [said](agents.md#the-honest-way-out) that it cannot go on, and nobody was there to decide, or agreed",
	event.StoppedByRule:  "by a [rule](rules.md)",
	event.NotReproduced:  "the selected tree gave other numbers when re-measured",
	event.FindingsOpen:   "[open](integrity.md#open-findings) integrity findings",
	event.NotApplied:     "the tree had changed meanwhile, so the [candidate](candidates.md) that was chosen was not put into it",
	event.CriticalLeft:   "critical findings in the tree at the end of `watch`",
	event.Unavailable:    "the agent's service, for longer than the loop waits",
	event.IterationLimit: "criterion not met",
	event.HiddenFail:     "on the selected tree",
	event.Diminishing:    "with `--stop-on-diminishing`",
}

func TestReasonsAreDocumented(t *testing.T) {
	byStatus := map[int][]string{}
	documented := map[string]bool{}
	statusTable := docs.Page(t, "commands.md")
	for _, r := range event.Reasons() {
		text := "`" + string(r) + "`"
		if note := notes[r]; note != "" {
			text += " (" + note + ")"
		}
		documented[string(r)] = true
		byStatus[r.ExitCode()] = append(byStatus[r.ExitCode()], text)
		if r.Status() == "" {
			t.Errorf("the reason %s says nothing of the loop's status", r)
		}
		if !strings.Contains(statusTable, fmt.Sprintf("\n| %d | ", r.ExitCode())) {
			t.Errorf("the reason %s ends with status %d, which docs/commands.md does not list: add it to exitStatuses in cmd/supervise/exit.go", r, r.ExitCode())
		}
	}
	for name, value := range constants(t, "stop.go", "Reason") {
		if !documented[value] {
			t.Errorf("event.%s (%s) has no row in the table of reasons in stop.go: add one, then run go test ./internal/event -update-docs", name, value)
		}
	}
	var statuses []int
	for status := range byStatus {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	var b strings.Builder
	b.WriteString("| reason | status |\n|---|---|\n")
	for _, status := range statuses {
		fmt.Fprintf(&b, "| %s | %d |\n", strings.Join(byStatus[status], ", "), status)
	}
	docs.Block(t, "events.md", "reasons", "./internal/event", b.String())
}
