package configuration

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
)

// floorKeyRE matches the keys of limits below which a value must not fall, such as failunder. The
// keys that ceilingKeyRE matches are limits above which one must not rise, such as maxwarnings, and
// those of softCeilingKeyRE are limits of single rules of linters, such as maxcomplexity. percentRE
// matches the value of a limit, such as 80 or 80%.
var (
	floorKeyRE = regexp.MustCompile(`(^|\.)(failunder\w*|covfailunder|minimumcoverage(\.\w+)*|minimumcoveragebyfile(\.\w+)*|mincoverage|coveragethresholds?(\.[^.]+)*|flag\.coverage\.\w*|coverageminimum\w*|minmsi|mincoveredmsi|coveragefailthreshold|requiredcoverage|(simplecov\.)?minimumcoverage\w*|mutationthreshold|coveragemin\w*|min\w*coverage\w*|coveragelimit|\w*coveragethreshold\w*|testcoverage\.summary\.threshold|coverageoptions\.minimumcoverage)$|(^|\.)thresholds?(\.[^.]+)*\.(branches|functions|lines|statements|break|low|high|file|package|total)$`)
	// bareFloorKeyRE matches names that are limits of the coverage if the file or the rest of the
	// key is about coverage, which coverageRE decides.
	bareFloorKeyRE   = regexp.MustCompile(`(^|\.)(threshold|minimum|target|lines|branches|functions|statements|min|watermarks\.\w+|level)$`)
	coverageRE       = regexp.MustCompile(`(?i)cov|jacoco|nyc|c8|kover|simplecov|summary|` + framework.NodeSettings[len(`(?i)`):] + `|msi|proj$|\.props$`)
	ceilingKeyRE     = regexp.MustCompile(`(^|\.)(\w*maxwarnings|maxissues|maxallowedviolations|maxerrors|maxallowed\w*|maximumallowed\w+|failurethreshold\w*|errorthreshold|maxfailures|failatviolations|allowedviolations|warningsasserrorsthreshold)$`)
	softCeilingKeyRE = regexp.MustCompile(`(^|\.|\])(maxcomplexity|mccabe\.maxcomplexity|cyclop\.maxcomplexity|complexity|gocyclo\.mincomplexity|errorlevel|funlen\.(lines|statements)|maxstatements|maxbranches|cognitivecomplexitythreshold|cyclomaticcomplexity\.max)$`)
	percentRE        = regexp.MustCompile(`^\s*(\d+(?:\.\d+)?)\s*%?\s*$`)
)

// limitKind is what kind of a limit a setting is.
type limitKind uint8

const (
	noLimit limitKind = iota
	floor
	ceiling
	softCeiling // of a linter: how much is tolerated
)

// limitKindOf returns what kind of a limit a setting is, going by its key and the tool that reads
// it.
func limitKindOf(tool, key string) limitKind {
	if strings.Contains(tool, "codecov") && strings.HasSuffix(key, ".threshold") {
		return ceiling // how far the coverage may fall
	}
	switch {
	case strings.HasSuffix(key, "maxwarnings"), ceilingKeyRE.MatchString(key):
		return ceiling
	case softCeilingKeyRE.MatchString(key):
		return softCeiling
	case floorKeyRE.MatchString(key):
		return floor
	case bareFloorKeyRE.MatchString(key):
		// The level of phpstan is how strict it is.
		if strings.HasSuffix(key, "level") && strings.Contains(tool, "phpstan") {
			return floor
		}
		if !strings.HasSuffix(key, "level") && (coverageRE.MatchString(tool) || coverageRE.MatchString(key)) {
			return floor
		}
	}
	return noLimit
}

// limit is a limit with its number.
type limit struct {
	configtext.Setting
	kind   limitKind
	number float64
}

// findLimits returns the limits among the settings of a tool, by their keys.
func findLimits(tool string, list []configtext.Setting) map[string][]limit {
	out := map[string][]limit{}
	for _, s := range list {
		kind := limitKindOf(tool, s.Key)
		if kind == noLimit {
			continue
		}
		m := percentRE.FindStringSubmatch(s.Value)
		if m == nil {
			continue
		}
		if n, err := strconv.ParseFloat(m[1], 64); err == nil {
			out[s.Key] = append(out[s.Key], limit{s, kind, n})
		}
	}
	return out
}

// isLooserThan reports whether a limit allows more than another of the same kind.
func (b limit) isLooserThan(other limit) bool {
	if b.kind == floor {
		return b.number < other.number
	}
	return b.number > other.number
}

// limitChange is a limit before the change, and the one in its place after it; nil if it is gone.
type limitChange struct {
	before limit
	after  *limit
}

// isLooser reports whether the limit is still there and allows more than before.
func (l limitChange) isLooser() bool { return l.after != nil && l.after.isLooserThan(l.before) }

