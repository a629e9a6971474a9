package measure

import (
	"crypto/sha256"
	"encoding/hex"
	"path"

	"supervise/internal/projectfile"
)

// recordBuild records whether a build succeeded. A build that discards its output is ignored,
// since it may run at any time.
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

// coveredByBuild reports whether a successful build already ran the check, without findings.
// The package.json that defines the build must be unchanged since the plan was made.
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
