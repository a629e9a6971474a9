package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"supervise/internal/config"
	"supervise/internal/ledger"
)

// place is where a command works.
type place struct {
	here    string // the folder the user is in: the agent runs there
	project string // the nearest folder, upwards, with a configuration or a known project: the checks run there
	root    string // the working tree: the top of the git checkout, else the project
}

// place finds out where the user is.
func (a *app) place(ctx context.Context) (place, error) {
	here, err := filepath.Abs(a.dir)
	if err != nil {
		return place{}, fmt.Errorf("find the working tree: %w", err)
	}
	if here, err = filepath.EvalSymlinks(here); errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w; if it was deleted, make an empty folder there: supervise rollback fills it again", err)
	}
	if err != nil {
		return place{}, usageError{fmt.Errorf("find the working tree: %w", err)}
	}
	top := topLevel(ctx, here)
	p := place{here: here, project: here, root: top}
	for dir := here; ; dir = filepath.Dir(dir) {
		if config.Is(dir) {
			p.project = dir
			break
		}
		if dir == top || dir == filepath.Dir(dir) || top == "" {
			break
		}
	}
	if p.root == "" {
		p.root = p.project
	}
	return p, nil
}

// home returns the folder of the loops in root.
func (a *app) home(root string) (string, error) {
	if a.state != "" {
		if filepath.IsAbs(a.state) {
			return filepath.Clean(a.state), nil
		}
		return filepath.Join(root, a.state), nil
	}
	base, err := ledger.DefaultBase(os.Getenv)
	if err != nil {
		return "", err
	}
	return ledger.Home(base, root), nil
}

// settings loads the configuration of the working tree.
func (a *app) settings(dir string) (config.Settings, error) {
	if a.config != "" {
		return config.Load(a.config, true)
	}
	return config.Load(config.Path(dir), false)
}
