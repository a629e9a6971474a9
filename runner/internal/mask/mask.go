package mask

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
	"sync"
)

// Secret is a text that must not be stored, and the name that replaces it.
type Secret struct{ Name, Value string }

// minSecret is the minimum length of a secret, in bytes. Shorter ones would occur
// everywhere.
const minSecret = 8

// Masker replaces given secrets, and texts that look like a key. It may be used from several
// goroutines. A nil Masker masks nothing.
//
// It works in two steps: maskGiven replaces the given secrets, and maskKeys in shapes.go
// replaces keys in the result. [Masker.Writer] does the same for a stream.
type Masker struct {
	needles []needle        // the longest first
	pairs   [1 << 10]uint64 // a set with one bit for each pair of bytes with which a needle starts
	// shifts maps the hash of two bytes to the minimum distance by which the search window can
	// move when it ends in them. 0 means that a needle may start at the window.
	shifts            [1 << 12]uint8
	shortest, longest int // lengths of needles in bytes; shortest is at most 255
}

// needle is one form of a secret, and the text that replaces it. A secret of several lines has
// a second form, because lines end in \r\n on a terminal.
type needle struct{ text, mask []byte }

// NewMasker returns a masker for the secrets and for known shapes of keys. A secret is
// replaced by its name in brackets. Values shorter than 8 bytes are ignored. If two secrets
// start at the same place, the longer one is replaced.
func NewMasker(secrets []Secret) *Masker {
	m := &Masker{}
	for _, s := range secrets {
		forms := []string{s.Value}
		if strings.Contains(s.Value, "\n") {
			forms = append(forms, strings.ReplaceAll(strings.ReplaceAll(s.Value, "\r\n", "\n"), "\n", "\r\n"))
		}
		for _, form := range forms {
			if form = strings.Trim(form, "\r\n"); len(form) >= minSecret {
				m.needles = append(m.needles, needle{[]byte(form), []byte("[" + s.Name + "]")})
			}
		}
	}
	if len(m.needles) == 0 {
		return m
	}

	slices.SortStableFunc(m.needles, func(a, b needle) int { return cmp.Compare(len(b.text), len(a.text)) })
	m.longest, m.shortest = len(m.needles[0].text), min(len(m.needles[len(m.needles)-1].text), 255)

	for i := range m.shifts {
		m.shifts[i] = uint8(m.shortest - 1)
	}

	for _, n := range m.needles {
		pair := pairOf(n.text[0], n.text[1])
		m.pairs[pair>>6] |= 1 << (pair & 63)
		for i := range m.shortest - 1 {
			shift := &m.shifts[hashPair(n.text[i], n.text[i+1])]
			*shift = min(*shift, uint8(m.shortest-2-i))
		}
	}
	return m
}

// hashPair returns the index of two bytes in Masker.shifts. Different pairs may share an
// index.
func hashPair(a, b byte) uint16 { return (uint16(a)<<5 ^ uint16(b)) & (1<<12 - 1) }

