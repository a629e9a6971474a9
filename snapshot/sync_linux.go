package snapshot

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// syncsTrees tells that syncTree makes all written files durable at once.
const syncsTrees = true

func syncTree(root *os.Root) error {
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
