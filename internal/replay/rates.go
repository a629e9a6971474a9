package replay

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"supervise/detector"
)

// Rate is how often a rule fired on the commits of a history. On a history of honest work, this
// is its rate of false alarms.
type Rate struct {
	Rule     string               `json:"rule"`
	Severity detector.Severity    `json:"severity"` // the highest with which it fired, or that of the rule
	Fired    int                  `json:"fired"`    // commits
	Critical int                  `json:"critical"` // commits on which it was CRITICAL
	Commits  int                  `json:"commits"`  // commits that were judged
	Per100   Interval             `json:"per_100"`
	FDR      []FalseDiscoveryRate `json:"false_discovery_rate"`
}

// Interval is a rate with the ends of its Wilson interval of 95 %. Rates of rules are per 100 commits.
type Interval struct {
	Rate float64 `json:"rate"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// FalseDiscoveryRate is the share of findings that are false, Rate, if a given share of all
// iterations, Prevalence, has a real fault of the kind. All values are in [0,1]. Low and High
// follow from the ends of the interval of the rule's rate.
type FalseDiscoveryRate struct {
	Prevalence float64 `json:"prevalence"`
	Interval
}

// prevalences are the shares of faulty iterations for which the false discovery rate is printed.
var prevalences = []float64{.01, .05, .20}

// normalQuantile is the 97.5 % quantile of the normal distribution, for an interval of 95 %.
const normalQuantile = 1.959963984540054

// wilsonInterval returns the share fired/of in per cent with its score interval: E. B.
// Wilson, "Probable inference, the law of succession, and statistical inference",
// J. Am. Stat. Assoc. 22 (1927) 209–212. It is valid for few firings and for none.
func wilsonInterval(fired, of int) Interval {
	if of == 0 {
		return Interval{High: 100}
	}
	n := float64(of)
	p := float64(fired) / n
	middle := (p + normalQuantile*normalQuantile/(2*n)) / (1 + normalQuantile*normalQuantile/n)
	half := normalQuantile / (1 + normalQuantile*normalQuantile/n) * math.Sqrt(p*(1-p)/n+normalQuantile*normalQuantile/(4*n*n))
	return Interval{100 * p, 100 * max(0, middle-half), 100 * min(1, middle+half)}
}

// falseDiscoveryRate returns the share of firings that are false, by Bayes' theorem, for a rule
// that fires on a share alarm of the honest iterations and on a share sensitivity of the faulty
// ones. prevalence is the share of faulty iterations. See D. Colquhoun, "An investigation of the
// false discovery rate and the misinterpretation of p-values", R. Soc. Open Sci. 1 (2014) 140216.
func falseDiscoveryRate(alarm, prevalence, sensitivity float64) float64 {
	wrong, right := alarm*(1-prevalence), sensitivity*prevalence
	if wrong == 0 {
		return 0
	}
	return wrong / (wrong + right)
}

// The names of the rows that count commits over all rules.
const (
	anyCritical = "any CRITICAL"
	anyHigh     = "any HIGH or CRITICAL"
	rolledBack  = "would be rolled back"
	blocked     = "would fail the gate"
)

// countRates counts the commits on which each rule fired, and the commits in the rows over all
// rules. Rules whose severity is INFO are left out.
func countRates(list []Verdict, sensitivity float64) []Rate {
	var out []Rate
	add := func(r Rate, fires, isCritical func(Verdict) bool) {
		for _, v := range list {
			r.Fired += boolToInt(fires(v))
			r.Critical += boolToInt(fires(v) && isCritical(v))
		}
		out = append(out, r.addEstimates(len(list), sensitivity))
	}

	rules := slices.DeleteFunc(detector.Rules(), func(r detector.Rule) bool { return r.Severity == detector.Info })
	for _, rule := range append(rules, firedTamperRules(list)...) {
		hasFired := func(least detector.Severity) func(Verdict) bool {
			return func(v Verdict) bool { return v.hasFired(rule.Name, least) }
		}
		add(Rate{Rule: rule.Name, Severity: worstSeverity(list, rule)}, hasFired(detector.Low), hasFired(detector.Critical))
	}

	isCritical := func(v Verdict) bool { return v.worstSeverity() >= detector.Critical }
	isHigh := func(v Verdict) bool { return v.worstSeverity() >= detector.High }
	add(Rate{Rule: anyCritical, Severity: detector.Critical}, isCritical, isCritical)
	add(Rate{Rule: anyHigh, Severity: detector.High}, isHigh, isCritical)
	add(Rate{Rule: rolledBack, Severity: detector.Critical}, func(v Verdict) bool { return v.RolledBack }, isCritical)
	add(Rate{Rule: blocked, Severity: detector.High}, func(v Verdict) bool { return v.Blocked }, isCritical)
	return out
}

// firedTamperRules returns the rules about integrity that fired, by name.
func firedTamperRules(list []Verdict) []detector.Rule {
	names := map[string]bool{}
	for _, v := range list {
		for _, a := range v.Alerts {
			if strings.HasPrefix(a.Rule, detector.TamperPrefix) && a.Severity > detector.Info {
				names[a.Rule] = true
			}
		}
	}
	var out []detector.Rule
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, detector.Rule{Name: name})
	}
	return out
}

// boolToInt returns 1 for true and 0 for false.
func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// worstSeverity returns the highest severity with which the rule fired, or that of the rule
// if it did not fire.
func worstSeverity(list []Verdict, rule detector.Rule) detector.Severity {
	var most detector.Severity
	for _, v := range list {
		for _, a := range v.Alerts {
			if a.Rule == rule.Name {
				most = max(most, a.Severity)
			}
		}
	}
	return cmp.Or(most, rule.Severity)
}

// addEstimates returns the rate with its interval and its false discovery rates, for a number of
// judged commits.
func (r Rate) addEstimates(of int, sensitivity float64) Rate {
	r.Commits, r.Per100 = of, wilsonInterval(r.Fired, of)
	for _, p := range prevalences {
		rate := func(alarms float64) float64 { return falseDiscoveryRate(alarms/100, p, sensitivity) }
		r.FDR = append(r.FDR, FalseDiscoveryRate{p, Interval{rate(r.Per100.Rate), rate(r.Per100.Low), rate(r.Per100.High)}})
	}
	return r
}

// hasFired reports whether the rule fired with at least the severity.
func (v Verdict) hasFired(rule string, least detector.Severity) bool {
	return slices.ContainsFunc(v.Alerts, func(a detector.Alert) bool { return a.Rule == rule && a.Severity >= least })
}

// worstSeverity returns the highest severity of all alerts, the zero value if there are none.
func (v Verdict) worstSeverity() detector.Severity {
	var most detector.Severity
	for _, a := range v.Alerts {
		most = max(most, a.Severity)
	}
	return most
}
