package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"supervise/internal/agentrun"
	"supervise/internal/rpc"

	"github.com/spf13/cobra"
)

// errNoSupervisor is returned if no supervisor can receive the report.
var errNoSupervisor = errors.New("no loop is listening: this command is for an agent that supervise run has started; inform the person who gave you the task")

// blockedWait is how long an agent waits for the answer of its supervisor.
const blockedWait = time.Minute

// blockedOptions are the options of supervise blocked.
type blockedOptions struct {
	tests  []string
	reason string
}

func newBlockedCmd(a *app) *cobra.Command {
	var o blockedOptions
	cmd := &cobra.Command{
		Use:   "blocked [--test ID] --reason TEXT",
		Short: "Report, as the agent of a loop, that a test is wrong or the task impossible",
		Long: `Agents run this, and every prompt names it. The loop answers at once. When the agent has
ended, its work is judged as always, and a person is asked. Approving lets the agent
change the named tests, or accepts that the task cannot be done; rejecting lets the
agent continue. If no person can be asked, the loop ends with status 3 and the reason.
A report does not change the score.

Outside of a loop the command exits with 2.`,
		Example: `  supervise blocked --test "calc: TestDiv" --reason "it expects 1/0 to be 0, and the specification says it is an error"
  supervise blocked --reason "the API that the task names does not exist"`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.runBlocked(o) },
	}

	flags := cmd.Flags()
	flags.StringArrayVar(&o.tests, "test", nil, "`ID` of a test that is wrong, as the prompt or the report names it (repeatable; default: the whole task)")
	flags.StringVar(&o.reason, "reason", "", "why, in at most 2,000 characters")
	return cmd
}

// runBlocked sends the report of an agent to its supervisor, and prints the answer.
func (a *app) runBlocked(o blockedOptions) error {
	socket := os.Getenv(agentrun.SocketEnv)
	switch {
	case strings.TrimSpace(o.reason) == "":
		return usageError{errors.New("give --reason: a person reads why")}
	case socket == "":
		return usageError{errNoSupervisor}
	}
	reply, err := rpc.Ask(socket, rpc.Request{Blocked: &rpc.Blocked{Tests: o.tests, Reason: o.reason}}, blockedWait)
	switch {
	case err != nil:
		return usageError{fmt.Errorf("%w (%w)", errNoSupervisor, err)}
	case reply.Error != "":
		return errors.New(reply.Error)
	}
	_, err = a.doc.Write(reply.Output)
	return err
}
