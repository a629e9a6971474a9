package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// CheckReadOnly returns nil where [Command].ReadOnly keeps a child from changing a folder,
// else what the system lacks: it tries with a shell. Containers and some distributions
// forbid the namespaces that it needs.
func CheckReadOnly(ctx context.Context, folder string) error {
	var printed bytes.Buffer
	res, err := Run(ctx, Command{
		Args: []string{"/bin/sh", "-c", `mkdir "$0/supervise-sealed" 2>/dev/null && rmdir "$0/supervise-sealed" && echo open`, folder}, Dir: "/",
		Env: os.Environ(), Stdout: &printed, Stderr: &printed, NoCgroup: true, ReadOnly: []string{folder}, Timeout: 10 * time.Second,
	})
	switch {
	case err != nil:
		return fmt.Errorf("no mount namespace: %w", err)
	case res.ExitCode == 0 || printed.Len() > 0:
		return fmt.Errorf("a mount namespace does not keep %s: %s", folder, strings.TrimSpace(printed.String()))
	}
	return nil
}
