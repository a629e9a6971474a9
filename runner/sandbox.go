package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"supervise/runner/internal/gateway"
	"supervise/runner/internal/mountns"
)

// Sandbox is what a child and its descendants see of the machine. All that is not among
// the places can only be read. /dev and /proc are made fit for it, and root loses the
// rights to undo any of it.
type Sandbox struct {
	Mounts []Mount
	// Network, unless nil, leaves the child a network with nothing but a loopback of its
	// own, where a proxy (see [Sandbox.Environ]) passes on what goes to the hosts.
	Network *Network
}

// Mount is what a child sees at a path.
type Mount = mountns.Mount

// Network is what a child can reach. Hosts are names or addresses, which mean the ports 80
// and 443, or have a port; *.NAME means all in its domain. localhost:PORT is also found on
// the child's own loopback.
type Network struct {
	Hosts []string `json:",omitempty"`
}

// Environ are the variables by which programs find the proxy.
func (n *Network) Environ() []string {
	if n == nil {
		return nil
	}
	const proxy, direct = "http://127.0.0.1:" + gateway.Port, "localhost,127.0.0.1,::1"
	return []string{
		"HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy, "http_proxy=" + proxy, "https_proxy=" + proxy, "NO_PROXY=" + direct, "no_proxy=" + direct,
		"NODE_USE_ENV_PROXY=1",
	}
}

// CheckSandbox returns nil where a child can be kept in a sandbox, else what the system
// lacks: it tries with a shell.
func CheckSandbox(ctx context.Context, s Sandbox) error {
	var printed bytes.Buffer
	res, err := Run(ctx, Command{
		Args: []string{"/bin/sh", "-c", "exit 0"}, Dir: "/", Env: os.Environ(), Stdout: &printed, Stderr: &printed, NoCgroup: true, Sandbox: &s, Timeout: 10 * time.Second,
	})
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("status %d: %s", res.ExitCode, printed.String())
	}
	return err
}
