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

// floor and ceiling are limits that a check holds the code to: what must not
// fall, and what must not rise.
var (
	floors = regexp.MustCompile(`(^|\.)(failunder\w*|covfailunder|minimumcoverage(\.\w+)*|minimumcoveragebyfile(\.\w+)*|mincoverage|coveragethresholds?(\.[^.]+)*|flag\.coverage\.\w*|coverageminimum\w*|minmsi|mincoveredmsi|coveragefailthreshold|requiredcoverage|(simplecov\.)?minimumcoverage\w*|mutationthreshold|coveragemin\w*|min\w*coverage\w*|coveragelimit|\w*coveragethreshold\w*|testcoverage\.summary\.threshold|coverageoptions\.minimumcoverage)$|(^|\.)thresholds?(\.[^.]+)*\.(branches|functions|lines|statements|break|low|high|file|package|total)$`)
	// bare names are limits of the coverage where the file, or the rest of the
	// key, is about coverage.
	bareFloors   = regexp.MustCompile(`(^|\.)(threshold|minimum|target|lines|branches|functions|statements|min|watermarks\.\w+|level)$`)
	aboutCover   = regexp.MustCompile(`(?i)cov|jacoco|nyc|c8|kover|simplecov|summary|` + framework.NodeSettings[len(`(?i)`):] + `|msi|proj$|\.props$`)
	ceilings     = regexp.MustCompile(`(^|\.)(\w*maxwarnings|maxissues|maxallowedviolations|maxerrors|maxallowed\w*|maximumallowed\w+|failurethreshold\w*|errorthreshold|maxfailures|failatviolations|allowedviolations|warningsasserrorsthreshold)$`)
	softCeilings = regexp.MustCompile(`(^|\.|\])(maxcomplexity|mccabe\.maxcomplexity|cyclop\.maxcomplexity|complexity|gocyclo\.mincomplexity|errorlevel|funlen\.(lines|statements)|maxstatements|maxbranches|cognitivecomplexitythreshold|cyclomaticcomplexity\.max)$`)
	percent      = regexp.MustCompile(`^\s*(\d+(?:\.\d+)?)\s*%?\s*$`)
)

// limit is what kind of a limit a setting is.
type limit uint8

const (
	noLimit limit = iota
	floor
	ceiling
	softCeiling // of a linter: how much is tolerated
)

func limitOf(tool, key string) limit {
	if strings.Contains(tool, "codecov") && strings.HasSuffix(key, ".threshold") {
		return ceiling // how far the coverage may fall
	}
	switch {
	case strings.HasSuffix(key, "maxwarnings"), ceilings.MatchString(key):
		return ceiling
	case softCeilings.MatchString(key):
		return softCeiling
	case floors.MatchString(key):
		return floor
	case bareFloors.MatchString(key):
		// The level of phpstan is how strict it is.
		if strings.HasSuffix(key, "level") && strings.Contains(tool, "phpstan") {
			return floor
		}
		if !strings.HasSuffix(key, "level") && (aboutCover.MatchString(tool) || aboutCover.MatchString(key)) {
			return floor
		}
	}
	return noLimit
}

// bound is a limit with its number.
type bound struct {
	configtext.Setting
	kind   limit
	number float64
}

func bounds(tool string, list []configtext.Setting) map[string][]bound {
	out := map[string][]bound{}
	for _, s := range list {
		kind := limitOf(tool, s.Key)
		if kind == noLimit {
			continue
		}
		m := percent.FindStringSubmatch(s.Value)
		if m == nil {
			continue
		}
		if n, err := strconv.ParseFloat(m[1], 64); err == nil {
			out[s.Key] = append(out[s.Key], bound{s, kind, n})
		}
	}
	return out
}

// looser reports whether a limit allows more than another.
func (b bound) looser(than bound) bool {
	if b.kind == floor {
		return b.number < than.number
	}
	return b.number > than.number
}

