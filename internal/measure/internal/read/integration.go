package read

import (
	"path/filepath"
	"strings"

	"supervise/metric"
)

// failsafeDir is the folder of the reports of integration tests.
const failsafeDir = "/failsafe-reports/"

// IsIntegrationReport reports whether a report contains integration tests.
func IsIntegrationReport(report string) bool {
	return strings.Contains(filepath.ToSlash(report), failsafeDir)
}

// recordIntegrationSuites records the suites of a report of integration tests.
func (r *reportReader) recordIntegrationSuites(report string, t *metric.Tests) {
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
