package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
)

func newDev(a *app) *cobra.Command {
	var o workerOptions
	var server, data string
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Start a server and a worker on this machine, for a try",
		Long: `Start a Temporal server and a worker on this machine, for a try, until interrupted.

The server is a separate program, supervise-fleet-server, and keeps its data in a file.
It listens on this machine only and does not authenticate anyone: for more than a try, use
a real Temporal server.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.dev(cmd.Context(), o, server, data)
		},
	}
	o.register(cmd)
	cmd.Flags().StringVar(&server, "server", "", "the `program` (default: supervise-fleet-server next to this one, or in PATH)")
	cmd.Flags().StringVar(&data, "data", "", "`file` of the server (default in your cache folder)")
	return cmd
}

func (a *app) dev(ctx context.Context, o workerOptions, server, data string) error {
	program, err := findProgram(server, "supervise-fleet-server")
	if err != nil {
		return fmt.Errorf("%w: (cd fleet/devserver && go build -o ../../bin/supervise-fleet-server .) builds it, once, in some minutes", err)
	}
	if data == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		data = filepath.Join(base, "supervise", "fleet", "server.db")
	}
	if err := os.MkdirAll(filepath.Dir(data), 0o700); err != nil {
		return err
	}
	if a.address == "" {
		a.address = client.DefaultHostPort
	}
	log, err := os.OpenFile(data+".log", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(serving, program, "--address", a.address, "--data", data)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = log, log, 10*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	c, err := a.await(ctx, ended)
	if err != nil {
		return fmt.Errorf("%w (the server's log is %s)", err, log.Name())
	}
	defer c.Close()
	fmt.Fprintf(a.err, "a Temporal server for a try is at %s; its data is %s\n", a.address, data)
	err = a.work(ctx, c, o)
	stop()
	return errors.Join(err, stopped(<-ended))
}

// stopped is the error of the server that was asked to stop.
func stopped(err error) error {
	if _, is := errors.AsType[*exec.ExitError](err); is || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// await connects as soon as the server answers.
func (a *app) await(ctx context.Context, ended chan error) (client.Client, error) {
	limit, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	said := a.err
	a.err = io.Discard
	defer func() { a.err = said }()
	for {
		c, err := a.dial()
		if err == nil {
			return c, nil
		}
		select {
		case <-ticker.C:
		case why := <-ended:
			return nil, fmt.Errorf("the server has ended: %w", why)
		case <-limit.Done():
			return nil, err
		}
	}
}
