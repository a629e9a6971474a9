package config

import (
	"time"

	"supervise/metric"
)

// The keys of the configuration file. The comment of a field is what the reference
// in docs/configuration.md says of the key, the tag range what it may be, and zero
// what its zero value stands for; "go test ./internal/config -update-docs" writes the
// reference, and tests hold all three to the truth.

// Settings are everything a user can set. The zero value of a field that is a
// limit means that there is none.
type Settings struct {
	Checks Checks `yaml:"checks"`
	// how many checks [run at the same time](#checks-at-the-same-time)
	Parallel Parallel `yaml:"checks_parallel" zero:"auto" range:"auto, ≥ 1"`
	Confirm  Confirm  `yaml:"confirm"`
	Limits   Limits   `yaml:"limits"`
	// a [known agent program](agents.md#known-agents) that supervise starts itself; without one the command behind `--` is started
	Agent string `yaml:"agent" range:"agents"`
	// the model of `agent`
	Model string `yaml:"model" zero:"its own choice"`
	// `continue`: each iteration continues the agent's session, but after no rollback
	Session string `yaml:"session" range:"fresh|continue"`
	// you agree that `agent` asks for no approval; in a file it counts only where `--config` names the file, elsewhere say `--yolo`
	Yolo bool `yaml:"yolo"`
	// when the task is done: `green`: no test fails; `idle`: an iteration changes nothing while the checks are green; `quality`: `green`, and `quality_target` is reached; `never`; or a command that succeeds. `auto` is `green` where the baseline is not, else `idle`
	Until string `yaml:"until" range:"auto|green|idle|quality|never|command"`
	// a text that the agent has to say [as well](agents.md#when-it-is-done), besides green checks
	Promise string `yaml:"completion_promise"`
	// a quality score that has to be reached as well; with `until: quality` it is 90 where nothing is given
	QualityTarget float64 `yaml:"quality_target" range:"0–100"`
	// what a stall does: end the loop, `ask` a [person](approval.md), or nothing
	OnStall string `yaml:"on_stall" range:"stop|ask|continue"`
	// end the loop (status 5) when quality grows by less than 5 points twice in a row; it is reported in any case
	Diminishing bool `yaml:"stop_on_diminishing"`
	// whether the agent has a [terminal](agents.md#terminal): `auto` gives it one where that is possible
	Pty string `yaml:"pty" range:"auto|always|never"`
	// how strongly [the agent is reminded](recovery.md#prompts) of the rules before each iteration; `adaptive` goes by what happened
	Reinforcement string `yaml:"reinforcement" range:"adaptive|off|minimal|standard|aggressive"`
	// [which rules apply](rules.md#setting-the-rules): none, the CRITICAL ones about metrics, the usual ones, all
	Mode string `yaml:"mode" range:"off|minimal|standard|aggressive"`
	// a renamed or moved test counts as a deleted one
	Strict bool `yaml:"strict"`
	// what the agent may do to the tests: anything that is honest; `append`: tests that exist may not be changed or lost; `frozen`: no test file may change. [How it is judged](rules.md#what-you-declare)
	Tests string `yaml:"tests" range:"free|append|frozen"`
	// names or paths, with `*`, of tests and test files whose removal is no finding
	AllowRemove []string `yaml:"allow_remove"`
	// where a rejected iteration goes back to: the tree it started from, or the best so far
	RollbackTo string          `yaml:"rollback_to" range:"started|best"`
	Stall      Stall           `yaml:"stall"`
	Cycle      Cycle           `yaml:"cycle"`
	Stuck      Stuck           `yaml:"stuck"`
	Rules      map[string]Rule `yaml:"rules"`
	Integrity  Integrity       `yaml:"integrity"`
	HoldOut    HoldOut         `yaml:"holdout"`
	Hooks      Hooks           `yaml:"hooks"`
	Protect    Protect         `yaml:"protect"`
	// what `error_count` is the sum of, each at most once
	ErrorCount []metric.Field `yaml:"error_count" range:"lint_errors|lint_warnings|type_errors"`
	Weights    Weights        `yaml:"quality_weights"`
	Selection  Selection      `yaml:"selection"`
	Snapshot   Snapshot       `yaml:"snapshot"`
	// run although no test can be measured
	AllowUntested bool `yaml:"allow_untested"`

	// what is done where [a person should judge](approval.md) and there is no terminal
	Gate string `yaml:"gate" range:"reject|abort|wait"`
	// a question that nobody answers for so long counts as rejected
	GateTimeout time.Duration `yaml:"gate_timeout" range:"≥ 0"`
	// nobody is asked at the terminal either
	Unattended bool   `yaml:"unattended"`
	Notify     Notify `yaml:"notify"`
	Watch      Watch  `yaml:"watch"`

	// Other names of other keys, which stand over it.
	Persistence Persistence `yaml:"agent_persistence"`
}

