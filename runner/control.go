package runner

import (
	"context"
	"errors"
)

// ErrNotRunning is returned for a child that is being stopped, or has ended.
var ErrNotRunning = errors.New("the child is not running")

// Control pauses the tree of one child while it runs. It can be used from any goroutine,
// but for only one Run. Requests wait until the child has started.
type Control struct {
	requests chan request
	done     chan struct{} // closed when the run is over
}

// request asks Run to freeze or thaw the tree. answer receives one error, nil for success.
type request struct {
	freeze bool
	answer chan error
}

// NewControl returns a control. Put it into a command to control the child of that command.
func NewControl() *Control {
	return &Control{requests: make(chan request), done: make(chan struct{})}
}

// Freeze stops all processes of the tree (SIGSTOP) and returns when they are stopped. The
// time until Thaw counts for no limit. When the context ends, the child is thawed first.
func (c *Control) Freeze(ctx context.Context) error { return c.request(ctx, true) }

// Thaw continues what Freeze has stopped.
func (c *Control) Thaw(ctx context.Context) error { return c.request(ctx, false) }

// request sends a request, and waits for the answer, the end of the run, or the end of ctx.
func (c *Control) request(ctx context.Context, freeze bool) error {
	r := request{freeze, make(chan error, 1)}
	select {
	case c.requests <- r:
	case <-c.done:
		return ErrNotRunning
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-r.answer:
		return err
	case <-c.done:
		return ErrNotRunning
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// requestsOrNil returns the channel of requests, nil without a control.
func (c *Control) requestsOrNil() <-chan request {
	if c == nil {
		return nil
	}
	return c.requests
}

// close ends all requests with ErrNotRunning. A nil control ignores it.
func (c *Control) close() {
	if c != nil {
		close(c.done)
	}
}
