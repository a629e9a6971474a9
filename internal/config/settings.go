package config

import (
	"time"

	"supervise/metric"
)

// The keys of the configuration file. The reference in docs/configuration.md is generated
// from them ("go test ./internal/config -update-docs"): the comment of a field is the
// meaning of the key, the tag range lists its values, and zero describes its zero value.
// Tests check all three.

// Settings are all settings of a user. The zero value of a limit means no limit.
type Settings struct {
	Checks Checks `yaml:"checks"`
	// how many checks [run at the same time](#checks-at-the-same-time)
	Parallel Parallel `yaml:"checks_parallel" zero:"auto" range:"auto, ≥ 1"`
	Confirm  Confirm  `yaml:"confirm"`
	Limits   Limits   `yaml:"limits"`
	// a [known agent program](agents.md#known-agents) that supervise starts, or several, [each as the fallback of the previous one](agents.md#fallback); otherwise it starts the command after `--`
	Agent string `yaml:"agent" range:"agents"`
	// the model of `agent`
	Model string `yaml:"model" zero:"its own choice"`
	// `continue`: each iteration continues the agent's session, except after a rollback
	Session string `yaml:"session" range:"fresh|continue"`
	// let `agent` act without asking; in a file this counts only if `--config` names the file, otherwise use `--yolo`
	Yolo bool `yaml:"yolo"`
	// when the task is done: `green`: all tests pass; `idle`: an iteration changes nothing while the checks are green; `guarded`: `green`, and [tests notice](guarded.md) faults in what changed; `quality`: `green`, and `quality_target` is reached; `never`; or a command that succeeds. `auto` is `green` if the baseline is not green, otherwise `idle`
	Until string `yaml:"until" range:"auto|green|idle|guarded|quality|never|command"`
	// a text that the agent must [also](agents.md#when-it-is-done) print before the task counts as done
	Promise string `yaml:"completion_promise"`
	// a quality score that must also be reached; 90 by default with `until: quality`
	QualityTarget float64 `yaml:"quality_target" range:"0–100"`
	// share of the [changed lines](rules.md#changed-lines) that tests must also execute, in a loop and for `supervise gate`
	MinChangeCoverage Percent `yaml:"min_change_coverage" range:"0–100"`
	// share of the [mutants of the change](guarded.md) that tests must also notice; 80% with `until: guarded`
	MinNoticed Percent `yaml:"min_mutants_noticed" range:"0–100"`
	// what happens when the loop [stalls or cycles](rules.md#stall-cycle-stuck): `stop` and `ask` (a [person](approval.md)) apply to early cycles too, `auto` ends it on a stall and an infinite loop
	OnStall string `yaml:"on_stall" range:"auto|stop|ask|continue"`
	// end the loop (exit status 5) when quality grows by less than 5 points twice in a row; reports mention it in any case
	Diminishing bool `yaml:"stop_on_diminishing"`
	// whether the agent gets a [terminal](agents.md#terminal); `auto`: if possible
	Pty string `yaml:"pty" range:"auto|always|never"`
	// how strongly [the prompt reminds the agent](recovery.md#prompts) of the rules; `adaptive` depends on what happened before
	Reinforcement string `yaml:"reinforcement" range:"adaptive|off|minimal|standard|aggressive"`
	// how many tokens of [evidence](recovery.md#evidence) the prompt has: failing tests, errors, refused changes, earlier iterations; 0: none
	EvidenceTokens int `yaml:"evidence_tokens" range:"≥ 0"`
	// [which rules apply](rules.md#setting-the-rules): none, the CRITICAL ones about metrics, the usual ones, all
	Mode string `yaml:"mode" range:"off|minimal|standard|aggressive"`
	// treat a renamed or moved test as deleted, and compare coverage percentages as they are
	Strict bool `yaml:"strict"`
	// what the agent may do to the tests: `free`: any honest change; `append`: existing tests must stay unchanged; `change`: expectations may change, and a person reads which; `change=PATTERN`: only those of matching tests or files; `frozen`: no test file may change; or a list ([details](rules.md#what-you-declare))
	Tests Intents `yaml:"tests" range:"free|append|change|change=PATTERN|frozen"`
	// names or paths, with `*`, of tests and test files that may be removed
	AllowRemove []string `yaml:"allow_remove"`
	// files, as patterns such as `schema/*.json`, that are product code although they are scripts, data or configuration: [what became green may rely on them](integrity.md#clean-copy)
	Product []string `yaml:"product"`
	// target of a rollback: the tree that the rejected iteration started from, or the best so far
	RollbackTo    string          `yaml:"rollback_to" range:"started|best"`
	Stall         Stall           `yaml:"stall"`
	Cycle         Cycle           `yaml:"cycle"`
	Stuck         Stuck           `yaml:"stuck"`
	Rules         map[string]Rule `yaml:"rules"`
	Integrity     Integrity       `yaml:"integrity"`
	GoalTests     GoalTests       `yaml:"goal_tests"`
	HiddenTests   HiddenTests     `yaml:"hidden_tests"`
	Reviewer      Reviewer        `yaml:"reviewer"`
	MutationCheck MutationCheck   `yaml:"mutation_check"`
	ChangeMutants ChangeMutants   `yaml:"change_mutants"`
	Hooks         Hooks           `yaml:"hooks"`
	Protect       Protect         `yaml:"protect"`
	// the metrics that `error_count` sums up
	ErrorCount []metric.Field `yaml:"error_count" range:"lint_errors|lint_warnings|type_errors"`
	Weights    Weights        `yaml:"quality_weights"`
	Selection  Selection      `yaml:"selection"`
	Snapshot   Snapshot       `yaml:"snapshot"`
	// start even if no test can be measured
	AllowUntested bool `yaml:"allow_untested"`

	// what happens when an [approval](approval.md) is needed and there is no terminal
	Approval string `yaml:"approval" range:"reject|abort|wait"`
	// without an answer for this long, an approval counts as rejected; 0: wait forever
	ApprovalTimeout time.Duration `yaml:"approval_timeout" range:"≥ 0"`
	// never ask on the terminal
	Unattended bool   `yaml:"unattended"`
	Notify     Notify `yaml:"notify"`
	Alarm      Alarm  `yaml:"alarm"`

	// Alternative names of the keys above, which take precedence.
	Persistence Persistence `yaml:"agent_persistence"`
}

