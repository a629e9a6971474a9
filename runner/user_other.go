//go:build !linux && !darwin

package runner

import (
	"context"
	"errors"
)

var errNoUsers = errors.New("this system cannot run a program as another user: use Linux or macOS")

func canSwitch() error { return errNoUsers }

// Reaches reports whether the user can read, write or enter a file or folder.
func (u User) Reaches(context.Context, string) (bool, error) { return false, errNoUsers }

// WritesIn reports whether the user can come to a folder, and make files there.
func (u User) WritesIn(context.Context, string) (bool, error) { return false, errNoUsers }

// Foreign returns the first file or folder in a tree that does not belong to the user.
func (u User) Foreign(string) (string, error) { return "", errNoUsers }

// Give has everything in a tree belong to the user that belongs to root.
func (u User) Give(string) error { return errNoUsers }
