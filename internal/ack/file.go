package ack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"supervise/internal/projectfile"
)

// document is the content of the file.
type document struct {
	Acknowledged []Entry `yaml:"acknowledged"`
}

const header = `# Findings of supervise that a person accepted. They are reported, but not counted.
# Commit this file. supervise ack writes it; a loop reads it when it starts.
acknowledged:
`

// LoopFileName is the file in the folder of a loop with what was acknowledged after it started.
const LoopFileName = "acknowledged.yaml"

// Path returns the path of the file in the folder of the configuration.
func Path(dir string) string { return filepath.Join(dir, FileName) }

// Load reads the file at path; a missing one has no entries. Errors wrap [ErrInvalid]
// and name the line.
func Load(path string) ([]Entry, error) {
	text, err := projectfile.Read(path, projectfile.Settings)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	list, err := Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// Parse reads the text of a file.
func Parse(text string) ([]Entry, error) {
	var d document
	file, err := parser.ParseBytes([]byte(text), parser.ParseComments)
	if err == nil && isEmpty(file) {
		return nil, nil
	}
	if err == nil {
		err = yaml.UnmarshalWithOptions([]byte(text), &d, yaml.Strict())
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrInvalid, yaml.FormatError(err, false, true))
	}
	lines := entryLines(file)
	linePrefix := func(i int) string {
		if i < len(lines) {
			return fmt.Sprintf("line %d: ", lines[i])
		}
		return ""
	}
	seen := map[string]int{}
	for i, e := range d.Acknowledged {
		if err := e.Validate(); err != nil {
			return nil, fmt.Errorf("%s%w", linePrefix(i), err)
		}
		if first, twice := seen[e.ID()]; twice {
			return nil, fmt.Errorf("%s%w: %s is acknowledged on %stoo; remove one of them", linePrefix(i), ErrInvalid, e.ID(), strings.Replace(linePrefix(first), ":", "", 1))
		}
		seen[e.ID()] = i
	}
	return d.Acknowledged, nil
}

func isEmpty(f *ast.File) bool {
	return !slices.ContainsFunc(f.Docs, func(d *ast.DocumentNode) bool {
		return d.Body != nil && d.Body.Type() != ast.CommentType && d.Body.Type() != ast.NullType
	})
}

// entryLines returns the line on which each entry starts, counted from 1, or nothing if they are
// unknown.
func entryLines(f *ast.File) []int {
	path, err := yaml.PathString("$.acknowledged")
	if err != nil {
		return nil
	}
	node, err := path.FilterFile(f)
	list, ok := node.(*ast.SequenceNode)
	if err != nil || !ok || list.IsFlowStyle {
		return nil
	}
	var out []int
	for _, entry := range list.Entries {
		out = append(out, entry.Start.Position.Line)
	}
	return out
}

// Add returns the text of a file with the entry at its end, and whether it replaced one
// with the same ID. Other lines stay as they are.
func Add(text string, e Entry) (string, bool, error) {
	text, replaced, err := Remove(text, e.ID())
	if err != nil {
		return "", false, err
	}
	before, err := Parse(text)
	if err != nil {
		return "", false, err
	}
	if len(before) == 0 {
		text = header
	}
	body, err := yaml.Marshal([]Entry{e})
	if err != nil {
		return "", false, fmt.Errorf("write acknowledgement: %w", err)
	}
	pad := indentation(text)
	text = strings.TrimRight(text, "\n") + "\n"
	for line := range strings.Lines(string(body)) {
		text += pad + line
	}
	return text, replaced, checkEdit(text, append(slices.Clone(before), e))
}

// indentation is the indentation of the entries in the file.
func indentation(text string) string {
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimLeft(line, " "); strings.HasPrefix(trimmed, "- ") {
			return line[:len(line)-len(trimmed)]
		}
	}
	return "  "
}

// Remove returns the text of a file without the entry with that ID, and whether there
// was one. Comments before the next entry stay.
func Remove(text, id string) (string, bool, error) {
	list, err := Parse(text)
	if err != nil {
		return "", false, err
	}
	i := Find(list, id)
	if i < 0 {
		return text, false, nil
	}
	file, err := parser.ParseBytes([]byte(text), parser.ParseComments)
	if err != nil {
		return "", false, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	begin, lines := entryLines(file), strings.SplitAfter(text, "\n")
	if len(begin) != len(list) {
		return "", false, errManual
	}
	from, to := begin[i]-1, len(lines)
	if i+1 < len(begin) {
		to = begin[i+1] - 1
		for to > from+1 && strings.HasPrefix(strings.TrimSpace(lines[to-1]), "#") {
			to--
		}
	}
	remaining := slices.Delete(slices.Clone(list), i, i+1)
	out := strings.Join(slices.Concat(lines[:from], lines[to:]), "")
	return out, true, checkEdit(out, remaining)
}

var errManual = fmt.Errorf("%w: the file does not have one line per key, and cannot be changed without reformatting it; edit it manually", ErrInvalid)

// checkEdit checks that an edit changed what it should, and nothing else.
func checkEdit(text string, want []Entry) error {
	got, err := Parse(text)
	if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		return errManual
	}
	return nil
}