// Checks are the commands of the project. Commands that are not configured are detected.
type Checks struct {
	// a shell command, a mapping of the keys below, or a list of either; it replaces everything that is [recognised](projects.md) of this kind
	Build List `yaml:"build" zero:"recognised"`
	// the same for tests
	Test List `yaml:"test" zero:"recognised"`
	// the same for linters and type checkers
	Lint List `yaml:"lint" zero:"recognised"`
}

// Check is one command. In the file it is a shell command or a mapping.
type Check struct {
	// for progress lines and reports
	Name string `yaml:"name" zero:"the kind: test, test 2 …"`
	// the folder of the check below the root: the command runs there, and reports are relative to it
	Dir string `yaml:"dir" zero:"the root"`
	// the command to run; required
	Command Argv `yaml:"command"`
	// variables to add to the environment, as `NAME=value`
	Env []string `yaml:"env"`
	// files to write to `{{report_dir}}` before the command runs, as name: text
	Files map[string]string `yaml:"files"`
	// files or patterns that the command writes; `**` matches any folders; without any, its output is read
	Reports []string `yaml:"reports" zero:"its output"`
	// read standard error and standard output as one text
	Stderr bool `yaml:"stderr"`
	// the reports also hold coverage, whose absence is reported
	Coverage bool `yaml:"coverage"`
	// the test framework, so that failing tests can be [rerun alone](rules.md#reruns-of-failing-tests) to detect flaky ones. Without one, and for a framework without `rerun` in [the table](projects.md#test-frameworks), the complete command is rerun once
	Runner string `yaml:"runner" range:"runners"`
	// a command that lists the tests without running them, for a runner with `list` in [the table](projects.md#test-frameworks). Listed tests without a result count as not run
	Inventory Argv `yaml:"inventory"`
	// time limit of the command
	Timeout time.Duration `yaml:"timeout" range:"≥ 0" zero:"limits.check_timeout"`
}

