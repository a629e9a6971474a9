package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"supervise/runner/internal/gateway"
	"supervise/runner/internal/mountns"
)

// Sandbox is the view of the machine that a child and its descendants have. Paths outside
// of the mounts are read-only. /dev and /proc are replaced, and root loses the capabilities
// to revert that.
type Sandbox struct {
	Mounts []Mount
	// Network, unless nil, gives the child a separate network that has only a loopback
	// device and a proxy (see [Network.Environ]) to the hosts.
	Network *Network
}

// Mount is the content that a child sees at a path.
type Mount = mountns.Mount

// Network lists the hosts that a child can reach: names or addresses, with a port or for
// the ports 80 and 443. *.NAME means all hosts of a domain. localhost:PORT is also
// available on the child's own loopback device.
type Network struct {
	Hosts []string `json:",omitempty"`
}

// Environ returns the variables by which programs find the proxy.
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

// CheckSandbox starts a shell in the sandbox, and returns an error if the system cannot do
// that.
func CheckSandbox(ctx context.Context, s Sandbox) error {
	res, printed, err := probe(ctx, Command{Args: []string{"/bin/sh", "-c", "exit 0"}, Sandbox: &s})
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("status %d: %s", res.ExitCode, printed)
	}
	return err
}

// CheckReadOnly starts a shell with [Command].ReadOnly, and returns an error if that does
// not protect the folder. Containers and some distributions forbid the necessary
// namespaces.
func CheckReadOnly(ctx context.Context, folder string) error {
	const script = `mkdir "$0/supervise-sealed" 2>/dev/null && rmdir "$0/supervise-sealed" && echo open`
	res, printed, err := probe(ctx, Command{Args: []string{"/bin/sh", "-c", script, folder}, ReadOnly: []string{folder}})
	switch {
	case err != nil:
		return fmt.Errorf("no mount namespace: %w", err)
	case res.ExitCode == 0 || printed != "":
		return fmt.Errorf("a mount namespace does not protect %s: %s", folder, strings.TrimSpace(printed))
	}
	return nil
}

// probe runs a short command, and returns what it printed.
func probe(ctx context.Context, c Command) (res Result, printed string, err error) {
	var out bytes.Buffer
	c.Dir, c.Env, c.NoCgroup, c.Timeout = "/", os.Environ(), true, 10*time.Second
	c.Stdout, c.Stderr = &out, &out
	res, err = Run(ctx, c)
	return res, out.String(), err
}
