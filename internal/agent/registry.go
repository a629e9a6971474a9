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

// builtIn are the presets of supervise itself.
//
//go:embed presets/*.yaml
var builtIn embed.FS

const (
	presetDir  = "presets"
	presetExt  = ".yaml"
	presetDocs = "docs/agents.md#presets"
)

// preferredNames are the agents at the start of lists, which are tested.
var preferredNames = []string{"claude", "codex", "gemini", "opencode", "pi", "qwen", "copilot"}

// Registry has the built-in presets and those of a user. It decodes a file on first use.
type Registry struct {
	userFiles map[string]presetFile // the files of the user, by the name of the agent
	names     []string              // of all agents, preferred ones first
	mu        sync.Mutex
	decoded   map[string]decodedPreset // the presets that were asked for, by name
}

// presetFile is the text of one preset.
type presetFile struct {
	path string
	text []byte
	err  error // why the file cannot be read, nil if it can
}

// decodedPreset is the result of decoding a preset.
type decodedPreset struct {
	preset Preset
	err    error
}

// UserDir returns the folder of a user's presets: $XDG_CONFIG_HOME/supervise/agents, by
// default ~/.config/supervise/agents; "" without a home folder.
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

// userRegistry is the registry of this process. It reads the files once, so that an agent
// cannot change its own preset while it runs.
var userRegistry = sync.OnceValue(func() *Registry { return Load(UserDir()) })

// Load returns a registry with the built-in presets and the files NAME.yaml of a folder, ""
// for none. An invalid file is only an error of that agent.
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

// builtInNames returns the names of the built-in presets, sorted.
func builtInNames() []string {
	files, _ := builtIn.ReadDir(presetDir) // it is embedded
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), presetExt)
	}
	return names
}

// preferredRank is the sort key by which preferredNames come first.
func preferredRank(name string) int {
	if i := slices.Index(preferredNames, name); i >= 0 {
		return i
	}
	return len(preferredNames)
}

// readDir reads the presets of a folder. An unreadable folder is recorded as an invalid agent
// named agents, so that the user sees the error.
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

// Names returns the names of all agents, preferred ones first.
func (k *Registry) Names() []string { return slices.Clone(k.names) }

// ByName returns the preset of an agent. The error explains an invalid file, or lists the
// existing agents.
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

// decode decodes a preset. A file of the user takes precedence over a built-in one with the
// same name.
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

// decodeBuiltIn decodes a built-in preset. names are the existing agents, for the error
// message.
func decodeBuiltIn(name string, names []string) (Preset, error) {
	path := presetDir + "/" + name + presetExt
	text, err := builtIn.ReadFile(path)
	if err != nil {
		return Preset{}, fmt.Errorf("there is no agent %q; the agents are %s; put any other command after --", name, strings.Join(names, ", "))
	}
	return parse(name, presetFile{path: path, text: text})
}

// parse decodes a preset and completes it. Keys that the file does not set have the values of
// the built-in preset that its key like names. What was observed about that preset does not
// apply to this one.
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

// Recognize returns the preset of a command by the base name of its program; false if there
// is none. An agent with that name comes first, then a user's agents with that program. It
// skips invalid files.
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

// matchRank says how likely a program belongs to an agent, without decoding the agent's file:
// 2 for an agent with the name of the program, 1 for another agent of the user, and 0 for an
// agent that cannot match, because the program of a built-in agent has the agent's name.
func (k *Registry) matchRank(name, program string) int {
	switch _, own := k.userFiles[name]; {
	case name == program:
		return 2
	case own:
		return 1
	}
	return 0
}

// Names returns the names of the agents of this process, preferred ones first.
func Names() []string { return userRegistry().Names() }

// ByName returns the preset of an agent of this process.
func ByName(name string) (Preset, error) { return userRegistry().ByName(name) }

// Recognize returns the preset of a command among the agents of this process.
func Recognize(args []string) (Preset, bool) { return userRegistry().Recognize(args) }