// lowered finds limits whose number allows more than before under the same key,
// and limits that are gone and nowhere else.
func lowered(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, f := range facts.ConfigFiles.Of(c) {
		was, is := bounds(configtext.ToolOf(f.Before().Path), f.Was.Settings), bounds(configtext.ToolOf(f.Path), f.Is.Settings)
		for _, key := range slices.Sorted(maps.Keys(was)) {
			now := is[key]
			for i, o := range was[key] {
				switch {
				case o.kind == softCeiling:
				case i < len(now) && now[i].looser(o):
					out = append(out, facts.Finding{File: f.Path, Line: now[i].Line, Evidence: facts.Evidence(o.Key + ": " + o.Value + " → " + now[i].Value)})
				case i >= len(now):
					out = append(out, goneBound(c, f, o)...)
				}
			}
		}
	}
	return out
}

// goneBound looks for a limit that is gone in the other files, and under other
// keys with the same last name.
func goneBound(c *facts.Set, f *facts.ConfigFile, o bound) []facts.Finding {
	if !f.After().Exists() && !f.Deleted || strings.HasPrefix(o.Key, "flag.") && slices.ContainsFunc(f.Is.Settings, func(s configtext.Setting) bool { return limitOf(configtext.ToolOf(f.Path), s.Key) == floor }) {
		return nil
	}
	finding := facts.Finding{File: f.Path, Severity: metric.High, Line: o.Line, Evidence: facts.Evidence(o.Key + ": " + o.Value + " is gone")}
	if f.After().Exists() {
		finding.Line = 0
	}
	for _, g := range facts.ConfigFiles.Of(c) {
		for _, list := range bounds(configtext.ToolOf(g.Path), g.Is.Settings) {
			for _, n := range list {
				if n.kind != o.kind || (g == f) == (n.Key == o.Key) && g == f {
					continue
				}
				if !n.looser(o) {
					return nil
				}
				if configtext.LastKey(n.Key) == configtext.LastKey(o.Key) || g != f {
					finding.Severity, finding.File, finding.Line = metric.Critical, g.Path, n.Line
					finding.Evidence = facts.Evidence(o.Key + ": " + o.Value + " → " + n.Key + ": " + n.Value)
				}
			}
		}
	}
	return []facts.Finding{finding}
}

// patience matches settings for retries and time limits, with which a flaky test
// passes.
var patience = regexp.MustCompile(`(^|\.)(testtimeout|defaulttimeout|timeout|retries|retry|reruns|rerunfailingtestscount|flakyretries|maxretries|slowtestthreshold|failurethreshold|maxdiffpixels|maxdiffpixelratio|threshold|tolerance|rtol|atol|maxparallelforks)$`)

var testTool = regexp.MustCompile(framework.RunnerSettings)

// loosened finds retries that were added or raised, and times and tolerances that
// were at least doubled.
func loosened(f *facts.ConfigFile) []facts.Finding {
	var out []facts.Finding
	if !testTool.MatchString(configtext.ToolOf(f.Path)) {
		return nil
	}
	for _, s := range f.Came {
		if patience.MatchString(s.Key) && !floors.MatchString(s.Key) && !(aboutCover.MatchString(s.Key) && strings.HasSuffix(s.Key, "threshold")) && looser(f, s) {
			out = append(out, facts.Finding{File: f.Path, Line: s.Line, Evidence: facts.Evidence(s.Key + ": " + s.Value)})
		}
	}
	return out
}

// looser reports whether a setting grants much more than before: twice, or a
// retry more.
func looser(f *facts.ConfigFile, s configtext.Setting) bool {
	now, ok := numberAt([]configtext.Setting{s}, s.Key)
	old, had := numberAt(f.Was.Settings, s.Key)
	if !ok || now <= old {
		return false
	}
	if strings.Contains(s.Key, "retr") || strings.Contains(s.Key, "rerun") {
		return true
	}
	return had && now >= 2*old
}

func numberAt(list []configtext.Setting, key string) (float64, bool) {
	for _, s := range list {
		if s.Key == key {
			n, err := strconv.ParseFloat(strings.TrimSuffix(s.Value, "s"), 64)
			return n, err == nil
		}
	}
	return 0, false
}
