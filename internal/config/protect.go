package config

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"supervise/internal/protect"
	"supervise/internal/regexp"
	"supervise/internal/yamlfile"
)

// Protect limits what the agent and the checks can reach.
type Protect struct {
	// keep supervise's own files from being changed by the agent: by [a mount namespace](threat-model.md#the-state) or Landlock; if the system has neither, a line at the start says so
	State string `yaml:"state" range:"auto|off"`
	// on Linux: the agent and its children [can write only](threat-model.md#landlock) to the tree, its git folder, `$TMPDIR`, devices, and `protect.writable`
	Landlock bool `yaml:"landlock"`
	// more files and folders that they may write, as absolute paths or `~/…`, for example those of the agent program (`~/.claude`) and of package managers
	Writable []string `yaml:"writable"`
	// on Linux: [hide from the agent](threat-model.md#sandbox) everything in the home folders and in the parent folder that it does not need, and limit its network; refused if the system cannot
	Sandbox bool `yaml:"sandbox"`
	// files and folders that the agent sees in a sandbox in addition, as absolute paths or `~/…`
	Readable []string `yaml:"readable"`
	// hosts that the agent reaches from a sandbox in addition to its service: `NAME`, `NAME:PORT`, `*.NAME`; or only `all`, or `none`
	Network Hosts `yaml:"network" zero:"its service"`
	// run the agent and the checks [as this user](threat-model.md#another-user), a name or a number, who cannot reach the state; supervise must run as root
	User string `yaml:"user" zero:"the user of supervise"`
	// names of the [variables](threat-model.md#the-environment) that the agent gets, with `*`; it always gets `PATH`, `HOME`, the user, the language and the like
	AgentEnv []string `yaml:"agent_env" zero:"all"`
	// the same for the checks
	ChecksEnv []string `yaml:"checks_env" zero:"all"`
}

// validate checks the names of variables, the paths, and the hosts.
func (p Protect) validate() error {
	for key, list := range map[string][]string{"agent_env": p.AgentEnv, "checks_env": p.ChecksEnv} {
		for _, pattern := range list {
			if _, err := path.Match(pattern, "X"); err != nil || strings.ContainsAny(pattern, "= ") {
				return yamlfile.InvalidValue(fmt.Sprintf("protect.%s: %q is not the name of a variable; write names, with * for any text", key, pattern), "protect", key)
			}
		}
	}
	if p.State != protect.StateProtected && p.State != protect.StateUnprotected {
		return yamlfile.InvalidValue("protect.state must be auto or off, not "+p.State, "protect", "state")
	}
	for key, list := range map[string][]string{"writable": p.Writable, "readable": p.Readable} {
		for _, dir := range list {
			if !filepath.IsAbs(dir) && dir != "~" && !strings.HasPrefix(dir, "~/") {
				return yamlfile.InvalidValue(fmt.Sprintf("protect.%s: %s is not an absolute path; the working tree is always among them", key, dir), "protect", key)
			}
		}
	}
	return p.validateNetwork()
}

// hostPattern matches an entry of protect.network, such as api.example.com:8443, *.example.com
// or [::1]:443.
var hostPattern = regexp.MustCompile(`^(\*\.)?[\w.-]+(:\d+)?$|^\[[0-9a-fA-F:]+\](:\d+)?$`)

// validateNetwork checks the hosts.
func (p Protect) validateNetwork() error {
	for _, h := range p.Network {
		isKeyword := h == protect.NetworkAll || h == protect.NetworkNone
		if isKeyword && len(p.Network) > 1 || !hostPattern.MatchString(h) {
			return yamlfile.InvalidValue(fmt.Sprintf("protect.network: %s: write hosts, like api.example.com, api.example.com:8443 or *.example.com; or all, or none, alone", h), "protect", "network")
		}
	}
	return nil
}

// LoosenedKeys returns the keys that give an agent in a sandbox more access.
func (p Protect) LoosenedKeys() (out []string) {
	for _, key := range []struct {
		name string
		set  bool
	}{
		{"readable", len(p.Readable) > 0},
		{"writable", len(p.Writable) > 0},
		{"agent_env", p.AgentEnv != nil},
		{"network", len(p.Network) > 0 && p.Network[0] != protect.NetworkNone},
	} {
		if p.Sandbox && key.set {
			out = append(out, "protect."+key.name)
		}
	}
	return out
}

// options returns the settings of package protect, with absolute paths.
func (p Protect) options() (protect.Settings, error) {
	out := protect.Settings{State: p.State, Landlock: p.Landlock, Sandbox: p.Sandbox, Network: p.Network, User: p.User, AgentEnv: p.AgentEnv, ChecksEnv: p.ChecksEnv}
	for list, dirs := range map[*[]string][]string{&out.Writable: p.Writable, &out.Readable: p.Readable} {
		for _, dir := range dirs {
			if pathInHome, ok := strings.CutPrefix(dir, "~"); ok {
				home, err := os.UserHomeDir()
				if err != nil {
					return out, fmt.Errorf("protect: %s: %w", dir, err)
				}
				dir = filepath.Join(home, pathInHome)
			}
			*list = append(*list, filepath.Clean(dir))
		}
	}
	return out, nil
}
