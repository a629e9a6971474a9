package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"supervise/internal/config"
	"supervise/internal/loop"
	"supervise/internal/measure"

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
		"unknown key":            {"until: green\nlimit: 3\n", "[2:1]"},
		"unknown nested key":     {"limits:\n  max_iteration: 3\n", "[2:3]"},
		"unknown key of a check": {"checks:\n  test:\n    comand: x\n", "comand"},
		"wrong type":             {"limits:\n  max_iterations: many\n", "[2:"},
		"no such rule":           {"rules:\n  test_count: {off: true}\n", "there is no rule test_count"},
		"no such action":         {"rules:\n  tests_newly_skipped: {action: rollback}\n", "immediate_alert_and_rollback"},
		"negative threshold":     {"rules:\n  coverage_regression: {threshold: -1}\n", "threshold"},
		"negative limit":         {"limits: {max_time: -1h}\n", "negative"},
		"misspelt criterion":     {"until: gren\n", "there is no command gren"},
		"no such severity":       {"rules:\n  flaky_test: {severity: awful}\n", "rules.flaky_test.severity"},
		"no iterations":          {"limits: {max_iterations: 0}\n", "at least 1"},
		"no checks at a time":    {"checks_parallel: 0\n", "auto or a number from 1"},
		"no such number":         {"checks_parallel: some\n", "auto or a number from 1"},
		"no such mode":           {"selection: {mode: best}\n", "selection.mode"},
		"weights of nothing":     {"quality_weights: {validation: 0, completeness: 0, correctness: 0, readability: 0, efficiency: 0}\n", "quality_weights"},
		"no such level":          {"reinforcement: loud\n", "reinforcement"},
		"no yaml":                {"limits: [\n", ""},
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
	text, err := config.Write(plan, notes)
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
	if err != nil || len(plan.Checks) != 1 || plan.Checks[0].Line() != "make check" || plan.Checks[0].Timeout != measure.DefaultTimeout {
		t.Errorf("plan %+v, %v, want the given test command alone", plan, err)
	}
	if _, _, err := config.Default().Plan(t.TempDir(), everything); !errors.Is(err, config.ErrInvalid) {
		t.Errorf("nothing given and nothing recognised: %v, want ErrInvalid", err)
	}
}

func TestLoopOptions(t *testing.T) {
	s := config.Default()
	o, err := s.Loop("/tree")
	if err != nil {
		t.Fatal(err)
	}
	if o.Until.Kind != loop.Auto || o.MaxIterations != 10 || o.Recovery.MaxRetries != 3 || !o.Recovery.StopOnStall || o.Level != nil || o.Select.Threshold != .7 {
		t.Errorf("options %+v are not the defaults of the specification", o)
	}
	s.Until, s.Reinforcement, s.OnStall = "test -e done", "off", "continue"
	if o, err = s.Loop("/tree"); err != nil || o.Until.Kind != loop.Command || o.Until.Command != "test -e done" || o.Level == nil || o.Recovery.StopOnStall {
		t.Errorf("options %+v, %v, want the command, a fixed level and no stop on a stall", o, err)
	}
}
