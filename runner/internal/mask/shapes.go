package mask

import (
	"bytes"
	_ "embed"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed shapes.txt
var shapeTable string

const (
	shortestKey = 20       // the minimum length of keys, in bytes
	longestKey  = 4 << 10  // a longer key is masked before its end is known
	longestPEM  = 32 << 10 // the same limit for a private key in PEM form
	minPEM      = 64       // the minimum length after the first line of a private key in PEM form
	distinctive = 16       // how many bytes are enough after a prefix that ends in a punctuation mark
	innerWithin = 512      // the inner text of a shape is within this many bytes after the prefix
	escapes     = 8        // the longest end of an escape sequence that consists of key bytes
)

// shape describes a kind of key: a fixed prefix, followed by at least minLength bytes of a
// set. For example, the AWS access keys have the prefix AKIA and 16 upper-case letters or
// digits. If inner is set, it must occur in the bytes after the prefix.
type shape struct {
	name, prefix, inner string
	set                 *byteSet
	minLength           int
}

// byteSet is a set of bytes.
type byteSet [256]bool

// newByteSet returns the set of the bytes in chars.
func newByteSet(chars string) *byteSet {
	var s byteSet
	for i := range len(chars) {
		s[chars[i]] = true
	}
	return &s
}

const (
	digits   = "0123456789"
	upper    = digits + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alphabet = upper + "abcdefghijklmnopqrstuvwxyz"
)

var (
	alphabets = map[string]string{"hex": digits + "abcdefABCDEF", "upper": upper, "alnum": alphabet}
	wordBytes = newByteSet(alphabet + "_")
	keyBytes  = newByteSet(alphabet + "-_./+=~") // all bytes of keys
	pemBytes  = newByteSet(alphabet + "+/=-:, \\\r\n\t")
)

// shapeIndex has the shapes by their first byte, those with the longest prefixes first. pairs
// is the set of their first two bytes.
type shapeIndex struct {
	byFirstByte [256][]shape
	pairs       [1 << 10]uint64
}

// hasPair reports whether a known shape starts with the two bytes.
func (x *shapeIndex) hasPair(a, b byte) bool {
	pair := pairOf(a, b)
	return x.pairs[pair>>6]&(1<<(pair&63)) != 0
}

// shapes returns the known shapes. It parses the embedded shapes.txt on first use; the comment
// in that file explains its columns.
var shapes = sync.OnceValue(func() *shapeIndex {
	var all shapeIndex
	for line := range strings.Lines(shapeTable) {
		f := strings.Fields(line)
		if len(f) < 5 || f[0] == "#" {
			continue
		}
		least, err := strconv.Atoi(f[4])
		if err != nil {
			panic("shapes.txt: " + line) // a test reads it
		}
		s := shape{name: f[0], prefix: f[1], set: newByteSet(alphabets[f[2]] + strings.TrimPrefix(f[3], "none")), minLength: least}
		if len(f) > 5 {
			s.inner = f[5]
		}
		all.byFirstByte[f[1][0]] = append(all.byFirstByte[f[1][0]], s)
		pair := pairOf(f[1][0], f[1][1])
		all.pairs[pair>>6] |= 1 << (pair & 63)
	}
	for _, list := range all.byFirstByte {
		slices.SortStableFunc(list, func(a, b shape) int { return len(b.prefix) - len(a.prefix) })
	}
	return &all
})

// key is a range of a text that looks like a key. name replaces it. set has the bytes with
// which it may continue. An open key reaches the end of the text, and may continue in the next
// one. A weak key in PEM form is too short to be masked.
type key struct {
	name       string
	start, end int
	set        *byteSet
	open, weak bool
}

// limit returns how long an open key may be before it is masked, in bytes.
func (k key) limit() int {
	if k.set == pemBytes {
		return longestPEM
	}
	return longestKey
}

// finder finds the keys of a text in order. There are two kinds: private keys in PEM form,
// which have lines, and tokens, which have one of the known shapes.
type finder struct {
	b      []byte
	at     int  // the search position
	pem    key  // the next private key in PEM form
	hasPEM bool // pem is set
}

// newFinder returns a finder that starts at a position of b. Bytes before it are only context.
func newFinder(b []byte, from int) *finder {
	f := &finder{b: b, at: from}
	f.pem, f.hasPEM = findPEM(b, from)
	return f
}

// next returns the next key, and false after the last one.
func (f *finder) next() (k key, found bool) {
	if f.hasPEM && f.pem.start < f.at {
		f.pem, f.hasPEM = findPEM(f.b, f.at)
	}
	if k, found = f.nextToken(); !found || f.hasPEM && f.pem.start < k.start {
		k, found = f.pem, f.hasPEM
	}
	if f.at = k.end; !found {
		f.at = len(f.b)
	}
	return k, found
}

// nextToken returns the next key that is not in PEM form, and false if the next key is in PEM
// form or there is none. It moves a window of the minimum length past all bytes that keys
// cannot contain, so it reads little of ordinary text.
func (f *finder) nextToken() (key, bool) {
	b, known := f.b, shapes()
	for i := f.at; i+shortestKey <= len(b) && !(f.hasPEM && f.pem.start < i); {
		j := i + shortestKey - 1
		for j >= i && keyBytes[b[j]] {
			j--
		}
		if j >= i {
			i = j + 1
			continue
		}
		k, end, found := keyIn(b, i, known)
		if found {
			return k, true
		}
		i = end + 1
	}
	return key{}, false
}

// keyIn looks for a key in the run of key bytes at start, and returns the end of the run.
func keyIn(b []byte, start int, known *shapeIndex) (k key, end int, found bool) {
	for end = start; end < len(b) && keyBytes[b[end]]; end++ {
		if end > start+escapes && wordBytes[b[end-1]] || end+1 == len(b) || !known.hasPair(b[end], b[end+1]) || !startsToken(b, end) {
			continue
		}
		if k, found = keyAt(known.byFirstByte[b[end]], b, end); found {
			return k, end, true
		}
	}
	return k, end, false
}

// keyAt returns the key that starts at p, and false if none of the shapes matches. list has
// the shapes that start with the byte at p.
func keyAt(list []shape, b []byte, p int) (key, bool) {
	for i := range list {
		s := &list[i]
		from := p + len(s.prefix)
		if !bytes.HasPrefix(b[p:], []byte(s.prefix)) || s.inner != "" && !bytes.Contains(b[from:min(len(b), from+innerWithin)], []byte(s.inner)) {
			continue
		}
		if body := span(b, from, s.set); s.matchesBody(body) {
			return key{name: s.name, start: p, end: from + len(body), set: s.set, open: from+len(body) == len(b)}, true
		}
	}
	return key{}, false
}

// span returns the bytes of b after from, up to the first one that is not in the set.
func span(b []byte, from int, in *byteSet) []byte {
	end := from
	for end < len(b) && in[b[end]] {
		end++
	}
	return b[from:end]
}

// matchesBody reports whether the bytes after the prefix are those of a key. After a prefix
// that ends in a punctuation mark, 16 bytes are enough if they contain a digit.
func (s *shape) matchesBody(body []byte) bool {
	switch {
	case len(s.prefix)+len(body) < shortestKey:
		return false
	case s.inner != "" && !bytes.Contains(body, []byte(s.inner)):
		return false
	case len(body) >= s.minLength:
		return true
	}
	marked := !strings.ContainsRune(alphabet, rune(s.prefix[len(s.prefix)-1]))
	return marked && len(body) >= distinctive && bytes.ContainsAny(body, digits)
}

// startsToken reports whether a key may start at p: at the start of a word, or after an escape
// sequence of JSON (\n or \u0022), of a URL (%22), or of a terminal (ESC [31m).
func startsToken(b []byte, p int) bool {
	if p == 0 || !wordBytes[b[p-1]] {
		return true
	}
	switch {
	case p >= 2 && b[p-2] == '\\', p >= 3 && b[p-3] == '%', p >= 6 && b[p-6] == '\\' && b[p-5] == 'u':
		return true
	case b[p-1] != 'm':
		return false
	}
	for p -= 2; p >= 0 && (b[p] == ';' || b[p] >= '0' && b[p] <= '9'); p-- {
	}
	return p >= 0 && b[p] == '['
}

var (
	pemBegin, pemKind = []byte("-----BEGIN "), []byte("PRIVATE KEY")
	pemEnd, dashes    = []byte("-----END "), []byte("-----")
)

// pemHead is the maximum length of the first line of a private key up to the words PRIVATE
// KEY, in bytes.
const pemHead = 80

// findPEM returns the first private key in PEM form at or after from, with its lines; false if
// there is none. It skips keys that are complete and too short.
func findPEM(b []byte, from int) (key, bool) {
	for at := from; ; {
		n := bytes.Index(b[at:], pemKind)
		if n < 0 {
			return key{}, false
		}
		at += n + len(pemKind)
		begin := bytes.LastIndex(b[max(from, at-pemHead):at], pemBegin)
		if begin < 0 {
			continue
		}

		k := key{name: "private-key", start: max(from, at-pemHead) + begin, set: pemBytes}

		body := span(b, at, pemBytes)
		if end := bytes.Index(body, pemEnd); end >= 0 {
			tail := bytes.Index(body[end+len(pemEnd):], dashes)
			if k.open = tail < 0; !k.open {
				body = body[:end+len(pemEnd)+tail+len(dashes)]
			}
		} else {
			k.open = at+len(body) == len(b)
		}

		k.end, k.weak = at+len(body), len(body) < minPEM
		if !k.weak || k.open {
			return k, true
		}
	}
}

// maskKeys returns b[from:] with the keys replaced by their names in brackets. It returns
// b[from:] itself if there are none. The bytes before from are only context.
func maskKeys(b []byte, from int) []byte {
	masked, _, _ := maskKeysUntil(b, from, true)
	return masked
}

// maskKeysUntil is maskKeys for a text that continues unless complete is set. It returns the
// masked text as far as it is decided, and the position of the rest. A key that is longer than
// its limit is masked although its end is unknown; unfinished is then its set.
func maskKeysUntil(b []byte, from int, complete bool) (masked []byte, rest int, unfinished *byteSet) {
	var out []byte
	at := from
	for f := newFinder(b, from); ; {
		k, found := f.next()
		if !found {
			if rest = len(b); !complete {
				rest = max(at, undecidedStart(b, at))
			}
			break
		}
		if !complete && k.open && k.end-k.start < k.limit() {
			rest = k.start
			break
		}
		if k.weak {
			continue
		}
		out = append(append(out, b[at:k.start]...), "["+k.name+"]"...)
		if at = k.end; k.open {
			unfinished = k.set
		}
	}
	if out == nil {
		return b[at:rest], rest, unfinished
	}
	return append(out, b[at:rest]...), rest, unfinished
}

// undecidedStart returns the start of the end of b that may become a key with more text;
// len(b) if there is no such end.
func undecidedStart(b []byte, from int) int {
	if at := max(from, len(b)-pemHead); at < len(b) {
		if n := bytes.LastIndex(b[at:], pemBegin); n >= 0 && !bytes.ContainsAny(b[at+n+len(pemBegin):], "-\r\n") {
			return at + n
		}
	}
	known, start, at := shapes(), len(b), len(b)
	for ; start > from && start > len(b)-longestKey && keyBytes[b[start-1]]; start-- {
		if p := start - 1; (p == from || !wordBytes[b[p-1]]) && known.mayBegin(b, p) {
			at = p
		}
	}
	for p := start; p < min(at, start+escapes); p++ {
		if known.mayBegin(b, p) {
			return p
		}
	}
	return at
}

// mayBegin reports whether a key may start at p and continue after b.
func (x *shapeIndex) mayBegin(b []byte, p int) bool {
	rest := b[p:]
	if x.byFirstByte[rest[0]] == nil && rest[0] != '-' || !startsToken(b, p) {
		return false
	}
	if len(rest) < len(pemBegin) && bytes.HasPrefix(pemBegin, rest) {
		return true
	}
	for i := range x.byFirstByte[rest[0]] {
		s := &x.byFirstByte[rest[0]][i]
		if len(rest) < len(s.prefix) {
			if strings.HasPrefix(s.prefix, string(rest)) {
				return true
			}
		} else if bytes.HasPrefix(rest, []byte(s.prefix)) && len(span(rest, len(s.prefix), s.set)) == len(rest)-len(s.prefix) {
			return true
		}
	}
	return false
}

// keyWriter masks the keys in a stream. It holds the possible start of a key until more text
// decides.
type keyWriter struct {
	to           io.Writer
	contextBytes []byte // the last bytes that were passed on, before masking
	held         []byte // the possible start of a key
	data         []byte // a buffer that each call of Write reuses
	// skipping is the set of a key that was masked before its end, whose further bytes are
	// dropped; nil if there is none.
	skipping *byteSet
}

// contextSize is how many bytes before the held text are kept, for [startsToken].
const contextSize = 16

// Write masks the keys in p, and holds the end of p if it may be the start of a key.
func (w *keyWriter) Write(p []byte) (int, error) {
	rest := p
	if w.skipping != nil {
		if rest = p[len(span(p, 0, w.skipping)):]; len(rest) == 0 {
			return len(p), nil
		}
	}

	data := append(append(append(w.data[:0], w.contextBytes...), w.held...), rest...)
	out, hold, unfinished := maskKeysUntil(data, len(w.contextBytes), false)
	w.data, w.skipping = data, unfinished
	w.held = append(w.held[:0], data[hold:]...)
	w.contextBytes = append(w.contextBytes[:0], data[max(0, hold-contextSize):hold]...)

	if len(out) > 0 {
		if _, err := w.to.Write(out); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Close passes the held text on, with its keys masked.
func (w *keyWriter) Close() error {
	if len(w.held) == 0 {
		return nil
	}
	text := maskKeys(append(w.contextBytes, w.held...), len(w.contextBytes))
	w.held = nil
	_, err := w.to.Write(text)
	return err
}
