package parsed

import (
	"encoding/binary"
	"hash/maphash"
	"strings"

	"supervise/metric"
)

// Packed is a list of findings in less than half the memory, for reading: a million of
// them, with room to grow, would be four times what they are in the end. The zero value
// is empty.
type Packed struct {
	Len    int
	chunks []string
	open   strings.Builder
	record []byte
	words  []string
	places map[string]uint64 // of words, from 1
}

const (
	chunkSize = 256 << 10
	maxWords  = 16 << 10 // tools, rules and files that are kept once
)

// Add appends a finding, up to [MaxKept] of them. Its texts are copied.
func (p *Packed) Add(f metric.Finding) {
	if p.Len == MaxKept {
		return
	}
	p.Len++
	typed := byte(0)
	if f.Type {
		typed = 1 << 7
	}
	p.record = append(p.record[:0], byte(f.Level)|typed)
	p.record = binary.AppendUvarint(p.record, uint64(f.Line))
	p.record = binary.AppendUvarint(p.record, uint64(f.Column))
	p.word(f.Tool)
	p.word(f.Rule)
	p.word(f.File)
	p.text(f.Message)
	p.text(f.Text)
	if p.open.Len()+len(p.record) > p.open.Cap() {
		p.close()
		p.open.Grow(max(chunkSize, len(p.record)))
	}
	p.open.Write(p.record)
}

func (p *Packed) close() {
	if p.open.Len() > 0 {
		p.chunks = append(p.chunks, p.open.String())
		p.open.Reset()
	}
}

// word writes the place of a text that is often the same, and the text itself where
// there are too many.
func (p *Packed) word(s string) {
	at, known := p.places[s]
	if !known && len(p.words) < maxWords {
		if p.places == nil {
			p.places = map[string]uint64{}
		}
		s = strings.Clone(s)
		p.words = append(p.words, s)
		at = uint64(len(p.words))
		p.places[s] = at
	}
	p.record = binary.AppendUvarint(p.record, at)
	if at == 0 {
		p.text(s)
	}
}

func (p *Packed) text(s string) {
	p.record = append(binary.AppendUvarint(p.record, uint64(len(s))), s...)
}

// Findings returns the list; never nil. Nothing can be added any more.
func (p *Packed) Findings() []metric.Finding {
	p.close()
	p.places = nil
	out := make([]metric.Finding, 0, p.Len)
	for _, chunk := range p.chunks {
		r := unpacker{chunk, p.words}
		for r.rest != "" {
			out = append(out, r.finding())
		}
	}
	return out
}

// unpacker reads what Packed wrote. Texts are parts of the chunk.
type unpacker struct {
	rest  string
	words []string
}

func (r *unpacker) finding() metric.Finding {
	first := r.rest[0]
	r.rest = r.rest[1:]
	return metric.Finding{
		Level: metric.Level(first &^ (1 << 7)), Type: first >= 1<<7,
		Line: int(r.number()), Column: int(r.number()), Tool: r.word(), Rule: r.word(), File: r.word(), Message: r.text(), Text: r.text(),
	}
}

func (r *unpacker) number() uint64 {
	n, shift := uint64(0), 0
	for i := range len(r.rest) {
		c := r.rest[i]
		n |= uint64(c&0x7f) << shift
		shift += 7
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			break
		}
	}
	return n
}

func (r *unpacker) word() string {
	if at := r.number(); at > 0 {
		return r.words[at-1]
	}
	return r.text()
}

func (r *unpacker) text() string {
	n := r.number()
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

// Seen knows which findings there were, by their hash: of a million, with a chance of one
// in ten million, one is taken for another. The zero value is empty.
type Seen struct {
	hash   maphash.Hash
	number []byte
	set    map[uint64]struct{}
}

// Add reports whether a finding, with what else distinguishes it, is new.
func (s *Seen) Add(f metric.Finding, more string) bool {
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
