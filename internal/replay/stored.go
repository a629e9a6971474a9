package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// Verify checks the folder of a loop: its log, its snapshots, and the items of [checklist]. head
// is the hash of an entry that the log must contain, "" for none. Verify changes nothing.
// Problems of the loop are in the checks; the error says that they could not be made.
func Verify(ctx context.Context, l Loop, head string) ([]Check, error) {
	dir, state := l.Dir, l.State
	log, measured := checkLog(dir, head)
	store, there, err := checkStore(ctx, dir, state.LoopID)
	if err != nil {
		return nil, err
	}

	out := []Check{log, store}
	if state.Kind == ledger.KindCandidates {
		return verifyCandidates(ctx, l, out)
	}

	v := &verifier{dir: dir, stored: there}
	early := false
	if v.loop, err = ReadLoop(l); err == nil {
		v.iterations = v.loop.record.Iterations
	} else if early = !measured && len(state.History) == 0; !early {
		out = append(out, Check{Name: "The record of the loop can be read", Problems: []string{err.Error()}})
	}

	over := state.Selected != nil || slices.Contains([]ledger.Status{ledger.Completed, ledger.Failed}, state.Status)
	for _, c := range checklist {
		if v.loop == nil || c.end && !over {
			out = append(out, Check{Name: c.name, OK: true, Pending: true})
			continue
		}
		problems := c.run(v)
		out = append(out, Check{Name: c.name, OK: len(problems) == 0, Problems: problems})
	}

	if early {
		out[2].Note = fmt.Sprintf("loop %s ended before its baseline was measured: there is nothing more to check", state.LoopID)
	}
	return out, nil
}

// verifyCandidates appends the checks of the loops of all candidates to out. The loop with the
// candidates has no other content.
func verifyCandidates(ctx context.Context, l Loop, out []Check) ([]Check, error) {
	loops := ledger.CandidateLoops(l.Dir, l.State)
	for _, n := range slices.Sorted(maps.Keys(loops)) {
		state, err := ledger.ReadState(loops[n])
		if errors.Is(err, ledger.ErrNoLoop) {
			continue // it was not started
		}
		var list []Check
		if err == nil {
			list, err = Verify(ctx, Loop{Dir: loops[n], State: state, Rejudge: l.Rejudge}, "")
		}
		if err != nil {
			return nil, fmt.Errorf("candidate %d: %w", n, err)
		}
		for _, c := range list {
			c.Name = fmt.Sprintf("candidate %d: %s", n, c.Name)
			out = append(out, c)
		}
	}
	return out, nil
}

// checkLog checks the log. measured is true if the log has the measurement of any tree.
func checkLog(dir, head string) (Check, bool) {
	c, measured := Check{Name: "The log is intact and its chain of hashes is valid"}, false
	entries, at := 0, 0
	problems, err := ledger.ReadLog(dir, func(e ledger.Event) {
		entries++
		c.Head = e.Hash
		if e.Hash == head {
			at = entries
		}
		measured = measured || slices.Contains([]event.Type{event.BaselineMeasured, event.IterationFinished, event.IterationRecorded}, event.Type(e.Name))
	})

	c.Problems = problems
	if err != nil {
		c.Problems = append(c.Problems, err.Error())
	}

	switch grown := entries - at; {
	case head == "":
		c.Note = "this shows only that the record is consistent: compare with a head kept on another machine (--head)"
	case at == 0:
		c.Problems = append(c.Problems, fmt.Sprintf("no entry has the hash %s: entries up to it were changed or removed after that head was printed, or it is that of another loop", head))
	case grown == 0:
		c.Note = "its head is the one given"
	case grown == 1:
		c.Note = "the log has grown by 1 entry since the head given"
	default:
		c.Note = fmt.Sprintf("the log has grown by %d entries since the head given", grown)
	}

	c.OK = len(c.Problems) == 0
	return c, measured
}

// checkStore checks the store of snapshots. It also returns the IDs of all snapshots, damaged or
// not.
func checkStore(ctx context.Context, dir, loop string) (Check, []snapshot.ID, error) {
	c := Check{Name: "All snapshots are intact"}
	found, err := snapshot.Check(ctx, ledger.SnapshotDir(dir))
	if err != nil && (ctx.Err() != nil || errors.Is(err, context.Canceled)) {
		return c, nil, err
	}
	if err != nil {
		c.Problems = append(c.Problems, err.Error())
	}
	for _, d := range found.Damage {
		of := ""
		if len(d.Snapshots) > 0 {
			of = " (" + strings.Join(snapshotNames(d.Snapshots), ", ") + ")"
		}
		c.Problems = append(c.Problems, fmt.Sprintf("%s%s: %s", d.File, of, strings.Join(d.Why, "; ")))
	}
	c.Intact, c.Damaged = snapshotNames(found.Intact), snapshotNames(found.Damaged)
	if len(found.Damage) > 0 {
		c.Note = restoreAdvice(c, loop)
	}
	c.OK = len(c.Problems) == 0
	return c, append(found.Intact, found.Damaged...), nil
}

// restoreAdvice says which snapshots can still be restored, and with which command.
func restoreAdvice(c Check, loop string) string {
	switch {
	case len(c.Damaged) == 0:
		return "every snapshot is intact nevertheless"
	case len(c.Intact) == 0:
		return "no snapshot is intact: restore from a backup, or from git"
	}
	last := c.Intact[len(c.Intact)-1]
	return fmt.Sprintf("damaged: %s; still intact: %s; to get one: supervise rollback %s %s", strings.Join(c.Damaged, ", "), strings.Join(c.Intact, ", "), loop, last)
}

// snapshotNames returns the names of snapshots as users see them, as in "s12".
func snapshotNames(ids []snapshot.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.Name()
	}
	return out
}
