// Package protect keeps an agent and the checks of its work from what is none of
// theirs: by the kernel, by another user, and by what of the environment they are
// given.
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

// ErrUnavailable is wrapped by the errors of a protection that cannot be given.
var ErrUnavailable = errors.New("the protection asked for cannot be given")

// Settings say what protects.
type Settings struct {
	// State is [StateKept], which is the default, or [StateOpen].
	State string `json:"state,omitempty"`
	// Landlock lets the agent write only the working tree, git's folder of it, the
	// folder for temporary files, and Writable, which are absolute paths.
	Landlock bool     `json:"landlock,omitempty"`
	Writable []string `json:"writable,omitempty"`
	// Sandbox hides from the agent what it does not need, but for Readable, which are
	// absolute paths, and limits its network to its service and Network: further hosts,
	// or [NetworkAll], or [NetworkNone].
	Sandbox  bool     `json:"sandbox,omitempty"`
	Readable []string `json:"readable,omitempty"`
	Network  []string `json:"network,omitempty"`
	// User is the name, or the number, of the user whom agent and checks run as, by
	// root alone; "" is whoever runs supervise.
	User string `json:"user,omitempty"`
	// AgentEnv and ChecksEnv are patterns of the names of the variables that agent
	// and checks are given; nil: all. Some that every program needs are always among
	// them.
	AgentEnv  []string `json:"agent_env,omitempty"`
	ChecksEnv []string `json:"checks_env,omitempty"`
	// Steering are the variables that steered the runners of tests when the loop
	// began, each with the SHA-256 of its value; nil where nobody looked.
	Steering map[string]string `json:"steering,omitempty"`
}

// steers matches the variables that make a runner of tests, or its language, run
// something else than what the project has.
var steers = regexp.MustCompile(`^(` + framework.Variable + `|PYTHON(PATH|STARTUP|HOME|INSPECT|WARNINGS|BREAKPOINT)|NODE_(OPTIONS|PATH)|npm_config_script_shell|` +
	`GO(FLAGS|WORK|TOOLCHAIN)|RUBY(OPT|LIB)|PERL5(OPT|LIB)|(JAVA_TOOL|JDK_JAVA|_JAVA)_OPTIONS|MAVEN_(OPTS|ARGS)|GRADLE_OPTS|CLASSPATH|` +
	`RUST(FLAGS|C_WRAPPER|C_WORKSPACE_WRAPPER|DOCFLAGS)|CARGO_(TARGET_\w+|BUILD_\w+|ENCODED_RUSTFLAGS)|PHPRC|PHP_INI_SCAN_DIR|DOTNET_STARTUP_HOOKS|` +
	`(GNU)?MAKEFLAGS|MFLAGS|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|LD_\w+|DYLD_\w+)$`)

// Steering returns the variables of an environment that steer runners of tests,
// each with the SHA-256 of its value.
func Steering(env []string) map[string]string {
	out := map[string]string{}
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok && steers.MatchString(name) {
			out[name] = sumOf(value)
		}
	}
	return out
}

func sumOf(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// always are the variables that no list leaves out.
var always = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TERM", "TZ", "LANG", "LC_*", "PWD", "SUPERVISE_*"}

// allowed returns the variables whose names match a pattern; all without patterns.
func allowed(env, patterns []string) []string {
	if patterns == nil {
		return env
	}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !matches(name, always) && !matches(name, patterns)
	})
}

// ForAgent returns what of an environment the agent is given. In a sandbox, without a
// list, that is no secret but those it needs, by patterns of names.
func (s Settings) ForAgent(env, needed []string) []string {
	if s.Sandbox && s.AgentEnv == nil {
		return unsecretive(env, needed)
	}
	return allowed(env, s.AgentEnv)
}

// ForChecks returns what of an environment the checks are given, and the command
// that is the criterion: what steers runners is as it was when the loop began.
// scrubbed are the names of the variables that were left out for that.
func (s Settings) ForChecks(env []string) (kept, scrubbed []string) {
	for _, kv := range allowed(env, s.ChecksEnv) {
		name, value, _ := strings.Cut(kv, "=")
		if was, known := s.Steering[name]; s.Steering != nil && steers.MatchString(name) && (!known || was != sumOf(value)) {
			scrubbed = append(scrubbed, name)
			continue
		}
		kept = append(kept, kv)
	}
	return kept, scrubbed
}

// WritableIn lists what the agent of a tree may write, nil where nothing restricts
// it.
func (s Settings) WritableIn(ctx context.Context, root string) []string {
	if !s.Landlock {
		return nil
	}
	out := append([]string{root, os.TempDir(), "/dev"}, s.Writable...)
	if dir, err := git.CommonDir(ctx, root); err == nil {
		out = append(out, dir)
	}
	return out
}

// Confinable returns an error where the kernel cannot keep the agent of a tree from
// supervise's own files, which are in home.
func (s Settings) Confinable(ctx context.Context, root, home string) error {
	if !s.Landlock {
		return nil
	}
	if err := runner.Confinable(); err != nil {
		return fmt.Errorf("%w: %w; leave out protect.landlock", ErrUnavailable, err)
	}
	for _, dir := range s.WritableIn(ctx, root) {
		if holds(dir, home) {
			return fmt.Errorf("%w: the state folder %s lies in %s, which the agent may write; give another one (--state-dir)", ErrUnavailable, home, dir)
		}
	}
	return nil
}
