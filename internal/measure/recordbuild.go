package measure

import (
	"crypto/sha256"
	"encoding/hex"
	"path"

	"supervise/internal/projectfile"
)

// recordBuild notes whether a build succeeded. One that leaves nothing may run at any
// time.
func (m *measurement) recordBuild(r *Run) {
	if r.Check.DiscardsOutput() {
		return
	}
	dir := r.Check.Dir
	switch before, is := m.builds[dir]; {
	case r.ExitCode != 0:
		m.builds[dir] = ""
	case !is:
		m.builds[dir] = r.Check.Name
	case before != "":
		m.builds[dir] = before + " and " + r.Check.Name
	}
}

// coveredByBuild reports whether a successful build ran the check too, which found
// nothing. The tree defines what a build runs, so it must still be what the plan knows.
func (m *measurement) coveredByBuild(c Check) bool {
	if c.CoveredByBuild == "" || m.builds[c.Dir] == "" {
		return false
	}
	tree, err := projectfile.Open(m.plan.Root)
	if err != nil {
		return false
	}
	defer tree.Close()
	text, err := tree.Read(path.Join(c.Dir, "package.json"), projectfile.Manifest)
	sum := sha256.Sum256(text)
	return err == nil && hex.EncodeToString(sum[:]) == c.CoveredByBuild
}
