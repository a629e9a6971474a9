package config

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"supervise/internal/protect"
)

// Protect limits what the agent and the checks can reach.
type Protect struct {
	// keep supervise's own files from being changed by the agent: by [a mount namespace](threat-model.md#the-state) or Landlock; where the system has neither, a line at the start says so
	State string `yaml:"state" range:"auto|off"`
	// on Linux: the agent and its children [can write only](threat-model.md#landlock) to the tree, its git folder, `$TMPDIR`, devices, and `protect.writable`
	Landlock bool `yaml:"landlock"`
	// more files and folders that they may write, as absolute paths or `~/…`, for example those of the agent program (`~/.claude`) and of package managers
	Writable []string `yaml:"writable"`
	// run the agent and the checks [as this user](threat-model.md#another-user), a name or a number, who cannot reach the state; supervise must run as root
	User string `yaml:"user" zero:"whoever runs supervise"`
	// names of the [variables](threat-model.md#the-environment) that the agent gets, with `*`; it always gets `PATH`, `HOME`, the user, the language and the like
	AgentEnv []string `yaml:"agent_env" zero:"all"`
	// the same for the checks
	ChecksEnv []string `yaml:"checks_env" zero:"all"`
}

func (p Protect) validate() error {
	for key, list := range map[string][]string{"agent_env": p.AgentEnv, "checks_env": p.ChecksEnv} {
		for _, pattern := range list {
			if _, err := path.Match(pattern, "X"); err != nil || strings.ContainsAny(pattern, "= ") {
				return invalid(fmt.Sprintf("protect.%s: %q is not the name of a variable; write names, with * for any text", key, pattern), "protect", key)
			}
		}
	}
	if p.State != protect.StateKept && p.State != protect.StateOpen {
		return invalid("protect.state must be auto or off, not "+p.State, "protect", "state")
	}
	for _, dir := range p.Writable {
		if !filepath.IsAbs(dir) && dir != "~" && !strings.HasPrefix(dir, "~/") {
			return invalid(fmt.Sprintf("protect.writable: %s is not an absolute path; the working tree is always writable", dir), "protect", "writable")
		}
	}
	return nil
}

func (p Protect) options() (protect.Settings, error) {
	out := protect.Settings{State: p.State, Landlock: p.Landlock, User: p.User, AgentEnv: p.AgentEnv, ChecksEnv: p.ChecksEnv}
	for _, dir := range p.Writable {
		if rest, ok := strings.CutPrefix(dir, "~"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return out, fmt.Errorf("protect.writable: %w", err)
			}
			dir = filepath.Join(home, rest)
		}
		out.Writable = append(out.Writable, filepath.Clean(dir))
	}
	return out, nil
}
