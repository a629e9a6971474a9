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
	presetDir  = "presets"
	presetExt  = ".yaml"
	presetDocs = "docs/agents.md#presets"
)

// preferredNames are the agents that lists begin with, the tried ones.
var preferredNames = []string{"claude", "codex", "gemini", "opencode", "pi", "qwen", "copilot"}

// Registry are the agents that are known: the built-in ones, and those of a user. A file is
// decoded when it is asked for.
type Registry struct {
	userFiles map[string]presetFile // of the user
	names     []string
	mu        sync.Mutex
	decoded   map[string]decodedPreset
}

type presetFile struct {
	path string
	text []byte
	err  error // it cannot be read
}

type decodedPreset struct {
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

// userRegistry are the agents of this process: what is read is kept, so that nothing that an
// agent writes while it runs changes how it is run and read.
var userRegistry = sync.OnceValue(func() *Registry { return Load(UserDir()) })

// Load reads the files NAME.yaml of a folder beside the built-in ones, "" for those alone.
// One that is broken is an error of that agent only.
func Load(dir string) *Registry {
	k := &Registry{userFiles: map[string]presetFile{}, decoded: map[string]decodedPreset{}}
	if dir != "" {
		k.readDir(dir)
	}
	k.names = builtInNames()
	for name := range k.userFiles {
		if !slices.Contains(k.names, name) {
			k.names = append(k.names, name)
		}
	}
	slices.SortFunc(k.names, func(a, b string) int {
		return cmp.Or(cmp.Compare(preferredRank(a), preferredRank(b)), strings.Compare(a, b))
	})
	return k
}

func builtInNames() []string {
	files, _ := builtIn.ReadDir(presetDir) // it is embedded
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), presetExt)
	}
	return names
}

// preferredRank sorts the first ones before all others.
func preferredRank(name string) int {
	if i := slices.Index(preferredNames, name); i >= 0 {
		return i
	}
	return len(preferredNames)
}

func (k *Registry) readDir(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.userFiles["agents"] = presetFile{path: dir, err: err}
	}
	for _, e := range entries {
		name, isPreset := strings.CutSuffix(e.Name(), presetExt)
		if !isPreset || name == "" {
			continue
		}
		s := presetFile{path: filepath.Join(dir, e.Name())}
		s.text, s.err = projectfile.ReadAnywhere(s.path, projectfile.Settings)
		k.userFiles[name] = s
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
	var a decodedPreset
	a.preset, a.err = k.decode(name)
	k.decoded[name] = a
	return a.preset, a.err
}

func (k *Registry) decode(name string) (Preset, error) {
	s, own := k.userFiles[name]
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
	path := presetDir + "/" + name + presetExt
	text, err := builtIn.ReadFile(path)
	if err != nil {
		return Preset{}, fmt.Errorf("there is no agent %q; the agents are %s; any other command stands behind --", name, strings.Join(names, ", "))
	}
	return parse(name, presetFile{path: path, text: text})
}

// parse reads a file over what it is like.
func parse(name string, s presetFile) (Preset, error) {
	f := yamlfile.File{Path: s.path, Text: s.text, Reference: presetDocs}
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
	slices.SortStableFunc(names, func(a, b string) int { return k.matchRank(b, base) - k.matchRank(a, base) })
	for _, name := range names {
		if k.matchRank(name, base) == 0 {
			break
		}
		if p, err := k.ByName(name); err == nil && slices.Contains(p.Programs, base) {
			return p, true
		}
	}
	return Preset{}, false
}

// matchRank is how likely a program is that of an agent, by what costs nothing: 0 for one
// that cannot be. The program of a built-in agent has the agent's name.
func (k *Registry) matchRank(name, program string) int {
	switch _, own := k.userFiles[name]; {
	case name == program:
		return 2
	case own:
		return 1
	}
	return 0
}

// Names returns the names of the agents that this process knows, the tried ones first.
func Names() []string { return userRegistry().Names() }

// ByName returns the agent of that name among those that this process knows.
func ByName(name string) (Preset, error) { return userRegistry().ByName(name) }

// Recognize returns the agent of a plain command among those that this process knows.
func Recognize(args []string) (Preset, bool) { return userRegistry().Recognize(args) }
