package config

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/measure"

	"github.com/goccy/go-yaml"
)

// Template returns a commented configuration for the plan. The detected checks are settings, all
// other keys are comments with their defaults.
func Template(plan measure.Plan, notes []string) (string, error) {
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

// writeKind writes the checks of a kind.
func writeKind(b *strings.Builder, plan measure.Plan, kind measure.Kind) error {
	list := slices.DeleteFunc(slices.Clone(plan.Checks), func(c measure.Check) bool { return c.Kind != kind })
	if len(list) == 0 {
		return nil
	}
	text, err := yaml.MarshalWithOptions(map[string][]measure.Check{string(kind): list}, yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		b.WriteString("  " + line)
	}
	return nil
}

const header = `# Configuration of supervise (recognised project: %s).
# It is read once, when a loop starts: edits of the agent change nothing.
# A check is a shell command, or {name, dir, command, env, files, reports,
# stderr, coverage, runner, inventory, timeout}; a command is a string for the shell or a list of arguments.
# {{report_dir}} is a fresh private folder outside the tree for each run.
`

const footer = `
# limits:
#   max_iterations: 10
#   max_time: 4h            # the whole loop; no limit by default
#   iteration_timeout: 1h   # the agent in one iteration; no limit by default
#   idle_timeout: 10m       # the agent prints nothing for this long; 30m without a person at the terminal
#   first_output_timeout: 5m # the agent has printed nothing at all for this long; 10m without a person there
#   transcript_mb: 64       # of the agent's output is kept: the beginning and the end
#   check_timeout: 30m
#   max_retries: 3          # of a rejected iteration
#   max_cost: 5             # of the agent in the whole loop, in US dollars; no limit by default
#   max_tokens: 2000000     # tokens of all kinds in the whole loop; no limit by default
#   max_window: 80%         # of a window of the agent's service, if the agent reports it; no limit by default
#   max_wait: 6h            # while the agent's service is unavailable; 0: not at all
#   first_wait: 10s         # first wait if the service gives no time; doubled each time

# agent: claude             # a known agent program, started by supervise: claude, codex, gemini, opencode, pi, qwen, …
# model: NAME               # model of that agent; its own choice by default
# session: fresh            # continue: each iteration continues the previous session, except after a rollback

# confirm:                  # tests that passed before and fail now are rerun alone
#   max_tests: 20           # with more of them nothing is rerun
#   reruns: 2               # 0: never

# checks_parallel: auto     # linters run in parallel with tests; 1: one check after another; 2 or more: that many at once

# pty: auto                 # the agent gets a terminal if possible; always: or it is an error; never: pipes
# until: auto               # green, guarded, idle, never, quality, or a command that succeeds when the task is done
# completion_promise: DONE  # the agent must also print this text
# quality_target: 90        # and this score must be reached
# min_change_coverage: 80%  # and tests must execute this share of the changed lines; for supervise gate as well
# on_stall: auto            # or stop, ask, continue
# approval: reject          # if an approval is needed and there is no terminal; abort: end the loop; wait: for supervise approve|reject|abort
# approval_timeout: 30m     # reject without an answer for this long; by default wait forever
# unattended: false         # true: never ask on the terminal
# alarm: {action: warn}     # when tests vanish while the agent works; stop: end it at once; off
# notify: {webhook: "https://…", command: "…"}  # notified of approvals, CRITICAL findings and the end
# stop_on_diminishing: false  # true: end the loop when quality grows by less than 5 points twice in a row
# reinforcement: adaptive   # off, minimal, standard, aggressive
# allow_untested: false     # true: run even if no test can be measured

# mode: standard            # which rules apply: off, minimal (critical findings only), aggressive
# strict: false             # true: treat a renamed or moved test as deleted, compare coverage percentages as they are
# tests: free               # append: existing tests must stay unchanged; change: expectations may change; change=PATTERN: those of some tests or files; frozen: no test file may change
# allow_remove: [TestOld*, legacy/**]  # tests and files that may be removed
# product: [schema/*.json]   # scripts, data or configuration that are product code
# goal_tests: {run: always}  # the original versions of tests that failed, or that the change touches, are run on the new code; never: they are not; timeout: of the whole trial
# hidden_tests: {dir: /outside/the/tree}  # tests that the agent does not see; command, reports; when: iteration or end
# reviewer: {agent: claude}  # a second opinion, once, on the selected tree, and on the change in supervise gate; or a command; model, timeout
# rollback_to: started      # what a rejected iteration is rolled back to; best: the best so far
# stall: {iterations: 3, range: 0.02}  # plateaus in a row, and the range of their scores
# cycle: {window: 5, after: 10}        # longest period; iteration after which a cycle ends the loop
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
#   max_file_mb: 50         # larger files are not kept and never touched
#   max_ignored_mb: 200     # of all ignored files that no tool regenerates, such as databases; 0: none is kept
#   max_store_mb: 4096      # above it the oldest snapshots are dropped, except baseline, best, the latest and those with findings; 0: never
#   min_free_mb: 512        # of the disk stay free; default: at least 2 % of it
#   precious: [.env, .env.*, .env-*, .envrc, "*.local", "*.local.*", "*.pem", "*.key", "*.tfvars", local.properties]  # ignored files that are kept anyway
`
