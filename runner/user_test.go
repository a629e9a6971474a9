//go:build linux || darwin

package runner

import (
	"errors"
	"os"
	"slices"
	"testing"
)

func TestUserNamed(t *testing.T) {
	if os.Geteuid() != 0 {
		if _, err := LookupUser("nobody"); !errors.Is(err, ErrNotRoot) {
			t.Errorf("%v, want %v", err, ErrNotRoot)
		}
		t.Skip("not tested here: only root can run a child as another user")
	}
	for name, want := range map[string]string{
		"no such user": "there is no user no such user: user: unknown user no such user; make one (useradd), or name another",
		"root":         "root is root: name a user without root's rights",
		"0":            "0 is root: name a user without root's rights",
	} {
		if _, err := LookupUser(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestUserEnviron(t *testing.T) {
	u := User{Name: "agent", Home: "/home/agent"}
	got := u.Environ([]string{"PATH=/bin", "HOME=/root", "XDG_STATE_HOME=/root/s", "SUDO_UID=1", "HOMER=x", "USER=root"})
	if want := []string{"PATH=/bin", "HOMER=x", "HOME=/home/agent", "USER=agent", "LOGNAME=agent"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
