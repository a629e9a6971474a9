package measure

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/measure/internal/listing"
	"supervise/internal/measure/internal/memory"
	"supervise/internal/measure/internal/read"
	"supervise/internal/measure/internal/reportfile"
	"supervise/internal/projectfile"
	"supervise/internal/regexp"
	"supervise/metric"
)

// integrationClassRE matches the classes that failsafe runs as integration tests by default, such
// as OrderIT.
var integrationClassRE = regexp.MustCompile(`^(IT.*|.*IT|.*ITCase)$`)

// jvmSourceRE matches the extension of a source file for the JVM: the .kt of OrderIT.kt.
var jvmSourceRE = regexp.MustCompile(`\.(java|kt|groovy|scala)$`)

// deferTests returns the plan of an iteration: detected checks run without their integration
// tests if those passed before and their files are unchanged.
func (m *Meter) deferTests(known *metric.Tests) Plan {
	p := m.plan
	if !p.Recognised || known == nil {
		return p
	}
	p.Checks = slices.Clone(p.Checks)
	for i, c := range p.Checks {
		if deferred, learnt := m.memory.Deferred[c.ID()]; learnt && defersTests(c) && !deferred.Needed && allPassed(deferred.Suites, known) && deferred.Files == m.deferredDigest(c, deferred.Suites) {
			p.Checks[i] = withoutIntegrationTests(c)
			if !deferred.Proven {
				p.Checks[i].Fallback = &c
			}
		}
	}
	return p
}

// defersTests reports whether the check has integration tests that can be deferred. A check
// with coverage has none, since its sum could not be compared without them.
func defersTests(c Check) bool {
	return c.Kind == Test && c.Runner == "maven" && !c.Coverage && slices.Contains(c.Command, "verify") && slices.ContainsFunc(c.Reports, read.IsIntegrationReport)
}

// withoutIntegrationTests returns the check without its integration tests.
func withoutIntegrationTests(c Check) Check {
	c.PlannedID, c.UnitOnly = c.ID(), true
	c.Command = slices.Clone(c.Command)
	c.Command[slices.Index(c.Command, "verify")] = "test"
	c.Reports = slices.DeleteFunc(slices.Clone(c.Reports), read.IsIntegrationReport)
	return c
}

// allPassed reports whether all tests of the suites passed or were skipped. Failing tests run
// in every iteration, since the agent may be fixing them.
func allPassed(suites []string, known *metric.Tests) bool {
	return len(suites) > 0 && !slices.ContainsFunc(known.Cases, func(t metric.Test) bool {
		return t.Status != metric.Passed && t.Status != metric.Skipped && slices.Contains(suites, t.Suite)
	})
}

// mergeDeferred adds the earlier results of the tests that a successful run deferred. From a
// complete run it learns which tests can be deferred.
func (m *measurement) mergeDeferred(run *Run, known *metric.Tests) {
	id := run.Check.ID()
	switch {
	case run.State != metric.Measured || run.Tests == nil || run.ExitCode != 0:
	case !run.Check.UnitOnly && len(run.Deferred) > 0:
		suites := slices.Sorted(maps.Keys(run.Deferred))
		m.memory.Deferred[id] = memory.DeferredTests{Suites: suites, Files: m.deferredDigest(run.Check, suites), Proven: m.memory.Deferred[id].Proven, Needed: m.memory.Deferred[id].Needed || run.IsFallback}
	case run.Check.UnitOnly:
		deferred := m.memory.Deferred[id]
		cases := slices.Clone(run.Tests.Cases)
		for _, t := range known.Cases {
			if slices.Contains(deferred.Suites, t.Suite) {
				t.Cached = true
				cases = append(cases, t)
			}
		}
		tests := *run.Tests
		tests.Cases = metric.NewTests(cases).Cases
		run.Tests = &tests
		deferred.Proven = true
		m.memory.Deferred[id] = deferred
	}
}

// deferredDigest returns a digest of the poms and the files of integration tests: those named
// like one of the suites, or like an integration test of failsafe. It is "" if a file cannot
// be read.
func (m *Meter) deferredDigest(c Check, suites []string) string {
	names := map[string]bool{}
	for _, s := range suites {
		names[listing.LastWord(s)] = true
	}

	tree, err := projectfile.Open(m.plan.Root)
	if err != nil {
		return ""
	}
	defer tree.Close()
	sum := sha256.New()
	err = filepath.WalkDir(m.plan.Dir(c), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() && path != m.plan.Dir(c) && (base == "target" || base == "node_modules" || strings.HasPrefix(base, ".")) {
			return fs.SkipDir
		}
		class := jvmSourceRE.ReplaceAllString(base, "")
		if d.Type().IsRegular() && (base == "pom.xml" || class != base && (names[class] || integrationClassRE.MatchString(class))) {
			return hashFile(sum, tree, reportfile.RelativePath(m.plan.Root, path))
		}
		return nil
	})
	if err != nil {
		return "" // the files may differ
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// hashFile adds a file to a digest.
func hashFile(sum io.Writer, tree *projectfile.Tree, name string) error {
	text, err := tree.Read(name, projectfile.Source)
	if err == nil {
		_, err = fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return err
}
