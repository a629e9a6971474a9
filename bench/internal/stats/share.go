// Package stats has the figures that measurements on corpora publish.
package stats

import (
	"fmt"
	"math"
)

// Share is k of n. With n = 0 nothing was measured.
type Share struct {
	K int `json:"k"`
	N int `json:"n"`
}

// Add counts one more, a hit or not.
func (s *Share) Add(hit bool) {
	s.N++
	if hit {
		s.K++
	}
}

// Rate is in [0,1]; NaN when nothing was measured.
func (s Share) Rate() float64 {
	if s.N == 0 {
		return math.NaN()
	}
	return float64(s.K) / float64(s.N)
}

// Wilson returns the score interval at 95 %, in [0,1]. (Wilson 1927.)
func (s Share) Wilson() (low, high float64) {
	if s.N == 0 {
		return 0, 1
	}
	const z = 1.959964
	n, p := float64(s.N), s.Rate()
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, mid-half), min(1, mid+half)
}

// String is "97.5 [95.0–98.8] 195/200", in per cent; "–" when nothing was measured.
func (s Share) String() string {
	if s.N == 0 {
		return "–"
	}
	low, high := s.Wilson()
	return fmt.Sprintf("%.1f [%.1f–%.1f] %d/%d", 100*s.Rate(), 100*low, 100*high, s.K, s.N)
}

// Short is the rate in per cent alone.
func (s Share) Short() string {
	if s.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", 100*s.Rate())
}
