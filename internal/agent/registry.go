package agent

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	userFiles map[string]presetFile             // the files of the user, by the name of the agent
	names     []string                          // of all agents, preferred ones first
	presets   map[string]func() (Preset, error) // decodes a preset once, by the name of the agent
}

// presetFile is the text of one preset.
type presetFile struct {
	path string
	text []byte
	err  error // why the file cannot be read, nil if it can
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
	k := &Registry{userFiles: map[string]presetFile{}, presets: map[string]func() (Preset, error){}}
	if dir != "" {
		k.readDir(dir)
	}
	k.names = slices.Clone(preferredNames)
	for _, name := range slices.Sorted(slices.Values(slices.AppendSeq(builtInNames(), maps.Keys(k.userFiles)))) {
		if !slices.Contains(k.names, name) {
			k.names = append(k.names, name)
		}
	}
	for _, name := range k.names {
		k.presets[name] = sync.OnceValues(func() (Preset, error) { return k.decode(name) })
	}
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
	decode, known := k.presets[name]
	if !known {
		return Preset{}, unknownAgent(name, k.names)
	}
	return decode()
}

// unknownAgent returns the error about a name that is not among those of the existing agents.
func unknownAgent(name string, names []string) error {
	return fmt.Errorf("there is no agent %q; the agents are %s; put any other command after --", name, strings.Join(names, ", "))
}

// decode decodes a preset. A file of the user takes precedence over a built-in one with the
// same name.
func (k *Registry) decode(name string) (Preset, error) {
	s, own := k.userFiles[name]
	if !own {
		return decodeBuiltIn(name)
	}
	if s.err != nil {
		return Preset{}, fmt.Errorf("%w: %w", yamlfile.ErrInvalid, s.err)
	}
	sum := sha256.Sum256(s.text)
	p, err := parse(name, s)
	p.Path, p.Checksum = s.path, hex.EncodeToString(sum[:])
	return p, err
}

// decodeBuiltIn decodes a built-in preset.
func decodeBuiltIn(name string) (Preset, error) {
	path := presetDir + "/" + name + presetExt
	text, err := builtIn.ReadFile(path)
	if err != nil {
		return Preset{}, unknownAgent(name, builtInNames())
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
		base, err := decodeBuiltIn(like)
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
// is none. An agent with that name comes first, then a user's agents with that program, because
// the program of a built-in agent has the agent's name. It skips invalid files.
func (k *Registry) Recognize(args []string) (Preset, bool) {
	if len(args) == 0 {
		return Preset{}, false
	}
	program := filepath.Base(args[0])
	candidates := []string{program}
	for _, name := range k.names {
		if _, own := k.userFiles[name]; own {
			candidates = append(candidates, name)
		}
	}
	for _, name := range candidates {
		if p, err := k.ByName(name); err == nil && slices.Contains(p.Programs, program) {
			return p, true
		}
	}
	return Preset{}, false
}

// Names returns the names of the agents of this process, preferred ones first.
func Names() []string { return userRegistry().Names() }

// ByName returns the preset of an agent of this process.
func ByName(name string) (Preset, error) { return userRegistry().ByName(name) }

// Recognize returns the preset of a command among the agents of this process.
func Recognize(args []string) (Preset, bool) { return userRegistry().Recognize(args) }
