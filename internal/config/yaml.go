package config

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"supervise/internal/measure"
)

// Argv is a command. In the file it is a string for the shell or a list of
// arguments.
type Argv []string

// Shell returns the command that has the shell run the line.
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

// Parallel is how many checks run at the same time, or [measure.Auto].
type Parallel int

// UnmarshalYAML reads a number from 1, or auto.
func (p *Parallel) UnmarshalYAML(unmarshal func(any) error) error {
	var n int
	if unmarshal(&n) == nil && n >= 1 {
		*p = Parallel(n)
		return nil
	}
	var word string
	if unmarshal(&word) == nil && word == "auto" {
		*p = measure.Auto
		return nil
	}
	return errors.New("checks_parallel must be auto or a number from 1, like 2")
}

// UnmarshalYAML reads a string for the shell, or a mapping.
func (c *Check) UnmarshalYAML(unmarshal func(any) error) error {
	var line string
	if unmarshal(&line) == nil {
		c.Command = Shell(line)
		return nil
	}
	type plain Check // without this method
	if err := unmarshal((*plain)(c)); err != nil {
		return err
	}
	if len(c.Command) == 0 {
		return errors.New("a check needs a command")
	}
	if c.Dir != "" && !filepath.IsLocal(filepath.FromSlash(c.Dir)) {
		return fmt.Errorf("dir %q lies outside the project; name a folder below it", c.Dir)
	}
	c.Dir = path.Clean(c.Dir)
	if c.Dir == "." {
		c.Dir = ""
	}
	return nil
}

// List is one check or several.
type List []Check

// unknownRunner returns the first check with a runner that nobody knows.
func (l List) unknownRunner() (Check, bool) {
	i := slices.IndexFunc(l, func(c Check) bool { return c.Runner != "" && !slices.Contains(measure.Runners(), c.Runner) })
	if i < 0 {
		return Check{}, false
	}
	return l[i], true
}

// UnmarshalYAML reads one check, or a list of them.
func (l *List) UnmarshalYAML(unmarshal func(any) error) error {
	var many []Check
	if unmarshal(&many) == nil {
		*l = many
		return nil
	}
	var one Check
	if err := unmarshal(&one); err != nil {
		return err
	}
	*l = List{one}
	return nil
}