// Checks are the commands of the project. What is not given is recognised.
type Checks struct {
	// a command for the shell, a mapping of the keys below, or a list of either; what is given replaces all that is [recognised](projects.md) of this kind
	Build List `yaml:"build" zero:"recognised"`
	// the same for tests
	Test List `yaml:"test" zero:"recognised"`
	// the same for linters and type checkers
	Lint List `yaml:"lint" zero:"recognised"`
}

// Check is one command. In the file it is a string for the shell, or a mapping.
type Check struct {
	// for progress lines and reports
	Name string `yaml:"name" zero:"the kind: test, test 2 …"`
	// the folder below the root that the check belongs to: the command runs there, reports are relative to it, and its tests and files are named as seen from the root
	Dir string `yaml:"dir" zero:"the root"`
	// must be given
	Command Argv `yaml:"command"`
	// `NAME=value`, added to the environment
	Env []string `yaml:"env"`
	// name: text; written into `{{report_dir}}` before the command runs
	Files map[string]string `yaml:"files"`
	// files or patterns that the command writes; `**` stands for any folders; without them its output is read
	Reports []string `yaml:"reports" zero:"its output"`
	// standard error is read together with standard output, as one text
	Stderr bool `yaml:"stderr"`
	// the reports hold coverage as well; it is missed when it is not there
	Coverage bool `yaml:"coverage"`
	// the test framework: by it failing tests can be [run again alone](rules.md#reruns-of-failing-tests), to tell flaky ones. For `mix`, `meson`, `minitest`, and without one, the whole command is run again, once
	Runner string `yaml:"runner" range:"runners"`
	// a command that lists the tests without running them; read for the runners go, pytest, jest, vitest, mocha, playwright, rspec, cargo, nextest and ctest. A listed test that did not run counts as one that did not run
	Inventory Argv `yaml:"inventory"`
	// after which it is ended
	Timeout time.Duration `yaml:"timeout" range:"≥ 0" zero:"limits.check_timeout"`
}

// Confirm is how failures of tests that passed before are confirmed.
type Confirm struct {
	// with more tests that passed before and fail now, none is run again
	MaxTests int `yaml:"max_tests" range:"≥ 1"`
	// how often such a test is run again, at most. 0: never
	Reruns int `yaml:"reruns" range:"≥ 0"`
}

// HoldOut is when tests that findings name are run as they were before the
// iteration, and which tests the agent does not see.
type HoldOut struct {
	// tests that findings about integrity name are [run as they were](integrity.md#the-hold-out-run); `never`: they are not
	Run string `yaml:"run" range:"on-finding|never"`
	// of one such run, or of one of hidden tests, as a whole
	Timeout time.Duration `yaml:"timeout" range:"≥ 0" zero:"the limits of the checks"`

	// a folder outside the tree with [tests that the agent does not see](integrity.md#hidden-tests); a path that is not absolute starts at the folder of the configuration
	Dir string `yaml:"dir"`
	// what runs the hidden tests
	Command Argv `yaml:"command" zero:"the test checks"`
	// what that command writes, as those of a check
	Reports []string `yaml:"reports" zero:"its output"`
	// whether the hidden tests are run over every iteration, or over the selected tree alone
	When string `yaml:"when" range:"iteration|end"`
}

