package main

import (
	"math"
	"slices"
	"time"
)

// falseDiscovery is the share of detections that are false when a share of
// prevalence of all changes is tampered with.
func falseDiscovery(recall, falsePositive, prevalence float64) float64 {
	wrong, right := falsePositive*(1-prevalence), recall*prevalence
	if wrong+right == 0 {
		return math.NaN()
	}
	return wrong / (wrong + right)
}

// quantile of durations, by the nearest rank; 0 for none.
func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	s := slices.Clone(d)
	slices.Sort(s)
	return s[min(len(s)-1, int(math.Ceil(q*float64(len(s))))-1)]
}
