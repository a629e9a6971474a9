package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/approval"
	"supervise/internal/config"
	"supervise/internal/criterion"
	"supervise/internal/loop"
	"supervise/internal/measure"
	"supervise/internal/mutationcheck"
	"supervise/internal/notify"
	"supervise/internal/originaltests"

	"github.com/google/go-cmp/cmp"
)

func load(t *testing.T, text string) (config.Settings, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), config.FileName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(path, true)
}

func TestLoad(t *testing.T) {
	s, err := load(t, `
checks:
  test:
    command: [pytest, -q]
    reports: [report.xml]
    timeout: 5m
  lint:
    - ruff check
    - command: mypy .
limits: {max_iterations: 3, max_time: 8h}
checks_parallel: 3
until: make done
rules:
  coverage_regression: {threshold: 1.5, severity: critical}
selection: {threshold: 60}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Checks.Test = config.List{{Command: config.Argv{"pytest", "-q"}, Reports: []string{"report.xml"}, Timeout: 5 * time.Minute}}
	want.Checks.Lint = config.List{{Command: config.Shell("ruff check")}, {Command: config.Shell("mypy .")}}
	want.Limits.MaxIterations, want.Limits.MaxTime, want.Parallel = 3, 8*time.Hour, 3
	want.Until, want.Selection.Threshold = "make done", 60
	threshold := 1.5
	want.Rules = map[string]config.Rule{"coverage_regression": {Threshold: &threshold, Severity: "critical"}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// Every column of a rule reaches the detector.
func TestRulesReachTheDetector(t *testing.T) {
	s, err := load(t, `
mode: minimal
strict: true
rollback_to: best
tests: append
allow_remove: [TestOld*, legacy/**]
goal_tests: {run: never, timeout: 5m}
mutation_check: {max_mutants: 12, budget: 1m}
stall: {iterations: 4, range: .05}
cycle: {window: 6, after: 20}
stuck: {errors: 5}
rules:
  coverage_regression:
    severity: critical
    threshold: 1.5
    action: immediate_alert_and_rollback
    previous: {off: true}
    baseline: {severity: Low, threshold: 0, action: note}
    paths: {"internal/**": 1, cmd/**: 5}
`)
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.LoopOptions("/tree")
	if err != nil {
		t.Fatal(err)
	}
	limit, none := 1.5, 0.0
	want := detector.DefaultOptions()
	want.Mode, want.Strict, want.RollbackTo = detector.ModeMinimal, true, detector.ToBest
	want.Tests, want.AllowRemove = detector.TestsAppend, []string{"TestOld*", "legacy/**"}
	if got := (originaltests.Options{Never: true, Timeout: 5 * time.Minute}); o.GoalTests != got {
		t.Errorf("goal tests %+v, want %+v", o.GoalTests, got)
	}
	if got := (mutationcheck.Options{MaxMutants: 12, Budget: time.Minute}); o.MutationCheck != got {
		t.Errorf("mutation check %+v, want %+v", o.MutationCheck, got)
	}
	want.StallWindow, want.StallRange, want.CycleWindow, want.CycleMin, want.StuckCount = 4, .05, 6, 20, 5
	want.Rules = map[string]detector.RuleOptions{"coverage_regression": {
		Severity: detector.Critical, Threshold: &limit, Action: detector.AlertAndRollback,
		Previous: &detector.RuleOptions{Off: true},
		Baseline: &detector.RuleOptions{Severity: detector.Low, Threshold: &none, Action: detector.Note},
		Paths:    map[string]float64{"internal/**": 1, "cmd/**": 5},
	}}
	if diff := cmp.Diff(want, o.Rules); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestEmptyFileIsTheDefault(t *testing.T) {
	s, err := load(t, "# nothing\n\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Default(), s); diff != "" {
		t.Error(diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"unknown key":                 {"until: green\nlimit: 3\n", "[2:1]"},
		"unknown nested key":          {"limits:\n  max_iteration: 3\n", "[2:3]"},
		"unknown key of a check":      {"checks:\n  test:\n    comand: x\n", "comand"},
		"wrong type":                  {"limits:\n  max_iterations: many\n", "[2:"},
		"no such runner":              {"checks: {test: {command: make test, runner: jets}}\n", "there is no runner jets; the runners are ava, borp"},
		"no tests to run again":       {"confirm: {max_tests: 0}\n", "confirm.max_tests must be at least 1"},
		"negative reruns":             {"confirm: {reruns: -1}\n", "confirm.reruns must not be negative"},
		"no such rule":                {"rules:\n  test_count: {off: true}\n", "there is no rule test_count"},
		"no such action":              {"rules:\n  tests_newly_skipped: {action: rollback}\n", "immediate_alert_and_rollback"},
		"negative threshold":          {"rules:\n  coverage_regression: {threshold: -1}\n", "threshold"},
		"a time without a unit":       {"limits:\n  max_time: 5\n", "[2:13] expected a time with its unit, like 90s, 30m or 8h"},
		"a time in words":             {"mode: standard\nlimits: {max_time: 5 minutes}\n", "[2:20] expected a time with its unit, like 90s, 30m or 8h"},
		"no list":                     {"error_count: lint_errors\n", "[1:14] expected a list, like [a, b]"},
		"no mapping":                  {"notify: x\n", "[1:9] expected a mapping, like {key: value}"},
		"neither true nor false":      {"yolo: maybe\n", "[1:7] expected true or false"},
		"a check without a command":   {"checks:\n  test:\n    - {name: x}\n", "[3:7] checks.test: a check needs a command"},
		"key of the second check":     {"checks:\n  test:\n    - command: x\n    - comand: y\n", "[4:7]"},
		"negative time of a check":    {"checks:\n  lint:\n    - x\n    - {command: y, timeout: -1s}\n", "[4:20] checks.lint: timeout must not be negative"},
		"negative limit":              {"limits: {max_time: -1h}\n", "negative"},
		"misspelt criterion":          {"until: gren\n", "there is no command gren"},
		"no such intent":              {"mode: standard\ntests: locked\n", "[2:1] tests: it is locked; give free, append, change or frozen"},
		"everything may go":           {"allow_remove: ['**']\n", `[1:1] allow_remove: the pattern "**" covers everything or nothing`},
		"no such run of goal tests":   {"goal_tests:\n  run: sometimes\n", "[2:3] goal_tests.run must be always or never, not sometimes"},
		"no mutants":                  {"mutation_check: {max_mutants: 0}\n", "mutation_check.max_mutants must be at least 1"},
		"negative budget":             {"mutation_check: {budget: -1m}\n", "mutation_check.budget must not be negative"},
		"negative time of goal tests": {"goal_tests: {timeout: -1m}\n", "goal_tests.timeout must not be negative"},
		"no such severity":            {"rules:\n  flaky_test: {severity: awful}\n", "rules.flaky_test.severity"},
		"threshold of a rule without": {"rules:\n  build_broken: {threshold: 1}\n", "[2:18] rules.build_broken.threshold: the rule has no threshold"},
		"threshold of a cycle":        {"rules: {infinite_loop: {threshold: 1}}\n", "cycle.after"},
		"no number":                   {"rules: {error_increase: {threshold: .inf}}\n", "give a number"},
		"not compared":                {"rules:\n  build_broken:\n    baseline: {off: true}\n", "[3:5] rules.build_broken.baseline: the rule is not compared with the baseline"},
		"threshold of one comparison": {"rules:\n  coverage_regression:\n    threshold: 3\n    baseline:\n      threshold: -1\n", "[5:7] rules.coverage_regression.baseline.threshold"},
		"severity of one comparison":  {"rules:\n  coverage_regression: {previous: {severity: dire}}\n", "[2:36] rules.coverage_regression.previous.severity"},
		"comparison in a comparison":  {"rules: {coverage_regression: {previous: {baseline: {off: true}}}}\n", "nothing else"},
		"paths of a rule without":     {"rules: {file_deletion: {paths: {\"a/**\": 1}}}\n", "no limits for parts"},
		"negative path limit":         {"rules:\n  coverage_regression:\n    paths:\n      a/**: 1\n      b/**: -1\n", "[5:7] rules.coverage_regression.paths.b/**"},
		"empty path":                  {"rules: {coverage_regression: {paths: {\"\": 1}}}\n", "the pattern is empty"},
		"an action without effect":    {"rules:\n  file_deletion: {action: immediate_alert_and_rollback}\n", "[2:19] rules.file_deletion.action: immediate_alert_and_rollback applies only to findings that are CRITICAL"},
		"no such rules mode":          {"mode: careful\n", "[1:1] mode: there is no mode careful"},
		"a stall of one":              {"stall: {iterations: 1}\n", "[1:9] stall.iterations must be at least 2"},
		"a stall of any score":        {"stall: {range: .nan}\n", "stall.range"},
		"a cycle of one":              {"cycle: {window: 1}\n", "cycle.window"},
		"a cycle at once":             {"cycle: {after: 0}\n", "cycle.after"},
		"stuck at once":               {"stuck: {errors: 1}\n", "stuck.errors"},
		"no such rollback":            {"rollback_to: end\n", "rollback_to must be started or best"},
		"no iterations":               {"limits: {max_iterations: 0}\n", "at least 1"},
		"no checks at a time":         {"checks_parallel: 0\n", "auto or a number from 1"},
		"no such number":              {"checks_parallel: some\n", "auto or a number from 1"},
		"no such mode":                {"selection: {mode: best}\n", "selection.mode"},
		"weights of nothing":          {"quality_weights: {validation: 0, completeness: 0, correctness: 0, readability: 0, efficiency: 0}\n", "quality_weights"},
		"no such level":               {"reinforcement: loud\n", "reinforcement"},
		"no such approval":            {"mode: standard\napproval: approve\n", "[2:1] approval must be reject, abort or wait, not approve"},
		"a negative approval timeout": {"approval_timeout: -1m\n", "approval_timeout must not be negative"},
		"no address":                  {"notify:\n  webhook: hooks.example.com/x\n", "[2:3] notify.webhook"},
		"no yaml":                     {"limits: [\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, tt.text)
			if !errors.Is(err, config.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want ErrInvalid with %q", err, tt.want)
			}
		})
	}
	if _, err := config.Load(filepath.Join(t.TempDir(), "no.yaml"), true); !errors.Is(err, config.ErrInvalid) {
		t.Errorf("a named file that is not there: %v, want ErrInvalid", err)
	}
}

func goProject(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func everything(name string) (string, error) { return "/bin/" + name, nil }

// What init writes is read back as the same plan, and with every comment made a
// setting it is valid.
func TestWrite(t *testing.T) {
	root := goProject(t)
	plan, notes, err := config.Default().Plan(root, everything)
	if err != nil {
		t.Fatal(err)
	}
	text, err := config.Template(plan, notes)
	if err != nil {
		t.Fatal(err)
	}
	s, err := load(t, text)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	again, _, err := s.Plan(root, everything)
	if err != nil {
		t.Fatal(err)
	}
	lines := func(p measure.Plan) (out []string) {
		for _, c := range p.Checks {
			out = append(out, string(c.Kind)+" "+strings.Join(c.Command, "|")+" "+strings.Join(c.Reports, ",")+" "+c.Runner)
		}
		return out
	}
	if diff := cmp.Diff(lines(plan), lines(again)); diff != "" {
		t.Errorf("plan (-recognised +written):\n%s", diff)
	}
	head, settings, _ := strings.Cut(text, "\n# limits:")
	if _, err := load(t, head+"\nlimits:"+strings.ReplaceAll(settings, "\n# ", "\n")); err != nil {
		t.Errorf("the commented settings are not valid: %v", err)
	}
}

func TestPlanOfGivenChecks(t *testing.T) {
	s := config.Default()
	s.Checks.Test = config.List{{Command: config.Shell("make check")}}
	plan, _, err := s.Plan(t.TempDir(), everything) // nothing is recognised here
	if err != nil || len(plan.Checks) != 1 || plan.Checks[0].CommandLine() != "make check" || plan.Checks[0].Timeout != measure.DefaultTimeout {
		t.Errorf("plan %+v, %v, want the given test command alone", plan, err)
	}
	if _, _, err := config.Default().Plan(t.TempDir(), everything); !errors.Is(err, config.ErrInvalid) {
		t.Errorf("nothing given and nothing recognised: %v, want ErrInvalid", err)
	}
}

func TestLoopOptions(t *testing.T) {
	s := config.Default()
	o, err := s.LoopOptions("/tree")
	if err != nil {
		t.Fatal(err)
	}
	if o.Until.Kind != criterion.Auto || o.MaxIterations != 10 || o.Recovery.MaxRetries != 3 || !o.Recovery.StopOnStall || o.Level != nil || o.Select.Threshold != .7 {
		t.Errorf("options %+v are not the defaults of the specification", o)
	}
	s.Until, s.Reinforcement, s.OnStall = "test -e done", "off", "continue"
	if o, err = s.LoopOptions("/tree"); err != nil || o.Until.Kind != criterion.Command || o.Until.Command != "test -e done" || o.Level == nil || o.Recovery.StopOnStall {
		t.Errorf("options %+v, %v, want the command, a fixed level and no stop on a stall", o, err)
	}
}

func TestGateSettings(t *testing.T) {
	s, err := load(t, "approval: wait\napproval_timeout: 30m\nunattended: true\non_stall: ask\nnotify: {webhook: 'https://hooks.example.com/x', command: 'cat >>log'}\n")
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.LoopOptions("/tree")
	if err != nil {
		t.Fatal(err)
	}
	if want := (loop.Approval{Policy: approval.PolicyWait, Unattended: true, Timeout: 30 * time.Minute}); o.Approval != want || !o.Recovery.AskOnStall || o.Recovery.StopOnStall {
		t.Errorf("gate %+v, stall %+v, want %+v and asking", o.Approval, o.Recovery, want)
	}
	if want := (notify.Settings{Webhook: "https://hooks.example.com/x", Command: "cat >>log"}); o.Notify != want {
		t.Errorf("notify %+v, want %+v", o.Notify, want)
	}
}
