package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"supervise/integrity"
	"supervise/internal/projectfile"
	"supervise/internal/yamlfile"
)

// Integrity says which rules check the text of changed files.
type Integrity struct {
	// the only rules of the [catalogue](integrity.md) to apply, by number (`TP-25`), name (`failure_ignored`) or family (`harness`)
	Enabled []string `yaml:"patterns_enabled" zero:"all"`
	// rules of the catalogue to ignore, named the same way
	Off []string `yaml:"off"`
	// [patterns of your own](integrity-harness.md#choosing-rules-and-rules-of-your-own), without code
	Patterns []integrity.Pattern `yaml:"patterns"`
	// files with more patterns, relative to the folder of the configuration
	Files []string `yaml:"pattern_files"`

	Loaded []integrity.Pattern `yaml:"-"` // patterns of the files
}

// Options returns the options of package integrity. They include the patterns of the files after
// the configuration was loaded.
func (i Integrity) Options() integrity.Options {
	return integrity.Options{Disabled: i.Off, Enabled: i.Enabled, Patterns: slices.Concat(i.Patterns, i.Loaded)}
}

// validate checks the names of rules and the patterns.
func (i Integrity) validate() error {
	for key, names := range map[string][]string{"patterns_enabled": i.Enabled, "off": i.Off} {
		if unknown := integrity.UnknownRules(names); len(unknown) > 0 {
			return yamlfile.InvalidValue(fmt.Sprintf("integrity.%s: there is no rule %s; name one by its number (TP-25), its name (failure_ignored) or its family (%s)",
				key, unknown[0], strings.Join(integrity.Families(), ", ")), "integrity", key)
		}
	}
	if err := integrity.CheckPatterns(i.Options().Patterns); err != nil {
		pattern, ok := errors.AsType[*integrity.PatternError](err)
		if ok && pattern.Index < len(i.Patterns) {
			return yamlfile.InvalidValue("integrity."+err.Error(), "integrity", "patterns", strconv.Itoa(pattern.Index), pattern.Field)
		}
		return yamlfile.InvalidValue("integrity."+err.Error(), "integrity", "pattern_files")
	}
	return nil
}

// load reads the files of patterns. Errors name the file and the line.
func (i *Integrity) load(dir string) error {
	for _, name := range i.Files {
		path, read := name, projectfile.ReadNamed
		if !filepath.IsAbs(path) {
			path, read = filepath.Join(dir, filepath.FromSlash(name)), projectfile.Read
		}
		text, err := read(path, projectfile.Settings)
		if err != nil {
			return yamlfile.InvalidValue(fmt.Sprintf("integrity.pattern_files: %v; name an existing file", err), "integrity", "pattern_files")
		}
		list, err := integrity.ReadPatterns(name, text)
		if err != nil {
			return yamlfile.InvalidValue("integrity.pattern_files: "+err.Error(), "integrity", "pattern_files")
		}
		i.Loaded = append(i.Loaded, list...)
	}
	return i.validate()
}
