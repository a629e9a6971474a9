package textstream

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"supervise/internal/regexp"
)

// UTF8 returns the text of src in UTF-8, without a byte order mark. UTF-16 is recognized by its
// mark, or by the zero bytes of an XML declaration, and Latin-1 and Windows-1252 by the XML
// declaration. Everything else is returned unchanged, so it works for any text.
func UTF8(src io.Reader) io.Reader {
	b := bufio.NewReaderSize(src, chunkSize)
	head, _ := b.Peek(4) // the first Read returns the error again
	for _, m := range byteOrderMarks {
		if bytes.HasPrefix(head, m.mark) {
			_, _ = b.Discard(m.length) // cannot fail: the bytes were peeked
			if m.order == nil {
				return b
			}
			return newUTF16Reader(b, m.order)
		}
	}
	head, _ = b.Peek(256)
	if m := xmlEncodingRE.FindSubmatch(head); m != nil && latinEncodings[strings.ToLower(string(m[1]))] {
		return newLatinReader(b)
	}
	return b
}

// byteOrderMarks are the beginnings that identify an encoding. Length is the number of bytes
// that are not text.
var byteOrderMarks = []struct {
	mark   []byte
	length int
	order  binary.ByteOrder // nil for UTF-8
}{
	{[]byte{0xEF, 0xBB, 0xBF}, 3, nil},
	{[]byte{0xFF, 0xFE}, 2, binary.LittleEndian},
	{[]byte{0xFE, 0xFF}, 2, binary.BigEndian},
	{[]byte{'<', 0, '?', 0}, 0, binary.LittleEndian},
	{[]byte{0, '<', 0, '?'}, 0, binary.BigEndian},
}

// xmlEncodingRE matches an XML declaration with an encoding: <?xml version="1.0"
// encoding="latin1".
var xmlEncodingRE = regexp.MustCompile(`^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']+)["']`)

// latinEncodings are the encodings that are read as Windows-1252. US-ASCII is not one of
// them, because it is UTF-8.
var latinEncodings = map[string]bool{
	"iso-8859-1": true, "iso8859-1": true, "iso_8859-1": true, "latin1": true, "latin-1": true,
	"iso-8859-15": true, "windows-1252": true, "cp1252": true,
}

// recoder reads text of another encoding as UTF-8. Its function next appends one character of
// the source to out, and returns the error at the end of the source.
type recoder struct {
	next func(out []byte) ([]byte, error)
	out  []byte // converted text
	read int    // how much of out was read
	err  error  // returned after out
}

// Read implements [io.Reader].
func (r *recoder) Read(p []byte) (int, error) {
	if r.read == len(r.out) {
		if r.err != nil {
			return 0, r.err
		}
		r.out, r.read = r.out[:0], 0
		for len(r.out) < 4096 && r.err == nil {
			r.out, r.err = r.next(r.out)
		}
	}
	n := copy(p, r.out[r.read:])
	r.read += n
	return n, nil
}

// newUTF16Reader reads UTF-16. Half a surrogate pair, or half a unit at the end, becomes
// U+FFFD.
func newUTF16Reader(src *bufio.Reader, order binary.ByteOrder) io.Reader {
	var held rune // a high surrogate without its low one yet
	return &recoder{next: func(out []byte) ([]byte, error) {
		var unit [2]byte
		_, err := io.ReadFull(src, unit[:])
		if err != nil {
			if held != 0 || errors.Is(err, io.ErrUnexpectedEOF) {
				out = utf8.AppendRune(out, utf8.RuneError)
			}
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF
			}
			return out, err
		}

		r := rune(order.Uint16(unit[:]))
		if held != 0 {
			pair := utf16.DecodeRune(held, r)
			out, held = utf8.AppendRune(out, pair), 0
			if pair != utf8.RuneError {
				return out, nil
			}
		}
		if r >= 0xD800 && r < 0xDC00 {
			held = r
			return out, nil
		}
		return utf8.AppendRune(out, r), nil
	}}
}

// windows1252 is the meaning of the bytes 0x80 to 0x9F. Latin-1 has only unused control
// characters there, so one table is enough for both.
var windows1252 = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

// newLatinReader reads Windows-1252 or Latin-1.
func newLatinReader(src *bufio.Reader) io.Reader {
	return &recoder{next: func(out []byte) ([]byte, error) {
		c, err := src.ReadByte()
		if err != nil {
			return out, err
		}
		r := rune(c)
		if c >= 0x80 && c < 0xA0 {
			r = windows1252[c-0x80]
		}
		return utf8.AppendRune(out, r), nil
	}}
}
