package checks

import (
	"strings"
	"testing"
)

// The command of a check that takes nothing from a cache. It is still the same check.
func TestUncached(t *testing.T) {
	for _, tt := range []struct{ runner, command, want string }{
		{"go", "go test -json ./...", "go test -count=1 -json ./..."},
		{"go", "go test ./... -args -x", "go test -count=1 ./... -args -x"},
		{"go", "go test -count=3 ./...", "go test -count=3 ./..."},
		{"go", "go test -count 3 ./...", "go test -count 3 ./..."},
		{"go", "gotestsum --junitfile x -- -short ./...", "gotestsum --junitfile x -- -count=1 -short ./..."},
		{"go", "gotestsum ./...", "gotestsum ./..."},
		{"go", "make test", "make test"},
		{"jest", "npx jest", "npx jest"},
	} {
		c := Check{Kind: Test, Runner: tt.runner, Command: strings.Fields(tt.command)}
		got := Plan{Checks: []Check{c}}.Uncached().Checks[0]
		if got.CommandLine() != tt.want {
			t.Errorf("%s: %s, want %s", tt.command, got.CommandLine(), tt.want)
		}
		if got.ID() != c.ID() {
			t.Errorf("%s: its results are no longer those of the check: %s", tt.command, got.ID())
		}
	}
}
