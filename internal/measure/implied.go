package measure

import (
	"crypto/sha256"
	"encoding/hex"
	"path"

	"supervise/internal/projectfile"
)

// stands notes how a build ended. One that leaves nothing may run at any time.
func (m *Meter) stands(r *Run) {
	if m.stood == nil || r.Check.toNowhere() {
		return
	}
	dir := r.Check.Dir
	switch before, is := m.stood[dir]; {
	case r.ExitCode != 0:
		m.stood[dir] = ""
	case !is:
		m.stood[dir] = r.Check.Name
	case before != "":
		m.stood[dir] = before + " and " + r.Check.Name
	}
}

// implied reports whether a build that succeeded ran the check too, which found nothing.
// What a build runs is written in the tree, so that has to be what the plan knows.
func (m *Meter) implied(c Check) bool {
	if c.Implied == "" || m.stood[c.Dir] == "" {
		return false
	}
	tree, err := projectfile.Open(m.plan.Root)
	if err != nil {
		return false
	}
	defer tree.Close()
	text, err := tree.Read(path.Join(c.Dir, "package.json"), projectfile.Manifest)
	sum := sha256.Sum256(text)
	return err == nil && hex.EncodeToString(sum[:]) == c.Implied
}