// The values of [HoldOut].Run and [HoldOut].When.
const (
	onFinding   = "on-finding"
	never       = "never"
	onIteration = "iteration"
	atEnd       = "end"
)

// Limits bound a loop.
type Limits struct {
	// how often the agent is started
	MaxIterations int `yaml:"max_iterations" range:"≥ 1"`
	// of the whole loop
	MaxTime time.Duration `yaml:"max_time" range:"≥ 0"`
	// of the agent in one iteration; what it did until then is measured
	IterationTimeout time.Duration `yaml:"iteration_timeout" range:"≥ 0"`
	// the agent prints nothing for so long
	IdleTimeout time.Duration `yaml:"idle_timeout" range:"≥ 0"`
	// the agent prints nothing at all for so long
	FirstOutput time.Duration `yaml:"first_output_timeout" range:"≥ 0"`
	// of what the agent prints in one iteration, in MiB: the first eighth and the end are kept
	TranscriptMB int64 `yaml:"transcript_mb" range:"≥ 1"`
	// of the agent in the whole loop, in US dollars, [as far as it tells](agents.md#what-it-cost)
	MaxCost float64 `yaml:"max_cost" range:"≥ 0"`
	// the same in tokens of all kinds
	MaxTokens int64 `yaml:"max_tokens" range:"≥ 0"`
	// how long is waited in one iteration for the agent's service when it is [not available](agents.md#how-a-run-ended). 0: not at all
	MaxWait time.Duration `yaml:"max_wait" range:"≥ 0"`
	// the first wait, where the service does not say how long; doubled each time, up to 10 min
	FirstWait time.Duration `yaml:"first_wait" range:"> 0"`
	// how often a rejected iteration is tried again before the loop ends with status 3
	MaxRetries int `yaml:"max_retries" range:"≥ 0"`
	// how many loops may run at the same time on this machine, each in a tree of its own (`git worktree add`); one more is refused
	MaxLoops int `yaml:"max_loops" range:"≥ 0" zero:"any"`
	// of one check that has no `timeout` of its own. 0: none
	CheckTimeout time.Duration `yaml:"check_timeout" range:"≥ 0"`
}

// Weights are those of the quality score. They must not be negative, and their sum
// must be above 0.
type Weights struct {
	// [tests, build, lint errors](rules.md); the weights count in proportion to their sum
	Validation float64 `yaml:"validation" range:"≥ 0"`
	// coverage, and tests compared with the baseline
	Completeness float64 `yaml:"completeness" range:"≥ 0"`
	// pass rate and errors
	Correctness float64 `yaml:"correctness" range:"≥ 0"`
	// lint warnings and complexity
	Readability float64 `yaml:"readability" range:"≥ 0"`
	// growth of the code
	Efficiency float64 `yaml:"efficiency" range:"≥ 0"`
}

// Selection is how the best iteration is chosen.
type Selection struct {
	// which iteration is given back at the end: the best that is verified, the best of all, or the last that reaches the threshold
	Mode string `yaml:"mode" range:"highest_quality_verified|highest_quality|most_recent_above_threshold"`
	// the quality score that is acceptable; where none reaches it the best is taken all the same, and the report says so
	Threshold float64 `yaml:"threshold" range:"0–100"`
}

// Snapshot bounds what is kept of the tree.
type Snapshot struct {
	// in MiB; larger files are not kept, and are never touched
	MaxFileMB int64 `yaml:"max_file_mb" range:"≥ 1"`
	// in MiB; over it the oldest snapshots are dropped, but [what is always kept](state.md#what-is-kept-and-for-how-long). 0: nothing is dropped
	MaxStoreMB int64 `yaml:"max_store_mb" range:"≥ 0"`
	// in MiB; what a snapshot leaves free of the disk
	MinFreeMB int64 `yaml:"min_free_mb" range:"≥ 0" zero:"free"`
	// patterns of ignored files (up to 1 MiB) that are kept all the same
	Precious []string `yaml:"precious"`
}
