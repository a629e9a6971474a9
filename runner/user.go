package runner

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"

	"supervise/internal/regexp"
)

// User is another user that a child can run as.
type User struct {
	Name, Home string
	UID, GID   uint32
	Groups     []uint32 // the supplementary groups
}

// ErrNotRoot says that only root may run a child as another user.
var ErrNotRoot = errors.New("only root may run a program as another user: start supervise as root (sudo)")

// LookupUser returns the user with a name or a number. The error wraps [ErrNotRoot], or says
// that the system does not support it or that there is no such user.
func LookupUser(name string) (User, error) {
	if err := checkSwitchUser(); err != nil {
		return User{}, err
	}
	found, err := user.Lookup(name)
	if _, number := strconv.ParseUint(name, 10, 32); err != nil && number == nil {
		found, err = user.LookupId(name)
	}
	if err != nil {
		return User{}, fmt.Errorf("there is no user %s: %w; make one (useradd), or name another", name, err)
	}
	groups, err := found.GroupIds()
	if err != nil {
		return User{}, fmt.Errorf("list the groups of %s: %w", name, err)
	}
	out := User{Name: found.Username, Home: found.HomeDir}
	if out.UID, err = parseID(found.Uid); err == nil {
		out.GID, err = parseID(found.Gid)
	}
	for _, g := range groups {
		n, wrong := parseID(g)
		out.Groups, err = append(out.Groups, n), errors.Join(err, wrong)
	}
	if err != nil {
		return User{}, fmt.Errorf("read the user %s: %w", name, err)
	}
	if out.UID == 0 {
		return User{}, fmt.Errorf("%s is root: name a user without root's rights", name)
	}
	return out, nil
}

// parseID reads the number of a user or group.
func parseID(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err
}

// otherUserVarsRE matches the variables that name a user or folders of a user, like HOME=/root
// and XDG_CACHE_HOME=/root/.cache.
var otherUserVarsRE = regexp.MustCompile(`^(HOME|USER|LOGNAME|MAIL|XDG_\w+|SUDO_\w+)=`)

// Environ returns an environment with the name and home folder of the user, and without
// another user's folders for configuration and caches.
func (u User) Environ(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), otherUserVarsRE.MatchString)
	return append(out, "HOME="+u.Home, "USER="+u.Name, "LOGNAME="+u.Name)
}

// WriteFiles writes files, by name, to a new temporary folder that belongs to the user, and
// returns the folder. The caller removes it.
func (u User) WriteFiles(files map[string]string) (dir string, err error) {
	dir, err = os.MkdirTemp("", "supervise-")
	if err != nil {
		return "", fmt.Errorf("hand files to %s: %w", u.Name, err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err = os.WriteFile(path, []byte(text), 0o600); err == nil {
			err = os.Lchown(path, int(u.UID), int(u.GID))
		}
		if err != nil {
			return "", errors.Join(fmt.Errorf("hand %s to %s: %w", name, u.Name, err), os.RemoveAll(dir))
		}
	}
	if err := os.Lchown(dir, int(u.UID), int(u.GID)); err != nil {
		return "", errors.Join(fmt.Errorf("hand files to %s: %w", u.Name, err), os.RemoveAll(dir))
	}
	return dir, nil
}
