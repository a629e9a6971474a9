package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// share is k of n. With n = 0 nothing was measured.
type share struct {
	K int `json:"k"`
	N int `json:"n"`
}

func (s *share) add(hit bool) {
	s.N++
	if hit {
		s.K++
	}
}

// rate is in [0,1]; NaN when nothing was measured.
func (s share) rate() float64 {
	if s.N == 0 {
		return math.NaN()
	}
	return float64(s.K) / float64(s.N)
}

// wilson returns the score interval at 95 %, in [0,1]. (Wilson 1927.)
func (s share) wilson() (low, high float64) {
	if s.N == 0 {
		return 0, 1
	}
	const z = 1.959964
	n, p := float64(s.N), s.rate()
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, mid-half), min(1, mid+half)
}

// String is "97.5 [95.0–98.8] 195/200", in per cent; "–" when nothing was measured.
func (s share) String() string {
	if s.N == 0 {
		return "–"
	}
	low, high := s.wilson()
	return fmt.Sprintf("%.1f [%.1f–%.1f] %d/%d", 100*s.rate(), 100*low, 100*high, s.K, s.N)
}

// short is the rate in per cent alone.
func (s share) short() string {
	if s.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", 100*s.rate())
}

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
