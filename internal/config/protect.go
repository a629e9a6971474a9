package config

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"supervise/internal/loop"
)

// Protect is what keeps the agent and the checks from what is none of theirs.
type Protect struct {
	Landlock  bool     `yaml:"landlock"`   // the agent writes nothing but the tree, temporary files, and Writable
	Writable  []string `yaml:"writable"`   // files and folders; ~ is the home folder
	AgentEnv  []string `yaml:"agent_env"`  // patterns of names of variables; none: all
	ChecksEnv []string `yaml:"checks_env"` // the same for the checks
}

func (p Protect) validate() error {
	for key, list := range map[string][]string{"agent_env": p.AgentEnv, "checks_env": p.ChecksEnv} {
		for _, pattern := range list {
			if _, err := path.Match(pattern, "X"); err != nil || strings.ContainsAny(pattern, "= ") {
				return invalid(fmt.Sprintf("protect.%s: %q is no name of a variable; write names, in which * stands for anything", key, pattern), "protect", key)
			}
		}
	}
	for _, dir := range p.Writable {
		if !filepath.IsAbs(dir) && dir != "~" && !strings.HasPrefix(dir, "~/") {
			return invalid(fmt.Sprintf("protect.writable: %s is no absolute path; the working tree is writable anyhow", dir), "protect", "writable")
		}
	}
	return nil
}

func (p Protect) options() (loop.Protect, error) {
	out := loop.Protect{Landlock: p.Landlock, AgentEnv: p.AgentEnv, ChecksEnv: p.ChecksEnv}
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
