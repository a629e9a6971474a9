package record

import (
	"context"
	"errors"
	"fmt"

	"supervise/internal/ledger"
)

// Answer handles one message and returns the answers to it. id is the loop of the command, for
// messages that do not name one; "" means that the message must.
func (p Service) Answer(ctx context.Context, id string, m Message) ([]any, error) {
	switch {
	case m.LoopID == "":
		m.LoopID = id
	case id != "" && m.LoopID != id:
		return nil, fmt.Errorf("%w: the message is about loop %s, the command about %s", ErrInvalidMessage, m.LoopID, id)
	}
	out, err := p.answer(ctx, m)
	if m.inConversation && err == nil {
		out = wrapAnswers(out, p.Now())
	}
	return out, err
}

// answer handles a message whose loop is known. It records the baseline that comes with an
// iteration first, if the loop does not exist yet.
func (p Service) answer(ctx context.Context, m Message) ([]any, error) {
	if b := m.baseline; b != nil {
		if _, err := ledger.ReadState(ledger.LoopDir(p.Home, m.LoopID)); errors.Is(err, ledger.ErrNoLoop) {
			b.LoopID = m.LoopID
			if _, err := Record(ctx, p, *b); err != nil {
				return nil, err
			}
		}
	}

	switch m.Type {
	case KindBaseline, KindIteration:
		rec, err := Record(ctx, p, m)
		if err != nil {
			return nil, err
		}
		return rec.Answer(), nil
	case KindDecision:
		dir, state, err := ledger.FindLoop(p.Home, p.Root, m.LoopID)
		if err != nil {
			return nil, err
		}
		v, err := ReadView(dir, state)
		if err != nil {
			return nil, err
		}
		return v.Answer(m)
	default:
		return nil, fmt.Errorf("%w: type is %q; give BaselineRequest, IterationComplete or LoopDecisionRequest", ErrInvalidMessage, m.Type)
	}
}
