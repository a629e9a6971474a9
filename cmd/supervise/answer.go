package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"supervise/internal/approval"
	"supervise/internal/event"
	"supervise/internal/ledger"

	"github.com/spf13/cobra"
)

// answerOptions are the options of supervise approve and supervise reject.
type answerOptions struct {
	loop   string
	choice approval.Choice
	reason string
}

// onlyPeople is the last paragraph in the help of commands that only a person may use.
const onlyPeople = `

Without a name this is the latest loop. Only a person can answer: inside an agent that
supervise started, the command is refused.`

func newApproveCmd(a *app) *cobra.Command {
	return newAnswerCmd(a, approval.Approve, "Approve the iteration that a loop asks about", `The loop continues from it, and its findings count as acknowledged in this loop. The
reason is recorded.`)
}

func newRejectCmd(a *app) *cobra.Command {
	return newAnswerCmd(a, approval.Reject, "Reject the iteration that a loop asks about", `The tree is restored to what the iteration started from, and the iteration is retried.
The reason, if any, goes into the next prompt.`)
}

func newAnswerCmd(a *app, choice approval.Choice, short, long string) *cobra.Command {
	o := answerOptions{choice: choice}
	cmd := &cobra.Command{
		Use: string(choice) + " [LOOP]", Short: short, Long: long + onlyPeople,
		Example: fmt.Sprintf("  supervise %s --reason \"the feature was dropped\"\n  supervise %[1]s fix-tests --reason \"the feature was dropped\"", choice),
		Args:    optionalArg(&o.loop),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runAnswer(cmd.Context(), a, o) },
	}
	cmd.Flags().StringVar(&o.reason, "reason", "", "why, for the log")
	return cmd
}

// runAnswer answers the question that a loop asks. If the process of the loop ended to wait for the
// answer, the answer is stored for supervise resume.
func runAnswer(ctx context.Context, a *app, o answerOptions) error {
	if insideAgent() {
		return usageError{errInside}
	}
	answer := approval.Answer{Choice: o.choice, Reason: strings.TrimSpace(o.reason), User: userName(), At: time.Now()}
	if err := answer.Validate(); err != nil {
		return usageError{err}
	}

	dir, state, err := a.find(ctx, o.loop)
	if err != nil {
		return err
	}

	free, err := ledger.IsUnlocked(dir)
	if err != nil {
		return err
	}

	_, noQuestion := approval.OpenQuestion(dir)
	reply, note := approval.Reply, ""
	switch {
	case free && noQuestion == nil && state.StopReason == string(event.Awaiting):
		reply, note = approval.ReplyLater, "; supervise resume continues with it"
	case free && noQuestion == nil:
		return usageError{fmt.Errorf("loop %s was waiting for approval when it was killed: %s resume %s asks again", state.LoopID, a.self(), state.LoopID)}
	case free || noQuestion != nil:
		return usageError{fmt.Errorf("loop %s (%s) does not wait for approval", state.LoopID, state.Status)}
	}

	q, err := reply(dir, answer)
	if err != nil {
		return err
	}

	subject := fmt.Sprintf("iteration %d of %s", q.Iteration, state.LoopID)
	if q.Kind == approval.Blocked {
		subject = "what the agent said in " + subject
	}

	fmt.Fprintf(a.out, "%s is %s%s\n", subject, answer, note)
	return nil
}
