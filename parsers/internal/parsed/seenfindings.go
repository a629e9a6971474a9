package parsed

import (
	"encoding/binary"
	"hash/maphash"

	"supervise/metric"
)

// SeenFindings is a set of findings, which are stored as hashes of 64 bits. Among a million
// findings, two get the same hash with a chance of one in ten million. The zero value is empty.
type SeenFindings struct {
	hash   maphash.Hash
	number []byte // buffer for the numbers of one finding
	set    map[uint64]struct{}
}

// Add adds a finding and reports whether it is new. Findings with different values of
// more are different.
func (s *SeenFindings) Add(f metric.Finding, more string) bool {
	s.hash.Reset()
	s.number = binary.AppendUvarint(append(s.number[:0], byte(f.Level)), uint64(f.Line))
	if s.number = binary.AppendUvarint(s.number, uint64(f.Column)); f.Type {
		s.number = append(s.number, 1)
	}
	_, _ = s.hash.Write(s.number) // cannot fail
	for _, text := range [...]string{f.Tool, f.Rule, f.File, f.Message, f.Text, more} {
		_ = s.hash.WriteByte(0)
		_, _ = s.hash.WriteString(text)
	}

	sum := s.hash.Sum64()
	if _, ok := s.set[sum]; ok {
		return false
	}
	if s.set == nil {
		s.set = map[uint64]struct{}{}
	}
	s.set[sum] = struct{}{}
	return true
}
