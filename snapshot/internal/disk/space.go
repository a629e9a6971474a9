package disk

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrNoSpace is returned when a snapshot would leave less than Options.MinFree of the disk, or when the disk is full. No
// snapshot was made then, and nothing of it is left behind.
var ErrNoSpace = errors.New("not enough free disk space")

// The least that stays free of the disk if Options.MinFree is zero: the larger of the two.
const (
	DefaultMinFree = 512 << 20
	MinFreePercent = 2
)

// SpaceStep is after how many bytes written the disk is looked at again.
const SpaceStep = 4 << 20

// Space watches the free space of a disk while a pack is written.
type Space struct {
	Dir       string
	Keep      int64 // bytes that stay free; 0: the default, negative: none
	nextCheck int64 // length of the pack at which to look again
}

// Check refuses to make the pack off bytes long if that left too little.
func (s *Space) Check(length int64) error {
	if s == nil || s.Keep < 0 || length < s.nextCheck {
		return nil
	}
	free, total, err := FreeSpace(s.Dir)
	if err != nil {
		return nil //nolint:nilerr // a full disk will tell by itself
	}
	keep := s.Keep
	if keep == 0 {
		keep = max(DefaultMinFree, total/100*MinFreePercent)
	}
	if free < keep {
		return fmt.Errorf("%w in %s: %s free, and %s are to stay free; make room, keep the state on another disk (--state-dir), or lower snapshot.min_free_mb",
			ErrNoSpace, s.Dir, megabytes(free), megabytes(keep))
	}
	s.nextCheck = length + min(SpaceStep, free-keep)
	return nil
}

// megabytes is a size for people, rounded down.
func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }

// ExplainFull adds to errors of a full disk which one it is, and the remedy.
func ExplainFull(err error, dir string) error {
	if err == nil || errors.Is(err, ErrNoSpace) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w in %s: %w; make room, or keep the state on another disk (--state-dir)", ErrNoSpace, dir, err)
	}
	return err
}
