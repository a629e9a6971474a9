package main

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

// stepsFlag is the value of --steps: a number of iterations, nil for all.
type stepsFlag struct{ n *int }

func (s *stepsFlag) String() string {
	if s.n == nil {
		return ""
	}
	return strconv.Itoa(*s.n)
}

// Set parses the value of the flag.
func (s *stepsFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return errors.New("give a number from 0")
	}
	s.n = &n
	return nil
}

// Type returns the name of the value in the help.
func (s *stepsFlag) Type() string { return "int" }

// register adds the flag to the command.
func (s *stepsFlag) register(f *pflag.FlagSet) {
	f.Var(s, "steps", "end this process after so many iterations, or at a question to you, without restoring a tree; supervise resume continues (0: after the baseline; default: run the loop to its end)")
}
