package integrity

import (
	"maps"
	"slices"
	"strconv"
	"strings"

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
	aboutCover   = regexp.MustCompile(`(?i)cov|jacoco|nyc|c8|kover|simplecov|summary|jest|vitest|msi|proj$|\.props$`)
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
	setting
	kind   limit
	number float64
}

func bounds(tool string, list []setting) map[string][]bound {
	out := map[string][]bound{}
	for _, s := range list {
		kind := limitOf(tool, s.key)
		if kind == noLimit {
			continue
		}
		m := percent.FindStringSubmatch(s.value)
		if m == nil {
			continue
		}
		if n, err := strconv.ParseFloat(m[1], 64); err == nil {
			out[s.key] = append(out[s.key], bound{s, kind, n})
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
func lowered(c *change) []Finding {
	var out []Finding
	for _, f := range c.configs() {
		was, is := bounds(toolOf(f.before().path), f.was.settings), bounds(toolOf(f.Path), f.is.settings)
		for _, key := range slices.Sorted(maps.Keys(was)) {
			now := is[key]
			for i, o := range was[key] {
				switch {
				case o.kind == softCeiling:
				case i < len(now) && now[i].looser(o):
					out = append(out, Finding{File: f.Path, Line: now[i].line, Evidence: evidence(o.key + ": " + o.value + " → " + now[i].value)})
				case i >= len(now):
					out = append(out, c.goneBound(f, o)...)
				}
			}
		}
	}
	return out
}

// goneBound looks for a limit that is gone in the other files, and under other
// keys with the same last name.
func (c *change) goneBound(f *configFile, o bound) []Finding {
	if !f.after().there() && !f.Deleted || strings.HasPrefix(o.key, "flag.") && slices.ContainsFunc(f.is.settings, func(s setting) bool { return limitOf(toolOf(f.Path), s.key) == floor }) {
		return nil
	}
	finding := Finding{File: f.Path, Severity: metric.High, Line: o.line, Evidence: evidence(o.key + ": " + o.value + " is gone")}
	if f.after().there() {
		finding.Line = 0
	}
	for _, g := range c.configs() {
		for _, list := range bounds(toolOf(g.Path), g.is.settings) {
			for _, n := range list {
				if n.kind != o.kind || (g == f) == (n.key == o.key) && g == f {
					continue
				}
				if !n.looser(o) {
					return nil
				}
				if leaf(n.key) == leaf(o.key) || g != f {
					finding.Severity, finding.File, finding.Line = metric.Critical, g.Path, n.line
					finding.Evidence = evidence(o.key + ": " + o.value + " → " + n.key + ": " + n.value)
				}
			}
		}
	}
	return []Finding{finding}
}

// patience are settings that say how often a test is tried and how long it may
// take; a test that fails now and then passes with them.
var patience = regexp.MustCompile(`(^|\.)(testtimeout|defaulttimeout|timeout|retries|retry|reruns|rerunfailingtestscount|flakyretries|maxretries|slowtestthreshold|failurethreshold|maxdiffpixels|maxdiffpixelratio|threshold|tolerance|rtol|atol|maxparallelforks)$`)

var testTool = regexp.MustCompile(jsTools + `|` + pyTools + `|nextest|surefire|pom\.xml|\.gradle|runsettings|phpunit|karma`)

// loosened finds retries that were added or raised, and times and tolerances that
// were at least doubled.
func loosened(c *change) []Finding {
	var out []Finding
	for _, f := range c.configs() {
		if !testTool.MatchString(toolOf(f.Path)) {
			continue
		}
		for _, s := range f.came {
			if patience.MatchString(s.key) && !floors.MatchString(s.key) && !(aboutCover.MatchString(s.key) && strings.HasSuffix(s.key, "threshold")) && f.looser(s) {
				out = append(out, Finding{File: f.Path, Line: s.line, Evidence: evidence(s.key + ": " + s.value)})
			}
		}
	}
	return out
}

// looser reports whether a setting grants much more than before: twice, or a
// retry more.
func (f *configFile) looser(s setting) bool {
	now, ok := numberAt([]setting{s}, s.key)
	old, had := numberAt(f.was.settings, s.key)
	if !ok || now <= old {
		return false
	}
	if strings.Contains(s.key, "retr") || strings.Contains(s.key, "rerun") {
		return true
	}
	return had && now >= 2*old
}

func numberAt(list []setting, key string) (float64, bool) {
	for _, s := range list {
		if s.key == key {
			n, err := strconv.ParseFloat(strings.TrimSuffix(s.value, "s"), 64)
			return n, err == nil
		}
	}
	return 0, false
}
