package event

import (
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// KilledLoop is a loop that was killed, or one whose rollback was killed.
type KilledLoop struct {
	LoopID string           `json:"loop_id"`
	Trees  RecoverableTrees `json:"trees"`
}

// KilledLoops lists the loops of a tree that were killed, or whose rollback was killed. Crashes
// that an earlier loop has already reported are left out, except that of the loop id.
func KilledLoops(home, root, id string) (out []KilledLoop, err error) {
	loops, err := ledger.ListLoops(home, root)
	for _, s := range loops {
		dir := ledger.LoopDir(home, s.LoopID)
		unfinished := snapshot.ReadUnfinished(ledger.SnapshotDir(dir))
		isRequested := s.Status == ledger.Crashed && s.LoopID == id
		if !s.IsUnnoticedCrash() && unfinished == nil && !isRequested {
			continue
		}
		k := KilledLoop{LoopID: s.LoopID}
		if s.Status == ledger.Crashed {
			position := NewPosition()
			if _, err := ledger.ReadLog(dir, position.Apply); err != nil {
				return nil, err
			}
			k.Trees = position.Trees()
		}
		if unfinished != nil {
			k.Trees.Kept = unfinished.Safety.Name()
		}
		out = append(out, k)
	}
	return out, err
}