// Confirm configures how failures of tests that passed before are confirmed.
type Confirm struct {
	// if more tests than this fail that passed before, none is rerun
	MaxTests int `yaml:"max_tests" range:"≥ 1"`
	// maximum reruns of such a test; 0: never
	Reruns int `yaml:"reruns" range:"≥ 0"`
}

// GoalTests are the original tests, run on the new code.
type GoalTests struct {
	// whether the [original tests](integrity.md#goal-tests) are run on the new code
	Run string `yaml:"run" range:"always|never"`
	// time limit of one such trial
	Timeout time.Duration `yaml:"timeout" range:"≥ 0" zero:"the limits of the checks"`
}

// HiddenTests are tests that the agent does not see.
type HiddenTests struct {
	// a folder outside the tree with [tests that the agent does not see](integrity.md#hidden-tests); relative to the folder of the configuration
	Dir string `yaml:"dir"`
	// the share of the failing tests that is [sealed](integrity.md#sealed-tests): taken out of the tree until the loop ends
	Seal float64 `yaml:"seal" range:"≥ 0, < 1"`
	// command that runs the hidden tests
	Command Argv `yaml:"command" zero:"the test checks"`
	// reports that the command writes, as for a check
	Reports []string `yaml:"reports" zero:"its output"`
	// whether hidden tests are run on every iteration, or only on the selected tree
	When string `yaml:"when" range:"iteration|end"`
	// time limit of one run of the hidden tests
	Timeout time.Duration `yaml:"timeout" range:"≥ 0" zero:"the limits of the checks"`
}

// Reviewer says who gives a second opinion on a change.
type Reviewer struct {
	// a known agent program, or a command for the shell, that [reviews](review.md) a change once
	Agent string `yaml:"agent"`
	// model of that agent program
	Model string `yaml:"model" zero:"its own choice"`
	// time limit of the reviewer
	Timeout time.Duration `yaml:"timeout" range:"≥ 0"`
}

// MutationCheck limits the comparison of changed tests with the original ones by mutants of the
// code.
type MutationCheck struct {
	// disable the [mutation check](integrity.md#mutation-check)
	Off bool `yaml:"off"`
	// how many mutants changed tests are run on
	MaxMutants int `yaml:"max_mutants" range:"≥ 1"`
	// the most time for one [comparison](integrity.md#mutation-check), with copies and runs without a mutant
	Budget time.Duration `yaml:"budget" range:"≥ 0" zero:"5m"`
}

// ChangeMutants limits the mutants of changed lines that all tests run on.
type ChangeMutants struct {
	// disable the [mutants of the change](guarded.md)
	Off bool `yaml:"off"`
	// how many mutants of a change are run
	MaxMutants int `yaml:"max_mutants" range:"≥ 1"`
}

// The values of [GoalTests].Run and [HiddenTests].When.
const (
	always      = "always"
	never       = "never"
	onIteration = "iteration"
	atEnd       = "end"
)

