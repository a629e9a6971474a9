package mockllm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Scenario is what the model does. A part is one conversation: the server recognises
// by the prompt which one it is, see [Options.Part]. After the last part the last one
// is played again; after the last step the model says that it is done.
type Scenario struct {
	Parts [][]Step `json:"parts"`
	// Repeat plays the last step of a part for ever.
	Repeat bool `json:"repeat,omitempty"`
}

// Step is one answer of the model. What goes wrong comes first: the wait, then the
// error, then the answer.
type Step struct {
	Text    string   `json:"text,omitempty"`
	Do      []Action `json:"do,omitempty"`
	Delay   Duration `json:"delay,omitempty"` // before anything is sent
	Hang    bool     `json:"hang,omitempty"`  // nothing is sent, ever
	Cut     bool     `json:"cut,omitempty"`   // the connection breaks behind the text of a stream
	Failure *Failure `json:"failure,omitempty"`
	Usage   *Usage   `json:"usage,omitempty"` // nil is [DefaultUsage] of the step
	// Headers are those of the answer; of an error they are the error's own.
	Headers map[string]string `json:"headers,omitempty"`
}

// Failure is an error of the API.
type Failure struct {
	Status  int               `json:"status"` // of HTTP: 401, 429, 500, 529
	Times   int               `json:"times"`  // how often, before the step is answered; 0 is for ever
	Headers map[string]string `json:"headers,omitempty"`
	Message string            `json:"message,omitempty"`
	Fields  map[string]any    `json:"fields,omitempty"` // of the error of OpenAI's APIs, in addition to or in place of the usual ones
}

// Action is something that the model wants done. It can be expressed in several ways;
// the first that the client offers a tool for is used: Raw, Sh, Edits, Write. A
// client without tools that reads edits from the text gets them there.
type Action struct {
	Raw   *RawCall `json:"raw,omitempty"`
	Sh    string   `json:"sh,omitempty"` // for /bin/sh
	Edits []Edit   `json:"edits,omitempty"`
	Write *File    `json:"write,omitempty"`
}

// RawCall is a call of a tool by its own name.
type RawCall struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// Edit replaces a text that occurs once in a file; some clients want whole lines.
// Paths are within the folder that the client works in, see [Options.Dir].
type Edit struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// File is written whole.
type File struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Usage counts tokens, each in one field alone. What an API sums is summed in its
// answers.
type Usage struct {
	Input      int `json:"input"`       // neither read from the cache nor written to it
	CacheRead  int `json:"cache_read"`  // of the prompt, read from the cache
	CacheWrite int `json:"cache_write"` // of the prompt, written to the cache; reported by Anthropic only
	Output     int `json:"output"`      // with the reasoning
	Reasoning  int `json:"reasoning"`
}

// DefaultUsage is that of a step, numbered from 0, that names none.
func DefaultUsage(step int) Usage {
	return Usage{Input: 1000 + 100*step, CacheRead: 200, Output: 50}
}

func (u Usage) prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

func (u Usage) total() int { return u.prompt() + u.Output }

// Duration is written as in "1m30s".
type Duration time.Duration

// UnmarshalText reads a duration; one without a unit is an error.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// MarshalText writes a duration with its unit.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Load reads the scenarios of a folder: NAME.json holds that of the marker
// [[mock:NAME]]. A field that is not known is an error.
func Load(dir string) (map[string]Scenario, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list scenarios: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no scenario: want NAME.json", dir)
	}
	out := map[string]Scenario{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read scenario: %w", err)
		}
		var s Scenario
		if err := decodeStrictly(data, &s); err != nil {
			return nil, fmt.Errorf("read scenario %s: %w", file, err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = s
	}
	return out, nil
}

func decodeStrictly(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind the scenario")
	}
	return nil
}

// step returns the answer to the turn numbered from 0 in a part numbered from 1.
func (s Scenario) step(part, turn int) Step {
	done := Step{Text: "Done."}
	if len(s.Parts) == 0 {
		return done
	}
	steps := s.Parts[min(max(part, 1), len(s.Parts))-1]
	switch {
	case turn < len(steps):
		return steps[turn]
	case s.Repeat && len(steps) > 0:
		return steps[len(steps)-1]
	}
	return done
}
