// Command supervise makes coding agents safe to leave alone. It runs an agent in a loop,
// measures the project after each iteration, rolls back what breaks the rules, and restores the
// best iteration.
//
// Each command has a file of its name. For supervise diff, diffOptions has the values of the
// flags, newDiffCmd returns the command with its help and flags, and runDiff does the work. The
// functions share an app, which has the output streams and the common flags.
//
// root.go builds the command tree, start.go runs loops, workspace.go finds the project, loops.go
// finds loops, exit.go maps errors to exit statuses, and streams.go masks secrets in the output.
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
