package mask

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
	"sync"
)

// Secret is a text that must not be stored, and the name to write in its place.
type Secret struct{ Name, Value string }

// minSecret is the length below which a value is not looked for, in bytes: it
// would be found everywhere.
const minSecret = 8

// Masker replaces given secrets, and what looks like a key. It may be used from several
// goroutines; nil masks nothing.
type Masker struct {
	needles []needle
	pairs   [1 << 10]uint64 // a set of the two bytes that needles begin with
	// shifts gives, by two bytes, how far it is at least to a place where a needle
	// can end its first shortest bytes.
	shifts            [1 << 12]uint8
	shortest, longest int
}

// needle is one form of a secret. As values of several lines leave a terminal,
// their lines end in \r\n.
type needle struct{ text, mask []byte }

// NewMasker returns a masker for the secrets and for known shapes of keys. Values shorter
// than 8 bytes are left out. Of two that begin at the same place the longer counts.
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

func hashPair(a, b byte) uint16 { return (uint16(a)<<5 ^ uint16(b)) & (1<<12 - 1) }

func pairOf(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// mayBegin reports whether a secret may begin with the two bytes.
func (m *Masker) mayBegin(a, b byte) bool {
	pair := pairOf(a, b)
	return m.pairs[pair>>6]&(1<<(pair&63)) != 0
}

// find returns where the first secret in b begins, and which; nil for none. It is
// the algorithm of Wu and Manber: of a window as long as the shortest secret the
// last two bytes tell how far the window may be moved.
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

// partialMatch returns the length of the longest end of b that a secret begins with,
// and that secret. What is whole does not count.
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

// Bytes returns b with the secrets replaced; without any it is b itself.
func (m *Masker) Bytes(b []byte) []byte {
	if m == nil {
		return b
	}
	return maskKeys(m.maskGiven(b), 0)
}

// maskGiven returns b with the given secrets replaced; without any it is b itself.
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

// Writer returns a writer that passes on to w what is written to it, with the
// secrets replaced, wherever the writes divide them. The beginning of what may
// become a secret is held back until it is decided, by Close at the latest.
func (m *Masker) Writer(w io.Writer) io.WriteCloser {
	if m == nil {
		return &maskWriter{to: w}
	}
	keys := &keyWriter{to: w}
	return &maskWriter{masker: m, to: keys, keys: keys}
}

type maskWriter struct {
	mu     sync.Mutex
	masker *Masker
	to     io.Writer
	keys   *keyWriter // nil masks nothing
	held   []byte
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

// maskDecided returns the beginning of data, masked, and the rest that may be the
// beginning of a secret. A secret that is there whole is cut out of the way
// first: its end may look like the beginning of another.
func (m *Masker) maskDecided(data []byte) (masked, rest []byte) {
	var out []byte
	for {
		at, found := m.find(data)
		n, longer := m.partialMatch(data)
		// A longer secret may begin at the same place or before it, and still come.
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

// Close passes on what is held back. The beginning of a secret that is long
// enough to be of use is masked as well. The underlying writer is not closed.
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
