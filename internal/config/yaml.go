package config

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"supervise/detector"
	"supervise/internal/measure"
	"supervise/internal/yamlfile"
)

// Argv is a command. In the file it is a shell command or a list of arguments.
type Argv []string

// Shell returns the command that runs a line in the shell.
func Shell(line string) Argv { return Argv{"/bin/sh", "-c", line} }

// UnmarshalYAML reads a string or a list of strings.
func (a *Argv) UnmarshalYAML(unmarshal func(any) error) error {
	var line string
	if unmarshal(&line) == nil {
		*a = Shell(line)
		return nil
	}
	var list []string
	if err := unmarshal(&list); err != nil {
		return fmt.Errorf("a command is a string for the shell or a list of arguments: %w", err)
	}
	if len(list) == 0 {
		return errors.New("a command has at least one word")
	}
	*a = list
	return nil
}

// Hosts is a list of hosts. In the file it may be a single host.
type Hosts []string

// UnmarshalYAML reads a word or a list of words.
func (h *Hosts) UnmarshalYAML(unmarshal func(any) error) error {
	var word string
	if unmarshal(&word) == nil {
		*h = Hosts{word}
		return nil
	}
	return unmarshal((*[]string)(h))
}

// Intents is what may be done to the tests: at most one [detector.Intent], and change=PATTERN for
// expectations that may change anyway. In the file it may be a single word.
type Intents []string

// changePrefix starts an intent with a pattern.
const changePrefix = string(detector.TestsChange) + "="

// UnmarshalYAML reads a word or a list of words.
func (i *Intents) UnmarshalYAML(unmarshal func(any) error) error {
	return (*Hosts)(i).UnmarshalYAML(unmarshal)
}

// Override returns the intents with those of the command line: patterns are added, and an intent
// without a pattern replaces everything.
func (i Intents) Override(given []string) Intents {
	if slices.ContainsFunc(given, func(g string) bool { return !strings.HasPrefix(g, changePrefix) }) {
		return given
	}
	return slices.Concat(i, given)
}

// split returns the intent and the patterns.
func (i Intents) split() (intent detector.Intent, patterns []string, err error) {
	for _, word := range i {
		p, isPattern := strings.CutPrefix(word, changePrefix)
		switch {
		case isPattern:
			patterns = append(patterns, p)
		case intent != "" && string(intent) != word:
			return "", nil, yamlfile.InvalidValue(fmt.Sprintf("tests: %s and %s exclude each other; give one of them, and change=PATTERN for exceptions", intent, word), "tests")
		default:
			intent = detector.Intent(word)
		}
	}
	return intent, patterns, nil
}

// newIntents returns the intents of a loop.
func newIntents(o detector.Options) Intents {
	out := Intents{string(cmp.Or(o.Tests, detector.TestsFree))}
	for _, p := range o.MayChange {
		out = append(out, changePrefix+p)
	}
	return out
}

// Parallel is how many checks run at the same time, or [measure.Auto].
type Parallel int

// UnmarshalYAML reads a number of at least 1, or auto.
func (p *Parallel) UnmarshalYAML(unmarshal func(any) error) error {
	var n int
	if unmarshal(&n) == nil && n >= 1 {
		*p = Parallel(n)
		return nil
	}
	var word string
	if unmarshal(&word) == nil && word == "auto" {
		*p = measure.AutoParallel
		return nil
	}
	return yamlfile.InvalidValue("checks_parallel must be auto or a number from 1, like 2", "checks_parallel")
}

// UnmarshalYAML reads a shell command or a mapping.
func (c *Check) UnmarshalYAML(unmarshal func(any) error) error {
	var line string
	if unmarshal(&line) == nil {
		c.Command = Shell(line)
		return nil
	}
	type plain Check // has no UnmarshalYAML
	if err := unmarshal((*plain)(c)); err != nil {
		return err
	}
	c.Dir = path.Clean(c.Dir)
	if c.Dir == "." {
		c.Dir = ""
	}
	return nil
}

// validate checks the values of a check. keys are its keys in the file.
func (c Check) validate(keys []string) error {
	invalid := func(key, format string, args ...any) error {
		return yamlfile.InvalidValue(strings.Join(keys[:2], ".")+": "+fmt.Sprintf(format, args...), append(slices.Clip(keys), key)...)
	}
	switch {
	case len(c.Command) == 0:
		return invalid("command", "a check needs a command")
	case c.Timeout < 0:
		return invalid("timeout", "timeout must not be negative")
	case c.Dir != "" && !filepath.IsLocal(filepath.FromSlash(c.Dir)):
		return invalid("dir", "dir %q is outside the project; name a folder below it", c.Dir)
	case c.Runner != "" && !slices.Contains(measure.Runners(), c.Runner):
		return invalid("runner", "there is no runner %s; the runners are %s; without one failing tests are run again with the whole command", c.Runner, strings.Join(measure.Runners(), ", "))
	}
	return nil
}

// validate checks all configured checks.
func (c Checks) validate() error {
	for _, kind := range []struct {
		name string
		list List
	}{{"build", c.Build}, {"test", c.Test}, {"lint", c.Lint}} {
		for i, check := range kind.list {
			if err := check.validate([]string{"checks", kind.name, strconv.Itoa(i)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// List is a list of checks. In the file it may be a single check.
type List []Check

// UnmarshalYAML reads one check, or a list of them.
func (l *List) UnmarshalYAML(unmarshal func(any) error) error {
	var shape []any
	if unmarshal(&shape) == nil {
		return unmarshal((*[]Check)(l))
	}
	var one Check
	if err := unmarshal(&one); err != nil {
		return err
	}
	*l = List{one}
	return nil
}
