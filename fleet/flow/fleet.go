package flow

import (
	"maps"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"
)

// FleetInput is the input of a workflow Fleet, which restarts with it after many signals.
type FleetInput struct {
	Fleet string `json:"fleet"`
	Tasks int    `json:"tasks"` // how many there are
	Limit Amount `json:"limit"`
	State Ledger `json:"state"`
}

// Ledger is what is known of the budget of a fleet.
type Ledger struct {
	Spent    Amount            `json:"spent"`
	Reserved map[string]Amount `json:"reserved,omitempty"` // by the candidate that iterates
	Largest  Amount            `json:"largest"`            // iteration so far
	Ended    int               `json:"ended"`              // tasks
	Denied   int               `json:"denied,omitempty"`
	// Lost is how many iterations were cut off before their cost was known. Each counts as
	// much as was reserved for it.
	Lost int `json:"lost,omitempty"`
}

// Settle is what an iteration consumed.
type Settle struct {
	Who string `json:"who"`
	Amount
	Unknown bool `json:"unknown,omitempty"` // the cost is not known
}

// Grant is the answer to who is about to iterate.
type Grant struct {
	OK    bool   `json:"ok"`
	Later bool   `json:"later,omitempty"` // when others have settled, there may be enough
	Text  string `json:"text,omitempty"`
}

// Fleet holds the budget of all tasks until they have ended. A worker reserves for an
// iteration as much as the largest one has taken so far, right before the agent begins, and
// what it took is settled afterwards. So the budget is exceeded by no more than what the
// iterations that run at the same time, one for each slot of a worker, take more than that.
func Fleet(ctx workflow.Context, in FleetInput) (Ledger, error) {
	l := &in.State
	if l.Reserved == nil {
		l.Reserved = map[string]Amount{}
	}
	err := workflow.SetQueryHandler(ctx, BudgetQuery, func() (Ledger, error) { return *l, nil })
	if err == nil {
		err = workflow.SetUpdateHandler(ctx, ReserveUpdate, func(_ workflow.Context, who string) (Grant, error) { return l.reserve(who, in.Limit), nil })
	}
	if err != nil {
		return *l, err
	}
	settled, ended := workflow.GetSignalChannel(ctx, SettleSignal), workflow.GetSignalChannel(ctx, EndedSignal)
	sel := workflow.NewSelector(ctx)
	sel.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	sel.AddReceive(settled, func(c workflow.ReceiveChannel, _ bool) {
		var s Settle
		c.Receive(ctx, &s)
		l.settle(s)
	})
	sel.AddReceive(ended, func(c workflow.ReceiveChannel, _ bool) {
		var task string
		c.Receive(ctx, &task)
		l.end(TaskID(in.Fleet, task))
	})
	for {
		sel.Select(ctx)
		switch {
		case ctx.Err() != nil:
			return *l, ctx.Err()
		case l.Ended >= in.Tasks:
			return *l, nil
		case workflow.GetInfo(ctx).GetContinueAsNewSuggested() && !sel.HasPending() && workflow.AllHandlersFinished(ctx):
			return *l, workflow.NewContinueAsNewError(ctx, FleetName, in)
		}
	}
}

// reserve answers who is about to iterate. Where something was reserved for the same one
// already, that attempt was cut off, and what it took is not known.
func (l *Ledger) reserve(who string, limit Amount) Grant {
	if _, again := l.Reserved[who]; again {
		l.settle(Settle{Who: who, Unknown: true})
	}
	all := l.Spent.Plus(l.Largest)
	for _, name := range slices.Sorted(maps.Keys(l.Reserved)) { // in one order: it is a sum of fractions
		all = all.Plus(l.Reserved[name])
	}
	switch fits := all.Fits(limit); {
	case fits, len(l.Reserved) == 0 && l.left(limit):
		l.Reserved[who] = l.Largest
		return Grant{OK: true}
	case len(l.Reserved) > 0:
		return Grant{Later: true}
	}
	l.Denied++
	return Grant{Text: "the budget of the fleet is spent"}
}

func (l *Ledger) settle(s Settle) {
	reserved, known := l.Reserved[s.Who]
	delete(l.Reserved, s.Who)
	if s.Unknown {
		if known {
			l.Lost++
		}
		s.Amount = reserved
	}
	l.Spent, l.Largest = l.Spent.Plus(s.Amount), l.Largest.Most(s.Amount)
}

// end forgets what was reserved for the candidates of a task.
func (l *Ledger) end(task string) {
	l.Ended++
	for _, who := range slices.Sorted(maps.Keys(l.Reserved)) {
		if strings.HasPrefix(who, task+"/") {
			l.settle(Settle{Who: who, Unknown: true})
		}
	}
}

// left reports whether anything is left of the budget.
func (l *Ledger) left(limit Amount) bool {
	return (limit.CostUSD <= 0 || l.Spent.CostUSD < limit.CostUSD) && (limit.Tokens <= 0 || l.Spent.Tokens < limit.Tokens)
}