// pairOf returns two bytes as a number, which is an index into a set of pairs.
func pairOf(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// mayBegin reports whether a secret may start with the two bytes.
func (m *Masker) mayBegin(a, b byte) bool {
	pair := pairOf(a, b)
	return m.pairs[pair>>6]&(1<<(pair&63)) != 0
}

// find returns the position of the first secret in b, and the secret; nil if there is none. It
// uses the algorithm of Wu and Manber: the last two bytes of a window that is as long as the
// shortest secret decide how far the window moves.
func (m *Masker) find(b []byte) (at int, found *needle) {
	for i := m.shortest - 2; i+1 < len(b); {
		if shift := m.shifts[hashPair(b[i], b[i+1])]; shift > 0 {
			i += int(shift)
			continue
		}
		at = i - (m.shortest - 2)
		for j := range m.needles {
			if bytes.HasPrefix(b[at:], m.needles[j].text) {
				return at, &m.needles[j]
			}
		}
		i++
	}
	return 0, nil
}

// partialMatch looks at the end of b for the start of a secret that continues after b. It
// returns the length of the longest such end, in bytes, and the secret; 0 and nil if there is
// none.
func (m *Masker) partialMatch(b []byte) (int, *needle) {
	for i := max(0, len(b)-m.longest+1); i < len(b); i++ {
		if i+1 < len(b) && !m.mayBegin(b[i], b[i+1]) {
			continue
		}
		for j := range m.needles {
			if len(m.needles[j].text) > len(b)-i && bytes.HasPrefix(m.needles[j].text, b[i:]) {
				return len(b) - i, &m.needles[j]
			}
		}
	}
	return 0, nil
}

// String returns s with the secrets replaced.
func (m *Masker) String(s string) string {
	if m == nil || len(s) < minSecret {
		return s
	}
	before := []byte(s)
	if after := m.Bytes(before); len(after) != len(before) || &after[0] != &before[0] {
		return string(after)
	}
	return s
}

// Bytes returns b with the secrets replaced; b itself if it has none.
func (m *Masker) Bytes(b []byte) []byte {
	if m == nil {
		return b
	}
	return maskKeys(m.maskGiven(b), 0)
}

// maskGiven returns b with the given secrets replaced; b itself if it has none.
func (m *Masker) maskGiven(b []byte) []byte {
	if len(m.needles) == 0 {
		return b
	}
	var out []byte
	for {
		at, found := m.find(b)
		if found == nil {
			break
		}
		out = append(append(out, b[:at]...), found.mask...)
		b = b[at+len(found.text):]
	}
	if out == nil {
		return b
	}
	return append(out, b...)
}

// Writer returns a writer that passes text to w with the secrets replaced, even if a secret
// is split between writes. The possible start of a secret is held back until the next
// write or Close.
func (m *Masker) Writer(w io.Writer) io.WriteCloser {
	if m == nil {
		return &maskWriter{to: w}
	}
	keys := &keyWriter{to: w}
	return &maskWriter{masker: m, to: keys, keys: keys}
}

// maskWriter masks the given secrets in a stream, and passes the result to keys, which masks
// the rest.
type maskWriter struct {
	mu     sync.Mutex
	masker *Masker
	to     io.Writer
	keys   *keyWriter // nil masks nothing
	held   []byte     // the possible start of a secret
}

// Write masks p and reports the error of the underlying writer.
func (w *maskWriter) Write(p []byte) (int, error) {
	if w.masker == nil {
		return w.to.Write(p)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.masker.needles) == 0 {
		return w.to.Write(p)
	}

	data := p
	if len(w.held) > 0 {
		data = append(w.held, p...)
	}

	masked, rest := w.masker.maskDecided(data)
	held := append([]byte(nil), rest...)
	var err error
	if len(masked) > 0 {
		_, err = w.to.Write(masked)
	}
	w.held = held

	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// maskDecided splits data at the start of a secret that may continue in the next write. It
// returns the data before that, masked, and the rest. It replaces complete secrets first,
// because the end of one may look like the start of another.
func (m *Masker) maskDecided(data []byte) (masked, rest []byte) {
	var out []byte
	for {
		at, found := m.find(data)
		n, longer := m.partialMatch(data)
		// A longer secret may start at the same place or before it, and not be complete yet.
		if found == nil || (longer != nil && len(data)-n <= at) {
			if out == nil {
				return data[:len(data)-n], data[len(data)-n:]
			}
			return append(out, data[:len(data)-n]...), data[len(data)-n:]
		}
		out = append(append(out, data[:at]...), found.mask...)
		data = data[at+len(found.text):]
	}
}

// Close passes the held text on. It also masks the start of a secret if that has at least 8
// bytes. It does not close the underlying writer.
func (w *maskWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.keys == nil {
		return nil
	}
	if len(w.held) > 0 {
		text := w.masker.maskGiven(w.held)
		if n, begun := w.masker.partialMatch(text); n >= minSecret {
			text = append(bytes.Clone(text[:len(text)-n]), begun.mask...)
		}
		w.held = nil
		if _, err := w.to.Write(text); err != nil {
			return err
		}
	}
	return w.keys.Close()
}
