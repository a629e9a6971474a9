package measure

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/measure/internal/reportfile"
)

// RemoveReport deletes the file at the absolute path, which must be the report of a check (see
// [Meter.IsReport]). Within the tree it does not follow links that leave the tree. It is an
// error if the path is no such report, is a folder, or is outside the tree although its check
// names it relative to the tree. A missing file is no error.
func (m *Meter) RemoveReport(path string) error {
	pattern, ok := m.reportPattern(path)
	if !ok {
		return fmt.Errorf("remove report %s: no check names it as its report", path)
	}
	if err := reportfile.Delete(m.plan.Root, pattern, path); err != nil {
		return fmt.Errorf("remove report %s: %w", path, err)
	}
	return nil
}

// IsReport reports whether a check names the file at the absolute path as its
// report.
func (m *Meter) IsReport(path string) bool {
	_, ok := m.reportPattern(path)
	return ok
}

// reportPattern returns the pattern by which a check names the file as its report.
func (m *Meter) reportPattern(path string) (string, bool) {
	for _, c := range m.plan.Checks {
		for _, pattern := range c.Reports {
			if !strings.Contains(pattern, ReportDir) && slices.Contains(reportfile.Glob(m.plan.Dir(c), pattern), path) {
				return pattern, true
			}
		}
	}
	return "", false
}
