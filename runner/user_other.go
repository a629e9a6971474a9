//go:build !linux && !darwin

package runner

import (
	"context"
	"errors"
)

var errNoUsers = errors.New("this system cannot run a program as another user: use Linux or macOS")

func checkSwitchUser() error { return errNoUsers }

// CanAccess reports whether the user can read, write or enter a file or folder.
func (u User) CanAccess(context.Context, string) (bool, error) { return false, errNoUsers }

// CanWriteIn reports whether the user can enter a folder and create files there.
func (u User) CanWriteIn(context.Context, string) (bool, error) { return false, errNoUsers }

// FindForeignFile returns the first file or folder in a tree that does not belong to the user.
func (u User) FindForeignFile(string) (string, error) { return "", errNoUsers }

// Chown changes the owner of everything in a tree from root to the user.
func (u User) Chown(string) error { return errNoUsers }
