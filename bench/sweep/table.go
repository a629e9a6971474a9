package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml"
)

//go:embed repos.yaml
var rows []byte

// table is repos.yaml.
type table struct {
	Languages []*language `yaml:"languages"`
	Repos     []*repo     `yaml:"repos"`
}

// language holds what most repositories of an ecosystem have in common. A row of
// an entry of the table that sets a field replaces it.
type language struct {
	Name string `yaml:"name"`
	// Apart is set where too few repositories can be run for a share of their own.
	Apart bool `yaml:"apart"`
	// Incremental says how the ecosystem does less work after an edit; empty: not at all.
	Incremental string `yaml:"incremental"`
	Defaults    `yaml:",inline"`
}

// Defaults are fields of a row that a language can set for all of its rows. All
// commands are shell scripts that run at the top of the checkout; $OUT is a folder of
// their own outside of it.
type Defaults struct {
	Install string            `yaml:"install"` // dependencies, not timed
	Clean   string            `yaml:"clean"`   // what was built, before each full run
	Warm    bool              `yaml:"warm"`    // the native commands run once before they are timed: the compiler's cache is global
	Native  []step            `yaml:"native"`
	Append  string            `yaml:"append"` // text added to the end of the leaf file
	Env     map[string]string `yaml:"env"`    // for install and for all commands, ours as well
}

// step is one native command.
type step struct {
	Run   string `yaml:"run"`
	Again string `yaml:"again"` // after an edit; without it Run
	Read  string `yaml:"read"`  // the form of its tests, a key of readers; empty: it runs none
}

// repo is one row.
type repo struct {
	Name     string `yaml:"name"` // owner/name
	Language string `yaml:"language"`
	Commit   string `yaml:"commit"`
	Last     int    `yaml:"last"`    // of the first to fifth last twenty: chosen before they were run, measured once; 0: of none
	Folder   string `yaml:"folder"`  // what is checked out in addition to the files at the top; empty: all
	Edit     string `yaml:"edit"`    // the leaf file that is edited
	Expect   counts `yaml:"expect"`  // what the native commands counted when the row was written
	Differs  string `yaml:"differs"` // why our numbers are other ones, where that is known
	Defaults `yaml:",inline"`

	of *language
}

var commitName = regexp.MustCompile(`^[0-9a-f]{40}$`)

// load reads the table and completes each row with what its language gives.
func load() (*table, error) {
	t := &table{}
	if err := yaml.NewDecoder(bytes.NewReader(rows), yaml.Strict()).Decode(t); err != nil {
		return nil, fmt.Errorf("read repos.yaml: %w", err)
	}
	var errs []error
	for _, r := range t.Repos {
		i := slices.IndexFunc(t.Languages, func(l *language) bool { return l.Name == r.Language })
		if i < 0 {
			errs = append(errs, fmt.Errorf("%s: language %q is not in the table", r.Name, r.Language))
			continue
		}
		r.complete(t.Languages[i])
		errs = append(errs, r.check())
	}
	return t, errors.Join(errs...)
}

func (r *repo) complete(l *language) {
	r.of = l
	for _, f := range []struct{ own, from *string }{{&r.Install, &l.Install}, {&r.Clean, &l.Clean}, {&r.Append, &l.Append}} {
		if *f.own == "" {
			*f.own = *f.from
		}
	}
	if len(r.Native) == 0 {
		r.Native = l.Native
	}
	r.Warm = r.Warm || l.Warm
	env := maps.Clone(l.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, r.Env)
	r.Env = env
}

func (r *repo) check() error {
	switch {
	case !commitName.MatchString(r.Commit):
		return fmt.Errorf("%s: commit %q is no full commit name", r.Name, r.Commit)
	case r.Edit == "" || r.Append == "":
		return fmt.Errorf("%s: no leaf file to edit, or nothing to append to it", r.Name)
	case len(r.Native) == 0:
		return fmt.Errorf("%s: no native commands", r.Name)
	}
	for _, s := range r.Native {
		if _, ok := readers[s.Read]; s.Read != "" && !ok {
			return fmt.Errorf("%s: no reader for %q", r.Name, s.Read)
		}
	}
	return nil
}
