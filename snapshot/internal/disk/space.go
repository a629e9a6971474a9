package disk

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrNoSpace is returned if a snapshot would leave less than Options.MinFree of the disk free, or if the disk is full. No
// snapshot was made then, and no partial data remains.
var ErrNoSpace = errors.New("not enough free disk space")

// The minimum free disk space if Options.MinFree is zero: the larger of the two.
const (
	DefaultMinFree = 512 << 20
	MinFreePercent = 2
)

// SpaceStep is the number of written bytes after which the free space is checked again.
const SpaceStep = 4 << 20

// Space checks the free space of a disk while a pack is written.
type Space struct {
	Dir       string
	Keep      int64 // bytes to keep free; 0: the default, negative: no limit
	nextCheck int64 // length of the pack at the next check
}

// Check returns ErrNoSpace if a pack of the given length would leave too little free space.
func (s *Space) Check(length int64) error {
	if s == nil || s.Keep < 0 || length < s.nextCheck {
		return nil
	}
	free, total, err := FreeSpace(s.Dir)
	if err != nil {
		return nil //nolint:nilerr // a full disk causes an error later
	}
	keep := s.Keep
	if keep == 0 {
		keep = max(DefaultMinFree, total/100*MinFreePercent)
	}
	if free < keep {
		return fmt.Errorf("%w in %s: %s free, and %s must stay free; free some space, keep the state on another disk (--state-dir), or lower snapshot.min_free_mb",
			ErrNoSpace, s.Dir, megabytes(free), megabytes(keep))
	}
	s.nextCheck = length + min(SpaceStep, free-keep)
	return nil
}

// megabytes formats a size, rounded down.
func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }

// ExplainFull adds the path and the remedy to errors of a full disk.
func ExplainFull(err error, dir string) error {
	if err == nil || errors.Is(err, ErrNoSpace) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w in %s: %w; free some space, or keep the state on another disk (--state-dir)", ErrNoSpace, dir, err)
	}
	return err
}
