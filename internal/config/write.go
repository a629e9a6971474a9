package config

import (
	"fmt"
	"strings"

	"supervise/internal/measure"

	"github.com/goccy/go-yaml"
)

// Write returns a commented configuration for the plan: what was recognised
// stands as settings, everything else as comments with its default.
func Write(plan measure.Plan, notes []string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, header, plan.Language)
	for _, n := range notes {
		fmt.Fprintf(&b, "# Note: %s\n", n)
	}
	b.WriteString("checks:\n")
	for _, kind := range []measure.Kind{measure.Build, measure.Test, measure.Lint} {
		if err := writeKind(&b, plan, kind); err != nil {
			return "", err
		}
	}
	b.WriteString(footer)
	return b.String(), nil
}

func writeKind(b *strings.Builder, plan measure.Plan, kind measure.Kind) error {
	type check struct {
		Name      string            `yaml:"name,omitempty"`
		Dir       string            `yaml:"dir,omitempty"`
		Command   any               `yaml:"command,flow"`
		Env       []string          `yaml:"env,omitempty,flow"`
		Files     map[string]string `yaml:"files,omitempty"`
		Reports   []string          `yaml:"reports,omitempty,flow"`
		Stderr    bool              `yaml:"stderr,omitempty"`
		Coverage  bool              `yaml:"coverage,omitempty"`
		Runner    string            `yaml:"runner,omitempty"`
		Inventory []string          `yaml:"inventory,omitempty,flow"`
	}
	var list []check
	for _, c := range plan.Checks {
		if c.Kind == kind {
			list = append(list, check{c.Name, c.Dir, c.Command, c.Env, c.Files, c.Reports, c.Stderr, c.Coverage, c.Runner, c.Inventory})
		}
	}
	if len(list) == 0 {
		return nil
	}
	text, err := yaml.MarshalWithOptions(map[string][]check{string(kind): list}, yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		b.WriteString("  " + line)
	}
	return nil
}

const header = `# Configuration of supervise (recognised project: %s).
# Read once at the start of a loop; the agent's edits to it change nothing.
# A check is a command for the shell, or {name, dir, command, env, files, reports,
# stderr, coverage, runner, inventory, timeout}; a command is a string for the shell or a list of arguments.
# {{report_dir}} is a fresh private folder outside the tree for each run.
`

const footer = `
# limits:
#   max_iterations: 10
#   max_time: 4h            # of the whole loop; none by default
#   iteration_timeout: 1h   # of the agent in one iteration; none by default
#   idle_timeout: 10m       # the agent prints nothing for so long; none by default
#   first_output_timeout: 5m # the agent prints nothing at all for so long; none by default
#   transcript_mb: 64       # of what the agent prints is kept: the beginning, and the end
#   check_timeout: 30m
#   max_retries: 3          # how often a rejected iteration is tried again
#   max_cost: 5             # of the agent in the whole loop, in US dollars; none by default
#   max_tokens: 2000000     # the same in tokens of all kinds; none by default
#   max_wait: 6h            # for the agent's service when it is not available; 0: not at all
#   first_wait: 10s         # the first time, where the service does not say how long; doubled each time

# agent: claude             # a known agent program, started by supervise: claude, codex, gemini, opencode, pi, qwen, …
# model: NAME               # of that agent; its own choice by default
# session: fresh            # continue: each iteration continues the session of the one before, after no rollback

# confirm:                  # tests that passed before and fail now are run again, alone, before anybody is accused
#   max_tests: 20           # with more of them nothing is run again
#   reruns: 2               # 0: never

# checks_parallel: auto     # linters run beside the tests; 1: one check after another, 2 and more: that many at once

# pty: auto                 # the agent has a terminal of its own; always: or it is an error; never: pipes
# until: auto               # green, idle, never, quality, or a command that succeeds when the task is done
# completion_promise: DONE  # the agent has to say this as well, besides green checks
# quality_target: 90        # and this score has to be reached
# on_stall: stop            # or ask, continue
# gate: reject              # when a person should judge and no terminal is there; abort: end the loop; wait: for supervise approve|reject|abort
# gate_timeout: 30m         # a question that nobody answers counts as rejected then; without it they wait for ever
# unattended: false         # true: nobody is asked at the terminal either
# watch: {action: warn}     # when tests vanish while the agent works; stop: end it at once; off
# notify: {webhook: "https://…", command: "…"}  # told of questions, CRITICAL findings and the end
# stop_on_diminishing: false  # true ends the loop when quality grows by less than 5 points twice in a row
# reinforcement: adaptive   # off, minimal, standard, aggressive
# allow_untested: false     # run although there are no tests

# mode: standard            # which rules apply: off, minimal (critical findings alone), aggressive
# strict: false             # true: a renamed test counts as a deleted one
# tests: free               # append: tests that exist may not be changed or lost; frozen: no test file may change
# allow_remove: [TestOld*, legacy/**]  # tests and files whose removal is no finding
# holdout: {run: on-finding}  # tests that findings name are tried as they were; never: they are not; timeout: of all of it
#   # with dir: /outside/the/tree it holds tests that the agent does not see; command and reports of their own; when: iteration or end
# rollback_to: started      # where a rejected iteration goes back to; best: to the best so far
# stall: {iterations: 3, range: 0.02}  # so many plateaus in a row whose scores lie so near
# cycle: {window: 5, after: 10}        # longest period looked for; ends the loop after so many iterations
# error_count: [lint_errors, lint_warnings, type_errors]  # what counts as an error
# stuck: {errors: 3}                   # equal errors in a row

# rules:                    # every rule: severity, threshold, action, off; previous and baseline for one comparison
#   coverage_regression: {threshold: 2, baseline: {threshold: 5}, paths: {"internal/**": 1}}
#   complexity_explosion: {off: true}

# quality_weights: {validation: 0.30, completeness: 0.25, correctness: 0.25, readability: 0.10, efficiency: 0.10}

# selection:
#   mode: highest_quality_verified   # highest_quality, most_recent_above_threshold
#   threshold: 70

# snapshot:
#   max_file_mb: 50         # larger files are not kept, and are never touched
#   max_store_mb: 4096      # over it the oldest are dropped that are not baseline, best, of the latest iterations or with findings; 0: never
#   min_free_mb: 512        # of the disk stay free; at least 2 % of it when this is not given
#   precious: [.env, .env.*, .env-*, .envrc, "*.local", "*.local.*", "*.pem", "*.key", "*.tfvars", local.properties]  # ignored files that are kept all the same
`
