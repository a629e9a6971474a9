// Command supervise makes coding agents safe to leave alone: it runs an agent in
// a loop, measures the project after each iteration, rolls back what breaks the
// rules, and gives back the best iteration.
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
