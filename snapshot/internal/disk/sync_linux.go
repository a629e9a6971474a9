package disk

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// SyncsTrees tells that SyncTree makes all written files durable at once.
const SyncsTrees = true

// SyncTree makes durable what was written below root, where SyncsTrees is set.
func SyncTree(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("sync working tree: %w", err)
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return fmt.Errorf("sync working tree: %w", err)
	}
	return nil
}
