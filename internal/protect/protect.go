// Package protect restricts what an agent and the checks can access. There are four
// protections: the state of supervise is read-only for the agent (shield.go), a sandbox hides
// most of the machine (sandbox.go), another user runs agent and checks (user.go), and their
// environment is filtered (this file).
package protect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/git"
	"supervise/internal/regexp"
	"supervise/runner"
)

// ErrUnavailable is wrapped by errors about a protection that is not available.
var ErrUnavailable = errors.New("the requested protection is not available")

// Settings select the protections.
type Settings struct {
	// State is [StateProtected], which is the default, or [StateUnprotected].
	State string `json:"state,omitempty"`
	// Landlock lets the agent write only to the working tree, its git folder, the folder
	// for temporary files, and the absolute paths in Writable.
	Landlock bool     `json:"landlock,omitempty"`
	Writable []string `json:"writable,omitempty"`
	// Sandbox hides from the agent what it does not need, except for the absolute paths in
	// Readable, and limits its network to its service and Network: further hosts, or
	// [NetworkAll], or [NetworkNone].
	Sandbox  bool     `json:"sandbox,omitempty"`
	Readable []string `json:"readable,omitempty"`
	Network  []string `json:"network,omitempty"`
	// User is the name, or the number, of the user that agent and checks run as, which
	// needs root; "" is the user that runs supervise.
	User string `json:"user,omitempty"`
	// AgentEnv and ChecksEnv are patterns of the names of variables that agent and checks
	// get; nil: all. Variables that every program needs are always included.
	AgentEnv  []string `json:"agent_env,omitempty"`
	ChecksEnv []string `json:"checks_env,omitempty"`
	// RunnerVars are the variables that influenced test runners when the loop started,
	// each with the SHA-256 of its value; nil if unknown.
	RunnerVars map[string]string `json:"steering,omitempty"`
}

// runnerVarsRE matches the names of variables that make a test runner, or its language, run
// something other than what the project configures, like PYTHONPATH and GOFLAGS.
var runnerVarsRE = regexp.MustCompile(`^(` + framework.RunnerVariables + `|PYTHON(PATH|STARTUP|HOME|INSPECT|WARNINGS|BREAKPOINT)|NODE_(OPTIONS|PATH)|npm_config_script_shell|` +
	`GO(FLAGS|WORK|TOOLCHAIN)|RUBY(OPT|LIB)|PERL5(OPT|LIB)|(JAVA_TOOL|JDK_JAVA|_JAVA)_OPTIONS|MAVEN_(OPTS|ARGS)|GRADLE_OPTS|CLASSPATH|` +
	`RUST(FLAGS|C_WRAPPER|C_WORKSPACE_WRAPPER|DOCFLAGS)|CARGO_(TARGET_\w+|BUILD_\w+|ENCODED_RUSTFLAGS)|PHPRC|PHP_INI_SCAN_DIR|DOTNET_STARTUP_HOOKS|` +
	`(GNU)?MAKEFLAGS|MFLAGS|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|LD_\w+|DYLD_\w+)$`)

// HashRunnerVars returns the variables of an environment that influence test runners, each with the
// SHA-256 of its value.
func HashRunnerVars(env []string) map[string]string {
	out := map[string]string{}
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok && runnerVarsRE.MatchString(name) {
			out[name] = checksumOf(value)
		}
	}
	return out
}

// checksumOf returns the SHA-256 of a value in hex.
func checksumOf(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// alwaysAllowed are the variables that every list includes.
var alwaysAllowed = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TERM", "TZ", "LANG", "LC_*", "PWD", "SUPERVISE_*"}

// filterEnv returns the variables whose names match a pattern or are always allowed. Nil
// patterns allow all.
func filterEnv(env, patterns []string) []string {
	if patterns == nil {
		return env
	}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !matchesAny(name, alwaysAllowed) && !matchesAny(name, patterns)
	})
}

// ForAgent returns the environment of the agent. In a sandbox, without a list, it contains no
// secrets except those that the agent needs, by patterns of names.
func (s Settings) ForAgent(env, needed []string) []string {
	if s.Sandbox && s.AgentEnv == nil {
		return withoutSecrets(env, needed)
	}
	return filterEnv(env, s.AgentEnv)
}

// ForChecks returns the environment of the checks and of the criterion command. Variables that
// influence test runners must have the values from the start of the loop; others are removed,
// and scrubbed has their names.
func (s Settings) ForChecks(env []string) (kept, scrubbed []string) {
	for _, kv := range filterEnv(env, s.ChecksEnv) {
		name, value, _ := strings.Cut(kv, "=")
		if was, known := s.RunnerVars[name]; s.RunnerVars != nil && runnerVarsRE.MatchString(name) && (!known || was != checksumOf(value)) {
			scrubbed = append(scrubbed, name)
			continue
		}
		kept = append(kept, kv)
	}
	return kept, scrubbed
}

// WritablePaths lists what the agent of a tree may write, nil if it may write everything.
func (s Settings) WritablePaths(ctx context.Context, root string) []string {
	if !s.Landlock {
		return nil
	}
	out := append([]string{root, os.TempDir(), "/dev"}, s.Writable...)
	if dir, err := git.CommonDir(ctx, root); err == nil {
		out = append(out, dir)
	}
	return out
}

// CheckLandlock returns an error if the kernel cannot keep the agent of a tree from supervise's
// files, which are in home.
func (s Settings) CheckLandlock(ctx context.Context, root, home string) error {
	if !s.Landlock {
		return nil
	}
	if err := runner.CheckLandlock(); err != nil {
		return fmt.Errorf("%w: %w; remove protect.landlock", ErrUnavailable, err)
	}
	for _, dir := range s.WritablePaths(ctx, root) {
		if contains(dir, home) {
			return fmt.Errorf("%w: the state folder %s is in %s, which the agent may write to; give another one (--state-dir)", ErrUnavailable, home, dir)
		}
	}
	return nil
}
