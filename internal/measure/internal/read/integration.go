package read

import (
	"path/filepath"
	"strings"

	"supervise/metric"
)

// failsafe is the folder of the reports of integration tests.
const failsafe = "/failsafe-reports/"

// IsIntegrationReport reports whether a report is of integration tests.
func IsIntegrationReport(report string) bool {
	return strings.Contains(filepath.ToSlash(report), failsafe)
}

// integration notes the suites of a report of integration tests.
func (r *reading) integration(report string, t *metric.Tests) {
	if !IsIntegrationReport(report) {
		return
	}
	if r.run.Deferred == nil {
		r.run.Deferred = map[string]bool{}
	}
	for _, c := range t.Cases {
		r.run.Deferred[c.Suite] = true
	}
}
