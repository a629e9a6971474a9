package xmlstream_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"supervise/internal/textstream"
	"supervise/internal/xmlstream"

	"github.com/google/go-cmp/cmp"
)

// flat reads a document into one line per token; adjacent texts are joined.
func flat(src io.Reader) ([]string, error) {
	var out []string
	text := ""
	flush := func() {
		if strings.TrimSpace(text) != "" {
			out = append(out, "text "+text)
		}
		text = ""
	}
	r := xmlstream.NewReader(src)
	for {
		t, err := r.Next()
		if err != nil {
			flush()
			return out, err
		}
		switch t.Kind {
		case xmlstream.Text:
			text += t.Text
		case xmlstream.Start:
			flush()
			line := "start " + t.Name
			for _, a := range t.Attrs {
				line += fmt.Sprintf(" %s=%q", a.Name, a.Value)
			}
			out = append(out, line)
		case xmlstream.End:
			flush()
			out = append(out, "end "+t.Name)
		case xmlstream.Comment:
			flush()
			out = append(out, "comment "+t.Text)
		}
	}
}

func utf16Bytes(s string, order binary.AppendByteOrder, mark bool) string {
	var b []byte
	if mark {
		b = order.AppendUint16(b, 0xFEFF)
	}
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

var readable = []struct {
	name, doc string
	want      []string
}{
	{"plain", `<?xml version="1.0"?><a x="1"><b/>t</a>`, []string{`start a x="1"`, "start b", "end b", "text t", "end a"}},
	{"byte order mark", "\xEF\xBB\xBF<a/>", []string{"start a", "end a"}},
	{"version 1.1", `<?xml version="1.1"?><a/>`, []string{"start a", "end a"}},
	{"utf-16 little endian", utf16Bytes("<a>é😀</a>", binary.LittleEndian, true), []string{"start a", "text é😀", "end a"}},
	{"utf-16 big endian", utf16Bytes("<a>é😀</a>", binary.BigEndian, true), []string{"start a", "text é😀", "end a"}},
	{"utf-16 without a mark", utf16Bytes(`<?xml version="1.0"?><a>é</a>`, binary.LittleEndian, false), []string{"start a", "text é", "end a"}},
	{"utf-16 declared, utf-8 written", `<?xml version="1.0" encoding="utf-16"?><a>é</a>`, []string{"start a", "text é", "end a"}},
	{"latin-1", "<?xml version='1.0' encoding='ISO-8859-1'?><a x=\"\xe9\">\x80</a>", []string{`start a x="é"`, "text €", "end a"}},
	{"us-ascii", `<?xml version="1.0" encoding="US-ASCII"?><a>&#233;</a>`, []string{"start a", "text é", "end a"}},
	{"bad utf-8", "<a x='\xff'>b\xffc</a>", []string{"start a x=\"\uFFFD\"", "text b\uFFFDc", "end a"}},
	{"raw control characters", "<a x='\x1b[0m'>\a</a>", []string{`start a x="\x1b[0m"`, "text \a", "end a"}},
	{"control characters as references", "<a x='&#x1b;[0m'>&#7;</a>", []string{`start a x="\x1b[0m"`, "text \a", "end a"}},
	{"predefined references", "<a x='&lt;&amp;&quot;'>&gt;&apos;</a>", []string{`start a x="<&\""`, "text >'", "end a"}},
	{"unknown references stay", "<a x='&nbsp;'>&nope; & &#xZ; &;</a>", []string{`start a x="&nbsp;"`, "text &nope; & &#xZ; &;", "end a"}},
	{"single null bytes", "<a x='\x00'>b\x00c</a>", []string{"start a x=\"\uFFFD\"", "text b\uFFFDc", "end a"}},
	{"reference to no character", "<a>&#xD800;&#x110000;</a>", []string{"start a", "text \uFFFD\uFFFD", "end a"}},
	{"raw < in an attribute", `<a x="1 < 2 <b>"/>`, []string{`start a x="1 < 2 <b>"`, "end a"}},
	{"raw < in text", `<a>1 < 2</a>`, []string{"start a", "text 1 < 2", "end a"}},
	{"cdata", "<a><![CDATA[<b>&amp;]]]]><![CDATA[>]]></a>", []string{"start a", "text <b>&amp;]]>", "end a"}},
	{"comment", "<a><!-- <b> --></a>", []string{"start a", "comment  <b> ", "end a"}},
	{"namespace prefix", `<n:a n:x="1"/>`, []string{`start a x="1"`, "end a"}},
	{"attribute without value", `<a x y="1"/>`, []string{`start a x="" y="1"`, "end a"}},
	{"two documents", "<a/>\n<?xml version='1.0'?><b/>", []string{"start a", "end a", "start b", "end b"}},
	{"noise before and after", "npm run\n<a/>\ndone", []string{"text npm run\n", "start a", "end a", "text \ndone"}},
	{"spaces in tags", "<a  x = '1'\n>b</a >", []string{`start a x="1"`, "text b", "end a"}},
	{
		"doctype with a bomb",
		`<!DOCTYPE a [<!ENTITY x "]>"><!-- > ' --><!ENTITY y "&x;&x;"><!ENTITY f SYSTEM "file:///etc/passwd">]><a>&y;&f;</a>`,
		[]string{"start a", "text &y;&f;", "end a"},
	},
}

func TestReportsThatCanBeRead(t *testing.T) {
	for _, tt := range readable {
		t.Run(tt.name, func(t *testing.T) {
			for name, src := range map[string]io.Reader{
				"whole":        strings.NewReader(tt.doc),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tt.doc)),
			} {
				got, err := flat(src)
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: error %v, want io.EOF", name, err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s: tokens (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func TestReportsThatCannotBeRead(t *testing.T) {
	for _, tt := range []struct{ name, doc, want string }{
		{"element left open", "<a>\n<b>", "line 2 (byte 7): the document ends inside <b>"},
		{"cut in a tag", "<a>\n<b x=", "line 2 (byte 9): the document ends in the middle of a tag"},
		{"cut in a value", "<a x='1", "line 1 (byte 7): the document ends in the middle of a tag"},
		{"cut in cdata", "<a><![CDATA[x", "the document ends in the middle of a tag"},
		{"wrong end", "<a><b></a>", "line 1 (byte 10): <b> is closed by </a>"},
		{"end without start", "</a>", "closes an element that was never opened"},
		{"value without quotes", "<a x=1>", "the value of attribute x of <a> is not in quotes"},
		{"rubbish in a tag", `<a "x">`, "in the tag <a>, want an attribute"},
		{"too deep", strings.Repeat("<a>", 100_000), "nested more than 4096 deep"},
		{"too many attributes", "<a" + strings.Repeat(" x=''", 2000) + "/>", "more than 1024 attributes"},
		{"null bytes", "<a>\nb" + strings.Repeat("\x00", 16) + "c</a>", "line 2 (byte 5): the document contains null bytes"},
		{"endless name", "<a" + strings.Repeat("a", 10_000), "a name is longer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := flat(strings.NewReader(tt.doc))
			var syntax *textstream.SyntaxError
			if !errors.As(err, &syntax) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want a SyntaxError with %q", err, tt.want)
			}
		})
	}
}

func TestSourceErrorIsPassedOn(t *testing.T) {
	broken := errors.New("disk on fire")
	_, err := flat(io.MultiReader(strings.NewReader("<a>"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// repeated gives head, then n times part, then tail.
func repeated(head, part string, n int, tail string) io.Reader {
	block := strings.Repeat(part, 1024)
	readers := make([]io.Reader, 0, n/1024+2)
	readers = append(readers, strings.NewReader(head))
	for range n / 1024 {
		readers = append(readers, strings.NewReader(block))
	}
	return io.MultiReader(append(readers, strings.NewReader(tail))...)
}

// Memory stays bounded with 100 MB in one place of a document.
func TestMemoryIsBounded(t *testing.T) {
	const size = 100 << 20
	for _, tt := range []struct{ name, head, tail string }{
		{"text", "<a>", "</a>"},
		{"cdata", "<a><![CDATA[", "]]></a>"},
		{"attribute", "<a x='", "'/>"},
		{"comment", "<a><!--", "--></a>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			src := repeated(tt.head, "0123456789abcdef", size/16, tt.tail)
			r := xmlstream.NewReader(src)
			peak := uint64(0)
			runtime.GC()
			runtime.ReadMemStats(&before)
			for i := 0; ; i++ {
				_, err := r.Next()
				if i%256 == 0 {
					runtime.ReadMemStats(&after)
					peak = max(peak, after.HeapAlloc)
				}
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Fatal(err)
					}
					break
				}
			}
			if grown := int64(peak) - int64(before.HeapAlloc); grown > 32<<20 {
				t.Errorf("the heap grew by %d MB, want less than 32", grown>>20)
			}
		})
	}
}

func FuzzXML(f *testing.F) {
	for _, tt := range readable {
		f.Add([]byte(tt.doc))
	}
	f.Add([]byte("<a><b></a>"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		r := xmlstream.NewReader(strings.NewReader(string(doc)))
		depth := 0
		for range 4*len(doc) + 8 { // every token takes at least a byte, and gives at most two
			tok, err := r.Next()
			if err != nil {
				if errors.Is(err, io.EOF) && depth != 0 {
					t.Fatalf("the document ended well with %d open elements", depth)
				}
				return
			}
			if !utf8.ValidString(tok.Text) || !utf8.ValidString(tok.Name) {
				t.Fatalf("token %+v is no UTF-8", tok)
			}
			switch tok.Kind {
			case xmlstream.Start:
				depth++
			case xmlstream.End:
				depth--
			case xmlstream.Text, xmlstream.Comment:
			}
		}
		t.Fatal("the reader does not come to an end")
	})
}

// walked lists the elements of a document as Children returns them, with the content of
// those named t.
func walked(r *xmlstream.Reader, out *[]string, indent string) error {
	return r.EachChild(func(t xmlstream.Token) error {
		line := indent + t.Name
		switch t.Name {
		case "skip":
			*out = append(*out, line)
			return nil
		case "t":
			text := ""
			err := r.EachText(func(s string) { text += s })
			*out = append(*out, line+" "+text)
			return err
		}
		*out = append(*out, line)
		return walked(r, out, indent+" ")
	})
}

func TestChildren(t *testing.T) {
	doc := "noise <a>x<skip>y<b/><![CDATA[<c>]]></skip><t>1<i>2<j/></i><![CDATA[<3>]]></t><t/>< <b><c/></b></a>\n<d/>"
	for name, src := range map[string]io.Reader{
		"whole":        strings.NewReader(doc),
		"byte by byte": iotest.OneByteReader(strings.NewReader(doc)),
	} {
		var got []string
		r := xmlstream.NewReader(src)
		if err := walked(r, &got, ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := []string{"a", " skip", " t 12<3>", " t ", " b", "  c", "d"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: elements (-want +got):\n%s", name, diff)
		}
		if !strings.HasPrefix(r.TextOutside(), "n") {
			t.Errorf("%s: outside is %q, want noise", name, r.TextOutside())
		}
	}
}

func TestChildrenReturnsAfterTheEnd(t *testing.T) {
	enough := errors.New("enough")
	r := xmlstream.NewReader(strings.NewReader("<a><b/><c/></a>"))
	if err := r.EachChild(func(xmlstream.Token) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("error %v, want %v", err, enough)
	}
	var got []string
	err := walked(xmlstream.NewReader(strings.NewReader("<a><skip><b></skip></a>")), &got, "")
	var syntax *textstream.SyntaxError
	if !errors.As(err, &syntax) {
		t.Errorf("error %v, want a SyntaxError", err)
	}
	if err := walked(xmlstream.NewReader(strings.NewReader("<a><t>")), &got, ""); !errors.As(err, &syntax) {
		t.Errorf("error %v, want a SyntaxError", err)
	}
}

func TestTokensNameTheirLine(t *testing.T) {
	r := xmlstream.NewReader(strings.NewReader("<a>\n" + strings.Repeat("<b>x\ny</b>\n", 20_000) + "<c/></a>"))
	line := 0
	err := r.EachChild(func(xmlstream.Token) error {
		return r.EachChild(func(xmlstream.Token) error {
			line = r.Line()
			return nil
		})
	})
	if err != nil || line != 40_002 {
		t.Errorf("line %d, %v; want 40002", line, err)
	}
}

// BenchmarkReader reads what most of a test report consists of.
func BenchmarkReader(b *testing.B) {
	doc := "<testsuite>" + strings.Repeat(`<testcase classname="tests.unit.test_module" name="test_something_or_other" time="0.001"/>`+"\n", 10_000) + "</testsuite>"
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		r := xmlstream.NewReader(strings.NewReader(doc))
		for err := error(nil); err == nil; {
			_, err = r.Next()
		}
	}
}