// Limits bound a loop.
type Limits struct {
	// maximum number of iterations
	MaxIterations int `yaml:"max_iterations" range:"≥ 1"`
	// time limit of the loop
	MaxTime time.Duration `yaml:"max_time" range:"≥ 0"`
	// time limit of the agent in one iteration; its work until then is measured
	IterationTimeout time.Duration `yaml:"iteration_timeout" range:"≥ 0"`
	// stop the agent when it prints nothing for this long; `auto`: 30m without a person at the terminal, otherwise no limit; 0: no limit
	IdleTimeout OutputTimeout `yaml:"idle_timeout" zero:"auto" range:"≥ 0"`
	// stop the agent when it has printed nothing at all for this long; `auto`: 10m without a person at the terminal
	FirstOutput OutputTimeout `yaml:"first_output_timeout" zero:"auto" range:"≥ 0"`
	// size limit of the output kept per iteration, in MiB: the first eighth and the end are kept
	TranscriptMB int64 `yaml:"transcript_mb" range:"≥ 1"`
	// cost limit of the loop in US dollars, if the agent [reports cost](agents.md#what-it-cost)
	MaxCost float64 `yaml:"max_cost" range:"≥ 0"`
	// limit of tokens of all kinds in the loop
	MaxTokens int64 `yaml:"max_tokens" range:"≥ 0"`
	// share of a [window](agents.md#windows) of its service that the agent may use, like `80%`
	MaxWindow Percent `yaml:"max_window" range:"0–100"`
	// how long an iteration waits while the agent's service is [unavailable](agents.md#how-a-run-ended); 0: not at all
	MaxWait time.Duration `yaml:"max_wait" range:"≥ 0"`
	// the first wait if the service gives no time; doubled each time, up to 10 min
	FirstWait time.Duration `yaml:"first_wait" range:"> 0"`
	// how often a rejected iteration is retried before the loop ends with exit status 3
	MaxRetries int `yaml:"max_retries" range:"≥ 0"`
	// maximum number of loops on this machine at the same time, each in its own tree (`git worktree add`)
	MaxLoops int `yaml:"max_loops" range:"≥ 0" zero:"any"`
	// time limit of a check without its own `timeout`; 0: none
	CheckTimeout time.Duration `yaml:"check_timeout" range:"≥ 0"`
}

// Weights are the weights of the quality score. They must not be negative, and their sum must be
// above 0.
type Weights struct {
	// [tests, build, lint errors](rules.md); weights are relative to their sum
	Validation float64 `yaml:"validation" range:"≥ 0"`
	// coverage, and the number of tests compared with the baseline
	Completeness float64 `yaml:"completeness" range:"≥ 0"`
	// pass rate and errors
	Correctness float64 `yaml:"correctness" range:"≥ 0"`
	// lint warnings and complexity
	Readability float64 `yaml:"readability" range:"≥ 0"`
	// growth of the code
	Efficiency float64 `yaml:"efficiency" range:"≥ 0"`
}

// Selection configures how the best iteration is selected.
type Selection struct {
	// which iteration the loop restores at the end: the best verified one, the best of all, or the last that reaches the threshold
	Mode string `yaml:"mode" range:"highest_quality_verified|highest_quality|most_recent_above_threshold"`
	// acceptable quality score; if no iteration reaches it, the best is taken, and the report says so
	Threshold float64 `yaml:"threshold" range:"0–100"`
}

// Snapshot limits what snapshots keep of the tree.
type Snapshot struct {
	// largest file that is kept, in MiB; larger files are never touched
	MaxFileMB int64 `yaml:"max_file_mb" range:"≥ 1"`
	// limit, in MiB, of all ignored files that are kept: those that [no tool regenerates](state.md#ignored-files); 0: none
	MaxIgnoredMB int64 `yaml:"max_ignored_mb" range:"≥ 0"`
	// size limit of the store, in MiB: above it the oldest snapshots are dropped, except [some](state.md#what-is-kept-and-for-how-long); 0: no limit
	MaxStoreMB int64 `yaml:"max_store_mb" range:"≥ 0"`
	// free disk space that a snapshot must leave, in MiB
	MinFreeMB int64 `yaml:"min_free_mb" range:"≥ 0" zero:"free"`
	// patterns of ignored files (up to 1 MiB) that are kept anyway
	Precious []string `yaml:"precious"`
}
