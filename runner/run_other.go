//go:build !linux && !darwin

package runner

import (
	"context"

	"supervise/runner/internal/proc"
)

func run(context.Context, Command) (Result, error) {
	return Result{ExitCode: -1}, proc.ErrUnsupported
}

// serveShim is never called, since Run starts no shim on this system.
func serveShim() int { return 2 }

// Size returns the size that the child's terminal has, in characters.
func (t *Terminal) Size() (cols, rows uint16) {
	if t.Cols != 0 && t.Rows != 0 {
		return t.Cols, t.Rows
	}
	return DefaultCols, DefaultRows
}
