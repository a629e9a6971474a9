package event

import (
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// KilledLoop is a loop that was killed, or of which a rollback was.
type KilledLoop struct {
	LoopID string           `json:"loop_id"`
	Trees  RecoverableTrees `json:"trees"`
}

// KilledLoops lists the loops of a tree that were killed and not noticed yet, or of which a
// rollback was, and the given one also if it was noticed.
func KilledLoops(home, root, id string) (out []KilledLoop, err error) {
	loops, err := ledger.ListLoops(home, root)
	for _, s := range loops {
		dir := ledger.LoopDir(home, s.LoopID)
		half := snapshot.ReadUnfinished(ledger.SnapshotDir(dir))
		if !s.IsUnnoticedCrash() && half == nil && (s.Status != ledger.Crashed || s.LoopID != id) {
			continue
		}
		k := KilledLoop{LoopID: s.LoopID}
		if s.Status == ledger.Crashed {
			at := NewPosition()
			if _, err := ledger.ReadLog(dir, at.Apply); err != nil {
				return nil, err
			}
			k.Trees = at.Trees()
		}
		if half != nil {
			k.Trees.Kept = half.Safety.Name()
		}
		out = append(out, k)
	}
	return out, err
}