// limitChanges returns the limits that a file had, by their keys, and what became of them.
func limitChanges(f *facts.ConfigFile) []limitChange {
	var out []limitChange
	before, after := findLimits(configtext.ToolName(f.Before().Path), f.OldConfig.Settings), findLimits(configtext.ToolName(f.Path), f.NewConfig.Settings)
	for _, key := range slices.Sorted(maps.Keys(before)) {
		for i, old := range before[key] {
			l := limitChange{before: old}
			if i < len(after[key]) {
				l.after = &after[key][i]
			}
			out = append(out, l)
		}
	}
	return out
}

// finding returns the finding about a limit that is still there.
func (l limitChange) finding(f *facts.ConfigFile) facts.Finding {
	return f.NewFinding(l.after.Line, l.before.Key+": "+l.before.Value+" → "+l.after.Value)
}

// findLoweredLimits finds limits whose number allows more than before under the same key,
// and limits that are gone and nowhere else.
func findLoweredLimits(c *facts.Change, f *facts.ConfigFile, report facts.Report) {
	for _, l := range limitChanges(f) {
		switch {
		case l.before.kind == softCeiling:
		case l.isLooser():
			report(l.finding(f))
		case l.after == nil:
			reportRemovedLimit(c, f, l.before, report)
		}
	}
}

// reportRemovedLimit reports a limit that is gone. It looks for the limit in the other files, and
// under other keys with the same last name. Nothing is reported if a limit that is as strict exists
// there.
func reportRemovedLimit(c *facts.Change, f *facts.ConfigFile, old limit, report facts.Report) {
	wasRead := f.After().Exists() || f.Deleted
	isFloor := func(s configtext.Setting) bool { return limitKindOf(configtext.ToolName(f.Path), s.Key) == floor }
	isReplaced := strings.HasPrefix(old.Key, "flag.") && slices.ContainsFunc(f.NewConfig.Settings, isFloor)
	if !wasRead || isReplaced {
		return
	}
	finding := f.NewFinding(old.Line, old.Key+": "+old.Value+" is gone").WithSeverity(metric.High)
	if f.After().Exists() {
		finding.Line = 0
	}

	for _, g := range facts.ConfigFiles.Of(c) {
		for _, list := range findLimits(configtext.ToolName(g.Path), g.NewConfig.Settings) {
			for _, n := range list {
				if n.kind != old.kind || g == f && n.Key == old.Key {
					continue
				}
				if !n.isLooserThan(old) {
					return
				}
				if configtext.LastKey(n.Key) == configtext.LastKey(old.Key) || g != f {
					finding = g.NewFinding(n.Line, old.Key+": "+old.Value+" → "+n.Key+": "+n.Value).WithSeverity(metric.Critical)
				}
			}
		}
	}
	report(finding)
}

// retryKeyRE matches the keys of settings for retries, time limits and tolerances, with which a
// flaky test passes, such as testtimeout.
var retryKeyRE = regexp.MustCompile(`(^|\.)(testtimeout|defaulttimeout|timeout|retries|retry|reruns|rerunfailingtestscount|flakyretries|maxretries|slowtestthreshold|failurethreshold|maxdiffpixels|maxdiffpixelratio|threshold|tolerance|rtol|atol|maxparallelforks)$`)

// testToolRE matches the files with settings of test tools.
var testToolRE = regexp.MustCompile(framework.RunnerSettings)

// findLoosenedLimits finds retries that were added or raised, and times and tolerances that
// were at least doubled.
func findLoosenedLimits(f *facts.ConfigFile, report facts.Report) {
	if !testToolRE.MatchString(configtext.ToolName(f.Path)) {
		return
	}
	for _, s := range f.AddedSettings {
		isCoverage := floorKeyRE.MatchString(s.Key) || coverageRE.MatchString(s.Key) && strings.HasSuffix(s.Key, "threshold")
		if retryKeyRE.MatchString(s.Key) && !isCoverage && isLoosened(f, s) {
			report(f.NewFinding(s.Line, s.Key+": "+s.Value))
		}
	}
}

// isLoosened reports whether a setting allows much more than before: a number of retries that is
// higher, or another number that at least doubled.
func isLoosened(f *facts.ConfigFile, s configtext.Setting) bool {
	after, ok := findNumber([]configtext.Setting{s}, s.Key)
	old, had := findNumber(f.OldConfig.Settings, s.Key)
	if !ok || after <= old {
		return false
	}
	if strings.Contains(s.Key, "retr") || strings.Contains(s.Key, "rerun") {
		return true
	}
	return had && after >= 2*old
}

// findNumber returns the number of the setting with a key. It is false if there is no such setting
// or its value is not a number.
func findNumber(list []configtext.Setting, key string) (float64, bool) {
	s := findSetting(list, key)
	if s == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(s.Value, "s"), 64)
	return n, err == nil
}
