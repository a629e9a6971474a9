package loop

import (
	"slices"
	"testing"
)

func TestChecksEnv(t *testing.T) {
	start := []string{"PATH=/bin", "PYTEST_ADDOPTS=-ra", "SECRET=x", "GOFLAGS=-mod=mod"}
	for _, tc := range []struct {
		name     string
		env      []string
		protect  Protect
		want     []string
		scrubbed []string
	}{
		{"as it was", start, Protect{Steering: steering(start)}, start, nil},
		{
			"steered since",
			[]string{"PATH=/bin", "PYTEST_ADDOPTS=-k ok", "SECRET=x", "GOFLAGS=-mod=mod", "NODE_OPTIONS=--require ./x", "LD_PRELOAD=x.so"},
			Protect{Steering: steering(start)},
			[]string{"PATH=/bin", "SECRET=x", "GOFLAGS=-mod=mod"},
			[]string{"PYTEST_ADDOPTS", "NODE_OPTIONS", "LD_PRELOAD"},
		},
		{"an older loop", []string{"PYTEST_ADDOPTS=-k ok"}, Protect{}, []string{"PYTEST_ADDOPTS=-k ok"}, nil},
		{"a list", start, Protect{Steering: steering(start), ChecksEnv: []string{"PYTEST_*"}}, []string{"PATH=/bin", "PYTEST_ADDOPTS=-ra"}, nil},
		{"an empty list", start, Protect{ChecksEnv: []string{}}, []string{"PATH=/bin"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env, scrubbed := (Options{Env: tc.env, Settings: Settings{Protect: tc.protect}}).checksEnv()
			if !slices.Equal(env, tc.want) || !slices.Equal(scrubbed, tc.scrubbed) {
				t.Errorf("got %q without %q, want %q without %q", env, scrubbed, tc.want, tc.scrubbed)
			}
		})
	}
}

func TestAgentsEnv(t *testing.T) {
	o := Options{Env: []string{"PATH=/bin", "LC_ALL=C", "AWS_SECRET=x", "ANTHROPIC_API_KEY=y"}, Settings: Settings{Protect: Protect{AgentEnv: []string{"ANTHROPIC_*"}}}}
	if got, want := o.agentsEnv(), []string{"PATH=/bin", "LC_ALL=C", "ANTHROPIC_API_KEY=y"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
