package flow

import (
	"maps"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"
)

// FleetInput is what a workflow Fleet begins with, anew after many signals.
type FleetInput struct {
	Fleet string `json:"fleet"`
	Tasks int    `json:"tasks"` // how many there are
	Limit Amount `json:"limit"`
	State Ledger `json:"state"`
}

// Ledger is what is known of the budget of a fleet.
type Ledger struct {
	Spent    Amount            `json:"spent"`
	Reserved map[string]Amount `json:"reserved,omitempty"` // by who iterates
	Largest  Amount            `json:"largest"`            // iteration so far
	Waiting  []string          `json:"waiting,omitempty"`  // who wants to iterate, in order
	Ended    int               `json:"ended"`              // tasks
	Denied   int               `json:"denied,omitempty"`
}

// Settle is what an iteration consumed.
type Settle struct {
	Who string `json:"who"`
	Amount
}

// Grant is the answer to who wants to iterate.
type Grant struct {
	OK   bool   `json:"ok"`
	Text string `json:"text,omitempty"`
}

// Fleet holds the budget of all tasks until they have ended. Before each iteration a
// candidate reserves as much as the largest one has taken so far, and settles what it took
// afterwards. Who would exceed the budget waits until others have settled. So the budget is
// exceeded by no more than what one iteration per worker takes more than the largest before.
func Fleet(ctx workflow.Context, in FleetInput) (Ledger, error) {
	b := &bank{Ledger: in.State, limit: in.Limit, fleet: in.Fleet}
	if b.Reserved == nil {
		b.Reserved = map[string]Amount{}
	}
	if err := workflow.SetQueryHandler(ctx, BudgetQuery, func() (Ledger, error) { return b.Ledger, nil }); err != nil {
		return b.Ledger, err
	}
	sel := workflow.NewSelector(ctx)
	sel.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	for name, hear := range map[string]func(workflow.Context, workflow.ReceiveChannel){ReserveSignal: b.reserve, SettleSignal: b.settle, EndedSignal: b.ended} {
		sel.AddReceive(workflow.GetSignalChannel(ctx, name), func(c workflow.ReceiveChannel, _ bool) { hear(ctx, c) })
	}
	for {
		sel.Select(ctx)
		if ctx.Err() != nil {
			return b.Ledger, ctx.Err()
		}
		b.grant(ctx)
		over := b.Ended >= in.Tasks
		if !over && !workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			continue
		}
		// What was granted has to be sent before this run ends.
		if err := workflow.Await(ctx, func() bool { return b.sending == 0 }); err != nil {
			return b.Ledger, err
		}
		switch {
		case over:
			return b.Ledger, nil
		case !sel.HasPending():
			in.State = b.Ledger
			return b.Ledger, workflow.NewContinueAsNewError(ctx, FleetName, in)
		}
	}
}

// bank is a budget while a workflow holds it.
type bank struct {
	Ledger
	limit   Amount
	fleet   string
	sending int // grants
}

func (b *bank) reserve(ctx workflow.Context, c workflow.ReceiveChannel) {
	var who string
	c.Receive(ctx, &who)
	if !slices.Contains(b.Waiting, who) {
		b.Waiting = append(b.Waiting, who)
	}
}

func (b *bank) settle(ctx workflow.Context, c workflow.ReceiveChannel) {
	var s Settle
	c.Receive(ctx, &s)
	b.release(func(who string) bool { return who == s.Who })
	b.Spent, b.Largest = b.Spent.Plus(s.Amount), b.Largest.Most(s.Amount)
}

func (b *bank) ended(ctx workflow.Context, c workflow.ReceiveChannel) {
	var task string
	c.Receive(ctx, &task)
	b.Ended++
	b.release(func(who string) bool { return strings.HasPrefix(who, TaskID(b.fleet, task)+"/") })
}

// release forgets those who will not iterate any more.
func (b *bank) release(gone func(who string) bool) {
	maps.DeleteFunc(b.Reserved, func(who string, _ Amount) bool { return gone(who) })
	b.Waiting = slices.DeleteFunc(b.Waiting, gone)
}

// grant answers who waits, in order.
func (b *bank) grant(ctx workflow.Context) {
	for {
		who, answer, ok := b.next(b.limit)
		if !ok {
			return
		}
		b.send(ctx, who, answer)
	}
}

// next is the next answer, if there is one already. Where nothing is reserved nobody can
// settle any more, so that what is left of the budget decides.
func (l *Ledger) next(limit Amount) (who string, g Grant, ok bool) {
	if len(l.Waiting) == 0 {
		return "", g, false
	}
	all := l.Spent.Plus(l.Largest)
	for _, name := range slices.Sorted(maps.Keys(l.Reserved)) { // in one order: it is a sum of fractions
		all = all.Plus(l.Reserved[name])
	}
	fits := all.Fits(limit)
	if !fits && len(l.Reserved) > 0 {
		return "", g, false
	}
	who, l.Waiting = l.Waiting[0], l.Waiting[1:]
	if g.OK = fits || l.left(limit); g.OK {
		l.Reserved[who] = l.Largest
	} else {
		l.Denied++
		g.Text = "the budget of the fleet is spent"
	}
	return who, g, true
}

func (b *bank) send(ctx workflow.Context, who string, answer Grant) {
	b.sending++
	sent := workflow.SignalExternalWorkflow(ctx, who, "", GrantSignal, answer)
	workflow.Go(ctx, func(ctx workflow.Context) {
		if err := sent.Get(ctx, nil); err != nil { // it has ended meanwhile
			delete(b.Reserved, who)
		}
		b.sending--
	})
}

// left reports whether anything is left of the budget.
func (l *Ledger) left(limit Amount) bool {
	return (limit.CostUSD <= 0 || l.Spent.CostUSD < limit.CostUSD) && (limit.Tokens <= 0 || l.Spent.Tokens < limit.Tokens)
}
