// Command supervise makes coding agents safe to leave alone. It runs an agent in a loop,
// measures the project after each iteration, rolls back what breaks the rules, and restores the
// best iteration.
//
// Each command has a file of its name with its options, its help and the function that runs it.
// root.go builds the command tree; start.go runs loops; workspace.go finds the project.
package main

import (
	"os"

	"supervise/runner"
)

func main() {
	runner.ShimMain()
	os.Exit(Main())
}

// Main runs supervise with the arguments and streams of this process and
// returns its exit status.
func Main() int {
	return run(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
}
