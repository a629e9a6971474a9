package parsed

import (
	"encoding/binary"
	"hash/maphash"
	"strings"

	"supervise/metric"
)

// PackedFindings is a list of findings that takes less than half the memory of a slice while it
// grows: appending a million findings to a slice needs four times their size. The zero value is
// empty.
//
// A finding is encoded as one byte with the level and type, the line and column as varints, and
// the tool, rule, file, message and source text. A varint with the length is before a text.
// Tools, rules and files are stored once, and are encoded as their number.
type PackedFindings struct {
	Len         int               // number of findings
	chunks      []string          // complete chunks of encoded findings
	builder     strings.Builder   // the chunk that is being filled
	record      []byte            // buffer for one encoded finding
	words       []string          // tools, rules and files that are stored once
	wordIndexes map[string]uint64 // the number by which a word is encoded: its index in words + 1
}

const (
	chunkSize = 256 << 10 // bytes of a chunk
	maxWords  = 16 << 10  // texts that are stored once; more are encoded as text
)

// Add appends a finding and copies its texts. It ignores findings after [MaxItems].
func (p *PackedFindings) Add(f metric.Finding) {
	if p.Len == MaxItems {
		return
	}
	p.Len++
	flags := byte(f.Level)
	if f.Type {
		flags |= typeFlag
	}

	p.record = append(p.record[:0], flags)
	p.record = binary.AppendUvarint(p.record, uint64(f.Line))
	p.record = binary.AppendUvarint(p.record, uint64(f.Column))
	p.appendWord(f.Tool)
	p.appendWord(f.Rule)
	p.appendWord(f.File)
	p.appendText(f.Message)
	p.appendText(f.Text)

	if p.builder.Len()+len(p.record) > p.builder.Cap() {
		p.closeChunk()
		p.builder.Grow(max(chunkSize, len(p.record)))
	}
	p.builder.Write(p.record)
}

// closeChunk moves the encoded findings of the current chunk to the complete ones.
func (p *PackedFindings) closeChunk() {
	if p.builder.Len() > 0 {
		p.chunks = append(p.chunks, p.builder.String())
		p.builder.Reset()
	}
}

// typeFlag is the bit for Finding.Type in the byte of the level.
const typeFlag = 1 << 7

// appendWord encodes a text that findings often share: as its number, or as 0 and the text
// itself if there are too many words.
func (p *PackedFindings) appendWord(s string) {
	index, known := p.wordIndexes[s]
	if !known && len(p.words) < maxWords {
		if p.wordIndexes == nil {
			p.wordIndexes = map[string]uint64{}
		}
		s = strings.Clone(s)
		p.words = append(p.words, s)
		index = uint64(len(p.words))
		p.wordIndexes[s] = index
	}
	p.record = binary.AppendUvarint(p.record, index)
	if index == 0 {
		p.appendText(s)
	}
}

// appendText encodes a text as its length and its bytes.
func (p *PackedFindings) appendText(s string) {
	p.record = append(binary.AppendUvarint(p.record, uint64(len(s))), s...)
}

// Findings returns the list, which is never nil. Do not call Add afterwards.
func (p *PackedFindings) Findings() []metric.Finding {
	p.closeChunk()
	p.wordIndexes = nil
	out := make([]metric.Finding, 0, p.Len)
	for _, chunk := range p.chunks {
		r := unpacker{chunk, p.words}
		for r.remaining != "" {
			out = append(out, r.readFinding())
		}
	}
	return out
}

// unpacker decodes a chunk of PackedFindings. Its texts are parts of the chunk.
type unpacker struct {
	remaining string
	words     []string
}

// readFinding decodes the next finding. The calls run in the order in which they are written.
func (u *unpacker) readFinding() metric.Finding {
	first := u.remaining[0]
	u.remaining = u.remaining[1:]
	return metric.Finding{
		Level: metric.Level(first &^ typeFlag), Type: first&typeFlag != 0,
		Line: int(u.readNumber()), Column: int(u.readNumber()), Tool: u.readWord(), Rule: u.readWord(), File: u.readWord(), Message: u.readText(), Text: u.readText(),
	}
}

// readNumber decodes a varint, as [binary.AppendUvarint] writes it.
func (u *unpacker) readNumber() uint64 {
	n, shift := uint64(0), 0
	for i := range len(u.remaining) {
		c := u.remaining[i]
		n |= uint64(c&0x7f) << shift
		shift += 7
		if c < 0x80 {
			u.remaining = u.remaining[i+1:]
			break
		}
	}
	return n
}

// readWord decodes a text of [PackedFindings.appendWord].
func (u *unpacker) readWord() string {
	if index := u.readNumber(); index > 0 {
		return u.words[index-1]
	}
	return u.readText()
}

// readText decodes a text of [PackedFindings.appendText].
func (u *unpacker) readText() string {
	n := u.readNumber()
	s := u.remaining[:n]
	u.remaining = u.remaining[n:]
	return s
}

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
