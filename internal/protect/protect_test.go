package protect

import (
	"slices"
	"testing"
)

func TestChecksEnv(t *testing.T) {
	start := []string{"PATH=/bin", "PYTEST_ADDOPTS=-ra", "SECRET=x", "GOFLAGS=-mod=mod"}
	for _, tc := range []struct {
		name     string
		env      []string
		protect  Settings
		want     []string
		scrubbed []string
	}{
		{"as it was", start, Settings{RunnerVars: HashRunnerVars(start)}, start, nil},
		{
			"steered since",
			[]string{"PATH=/bin", "PYTEST_ADDOPTS=-k ok", "SECRET=x", "GOFLAGS=-mod=mod", "NODE_OPTIONS=--require ./x", "LD_PRELOAD=x.so"},
			Settings{RunnerVars: HashRunnerVars(start)},
			[]string{"PATH=/bin", "SECRET=x", "GOFLAGS=-mod=mod"},
			[]string{"PYTEST_ADDOPTS", "NODE_OPTIONS", "LD_PRELOAD"},
		},
		{"not looked at when it began", []string{"PYTEST_ADDOPTS=-k ok"}, Settings{}, []string{"PYTEST_ADDOPTS=-k ok"}, nil},
		{"a list", start, Settings{RunnerVars: HashRunnerVars(start), ChecksEnv: []string{"PYTEST_*"}}, []string{"PATH=/bin", "PYTEST_ADDOPTS=-ra"}, nil},
		{"an empty list", start, Settings{ChecksEnv: []string{}}, []string{"PATH=/bin"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env, scrubbed := tc.protect.ForChecks(tc.env)
			if !slices.Equal(env, tc.want) || !slices.Equal(scrubbed, tc.scrubbed) {
				t.Errorf("got %q without %q, want %q without %q", env, scrubbed, tc.want, tc.scrubbed)
			}
		})
	}
}

func TestAgentsEnv(t *testing.T) {
	env := []string{"PATH=/bin", "LC_ALL=C", "AWS_SECRET=x", "ANTHROPIC_API_KEY=y"}
	if got, want := (Settings{AgentEnv: []string{"ANTHROPIC_*"}}).ForAgent(env, nil), []string{"PATH=/bin", "LC_ALL=C", "ANTHROPIC_API_KEY=y"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
