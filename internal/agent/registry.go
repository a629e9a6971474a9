package agent

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"supervise/internal/projectfile"
	"supervise/internal/yamlfile"
)

// builtIn are the files that come with supervise.
//
//go:embed presets/*.yaml
var builtIn embed.FS

const (
	folder    = "presets"
	extension = ".yaml"
	reference = "docs/agents.md#presets"
)

// first are the agents that lists begin with, the tried ones.
var first = []string{"claude", "codex", "gemini", "opencode", "pi", "qwen", "copilot"}

// Registry are the agents that are known: the built-in ones, and those of a user. A file is
// decoded when it is asked for.
type Registry struct {
	own     map[string]source // of the user
	names   []string
	mu      sync.Mutex
	decoded map[string]answer
}

type source struct {
	path string
	text []byte
	err  error // it cannot be read
}

type answer struct {
	preset Preset
	err    error
}

// UserDir returns where a user's own agents are: $XDG_CONFIG_HOME/supervise/agents, by
// default ~/.config/supervise/agents; "" where there is no home.
func UserDir() string {
	base := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "supervise", "agents")
}

// mine are the agents of this process: what is read is kept, so that nothing that an
// agent writes while it runs changes how it is run and read.
var mine = sync.OnceValue(func() *Registry { return Load(UserDir()) })

// Load reads the files NAME.yaml of a folder beside the built-in ones, "" for those alone.
// One that is broken is an error of that agent only.
func Load(dir string) *Registry {
	k := &Registry{own: map[string]source{}, decoded: map[string]answer{}}
	if dir != "" {
		k.read(dir)
	}
	k.names = builtInNames()
	for name := range k.own {
		if !slices.Contains(k.names, name) {
			k.names = append(k.names, name)
		}
	}
	slices.SortFunc(k.names, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
	})
	return k
}

func builtInNames() []string {
	files, _ := builtIn.ReadDir(folder) // it is embedded
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), extension)
	}
	return names
}

// rank sorts the first ones before all others.
func rank(name string) int {
	if i := slices.Index(first, name); i >= 0 {
		return i
	}
	return len(first)
}

func (k *Registry) read(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.own["agents"] = source{path: dir, err: err}
	}
	for _, e := range entries {
		name, isPreset := strings.CutSuffix(e.Name(), extension)
		if !isPreset || name == "" {
			continue
		}
		s := source{path: filepath.Join(dir, e.Name())}
		s.text, s.err = projectfile.ReadAnywhere(s.path, projectfile.Settings)
		k.own[name] = s
	}
}

// Names returns the names of all agents, the tried ones first.
func (k *Registry) Names() []string { return slices.Clone(k.names) }

// ByName returns the agent of that name. The error says what is wrong with its file, or
// names the agents there are.
func (k *Registry) ByName(name string) (Preset, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a, ok := k.decoded[name]; ok {
		return a.preset, a.err
	}
	var a answer
	a.preset, a.err = k.decode(name)
	k.decoded[name] = a
	return a.preset, a.err
}

func (k *Registry) decode(name string) (Preset, error) {
	s, own := k.own[name]
	if !own {
		return decodeBuiltIn(name, k.names)
	}
	if s.err != nil {
		return Preset{}, fmt.Errorf("%w: %w", yamlfile.ErrInvalid, s.err)
	}
	sum := sha256.Sum256(s.text)
	p, err := parse(name, s)
	p.Path, p.Checksum = s.path, hex.EncodeToString(sum[:])
	return p, err
}

func decodeBuiltIn(name string, names []string) (Preset, error) {
	path := folder + "/" + name + extension
	text, err := builtIn.ReadFile(path)
	if err != nil {
		return Preset{}, fmt.Errorf("there is no agent %q; the agents are %s; any other command stands behind --", name, strings.Join(names, ", "))
	}
	return parse(name, source{path: path, text: text})
}

// parse reads a file over what it is like.
func parse(name string, s source) (Preset, error) {
	f := yamlfile.File{Path: s.path, Text: s.text, Reference: reference}
	p := Preset{}
	if err := f.Decode(&p); err != nil {
		return Preset{}, err
	}
	if like := p.Base; like != "" {
		base, err := decodeBuiltIn(like, builtInNames())
		if err != nil {
			return Preset{}, f.Locate(yamlfile.InvalidValue("like: "+err.Error(), "like"))
		}
		p = base
		p.Observed = Observed{}
		if err := f.Decode(&p); err != nil {
			return Preset{}, err
		}
	}
	p.Name = name
	if len(p.Programs) == 0 {
		p.Programs = []string{name}
	}
	if err := p.validate(); err != nil {
		return Preset{}, f.Locate(err)
	}
	return p, nil
}

// Recognize returns the agent of a plain command by the base name of its program, and
// false for a command that is not known. The agent whose name it is comes first, then those
// of a user whose program it is; broken ones are passed over.
func (k *Registry) Recognize(args []string) (Preset, bool) {
	if len(args) == 0 {
		return Preset{}, false
	}
	base := filepath.Base(args[0])
	names := slices.Clone(k.names)
	slices.SortStableFunc(names, func(a, b string) int { return k.nearness(b, base) - k.nearness(a, base) })
	for _, name := range names {
		if k.nearness(name, base) == 0 {
			break
		}
		if p, err := k.ByName(name); err == nil && slices.Contains(p.Programs, base) {
			return p, true
		}
	}
	return Preset{}, false
}

// nearness is how likely a program is that of an agent, by what costs nothing: 0 for one
// that cannot be. The program of a built-in agent has the agent's name.
func (k *Registry) nearness(name, program string) int {
	switch _, own := k.own[name]; {
	case name == program:
		return 2
	case own:
		return 1
	}
	return 0
}

// Names returns the names of the agents that this process knows, the tried ones first.
func Names() []string { return mine().Names() }

// ByName returns the agent of that name among those that this process knows.
func ByName(name string) (Preset, error) { return mine().ByName(name) }

// Recognize returns the agent of a plain command among those that this process knows.
func Recognize(args []string) (Preset, bool) { return mine().Recognize(args) }
