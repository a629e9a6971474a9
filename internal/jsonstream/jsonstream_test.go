package jsonstream_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/internal/jsonstream"
	"supervise/internal/textstream"
)

// read collects "name=value" for every member "n" in lists of objects.
func read(src io.Reader) (got []string, noise string, err error) {
	noise, err = jsonstream.ReadDocuments(src, func(r *jsonstream.Reader) error {
		return r.Array(func() error {
			return r.Object(func(name string) error {
				if name != "n" {
					return r.Skip()
				}
				s, err := r.Text()
				got = append(got, s)
				return err
			})
		})
	})
	return got, noise, err
}

func TestDocuments(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
		noise      string
		err        string
	}{
		{"one", `[{"n":"a"},{"x":{"y":[1,2]},"n":"b"}]`, []string{"a", "b"}, "", ""},
		{"nothing", "", nil, "", ""},
		{"no document", "hello\n[INFO] world\n", nil, "hello", ""},
		{"talk around", "[INFO] begin\n> run\n[{\"n\":\"a\"}]\nDone {in} 3 s\n", []string{"a"}, "[INFO] begin", ""},
		{"several", "[{\"n\":\"a\"}]\n[]\n[{\"n\":\"b\"}] tail\n[{\"n\":\"c\"}]", []string{"a", "b", "c"}, "tail", ""},
		{"joined", `[{"n":"a"}][{"n":"b"}]`, []string{"a", "b"}, "", ""},
		{"colours off before it", "\x1b[0m[{\"n\":\"a\"}]\x1b[0m\n", []string{"a"}, "", ""},
		{"null", `[{"n":null},null]`, []string{""}, "", ""},
		{"cut off", "x\n[{\"n\":\"a\"},\n{\"n\":\"b", []string{"a", ""}, "x", "line 3"},
		{"cut off between", "[{\"n\":\"a\"},\n", []string{"a"}, "", "ends in the middle"},
		{"damaged", "[{\"n\":\"a\"},\n{\"n\" 3}]", []string{"a"}, "", "line 2"},
		{"another shape", `[["x"]]`, nil, "", "found [, want"},
		{"bad UTF-8 and twice", "[{\"n\":\"\xff\",\"n\":\"b\"}]", []string{"\ufffd", "b"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, noise, err := read(strings.NewReader(tt.text))
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" && tt.err == "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if noise != tt.noise {
				t.Errorf("noise %q, want %q", noise, tt.noise)
			}
		})
	}
}

// The line of an error counts from the beginning of the text, even if the reader has
// read far ahead.
func TestErrorsNameTheirLine(t *testing.T) {
	text := strings.Repeat("talk\n", 3) + "[\n" + strings.Repeat("{\"n\":\"a\"},\n", 5000) + "oops]"
	_, _, err := read(strings.NewReader(text))
	var syntax *textstream.SyntaxError
	if !errors.As(err, &syntax) || syntax.Line != 5005 {
		t.Errorf("error %v, want one in line 5005", err)
	}
}

// A value of any size is skipped in bounded memory; a huge value that must be kept
// whole is an error.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it looks for time and memory, not for races")
	}
	huge := func() io.Reader {
		return io.MultiReader(strings.NewReader(`[{"x":[`), &repeat{text: `"spam",`, left: 7 * 8 << 20}, strings.NewReader(`0],"n":"a"}]`))
	}
	got, _, err := read(huge())
	if err != nil || len(got) != 1 {
		t.Errorf("skipped: got %v, %v", got, err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err = read(io.MultiReader(strings.NewReader(`[{"x":"`), &repeat{text: "spam", left: 64 << 20}, strings.NewReader(`"}]`)))
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a huge string: error %v", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 192<<20 {
		t.Errorf("%d MiB were allocated", used>>20)
	}
	for _, text := range []string{"[", `[{"x":`} {
		if _, _, err := read(&repeat{text: text, left: len(text) << 17}); err == nil || len(err.Error()) > 400 {
			t.Errorf("%s over and over: error %.500v", text, err)
		}
	}
}

type repeat struct {
	text string
	left int
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && r.left > 0 {
		at := (len(r.text) - r.left%len(r.text)) % len(r.text)
		m := copy(p[n:], r.text[at:])
		n, r.left = n+m, r.left-m
	}
	return n, nil
}

func TestEvents(t *testing.T) {
	for _, tt := range []struct {
		name, text  string
		want, noise []string
		err         string
	}{
		{"plain", "{\"a\":1}\n{\"a\":2}\n", []string{`{"a":1}`, `{"a":2}`}, nil, ""},
		{"no end of line", `{"a":1}`, []string{`{"a":1}`}, nil, ""},
		{"two in a line", `{"a":"}{\""}{"a":2}`, []string{`{"a":"}{\""}`, `{"a":2}`}, nil, ""},
		{"talk", "talk\n> {\"a\":[{}]} more\n{x}\n", []string{`{"a":[{}]}`}, []string{"talk", "> ", " more", "{x}"}, ""},
		{"cut off", "{\"a\":1}\n{\"a\":", []string{`{"a":1}`}, nil, "line 2"},
		{"broken in the middle", "{\"a\":\n{\"a\":1}\n", []string{`{"a":1}`}, []string{`{"a":`}, ""},
		{"a string without end", "{\"a\":\"x\\\"}\n", nil, []string{`{"a":"x\"}`}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got, noise []string
			err := jsonstream.ReadEvents(strings.NewReader(tt.text), nil, jsonstream.Sink{
				Event: func(raw []byte, _ textstream.Line) error { got = append(got, string(raw)); return nil },
				Noise: func(text []byte, _ textstream.Line) { noise = append(noise, string(text)) },
			})
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff([2][]string{tt.want, tt.noise}, [2][]string{got, noise}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnmarshal(t *testing.T) {
	var v struct {
		Name string `json:"name"`
	}
	if err := jsonstream.Unmarshal([]byte(`{"Name":"other","name":"x","more":1}`), &v); err != nil || v.Name != "x" {
		t.Errorf("got %+v, %v", v, err)
	}
	if err := jsonstream.Unmarshal([]byte(`{"name":1}`), &v); err == nil {
		t.Error(fmt.Sprint("a number was read as a string: ", v.Name))
	}
}

func FuzzDocuments(f *testing.F) {
	for _, s := range []string{`[{"n":"a"}]`, "x\n[{\"n\":1}]\n[]", `{"a":[1,{"b":null}]}`, "[INFO]\n{"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _, err := read(strings.NewReader(string(text)))
		var syntax *textstream.SyntaxError
		if err != nil && !errors.As(err, &syntax) {
			t.Errorf("error %v is no SyntaxError", err)
		}
		n := 0
		_, err = jsonstream.ReadDocuments(strings.NewReader(string(text)), func(r *jsonstream.Reader) error { n++; return r.Skip() })
		if n > len(text) || err != nil && !errors.As(err, &syntax) {
			t.Errorf("%d documents, error %v", n, err)
		}
	})
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("{\"a\":1}x{\"a\":\"}\"}\n{\"a\""))
	f.Fuzz(func(t *testing.T, text []byte) {
		size := 0
		err := jsonstream.ReadEvents(strings.NewReader(string(text)), nil, jsonstream.Sink{
			Event: func(raw []byte, _ textstream.Line) error { size += len(raw); return nil },
			Noise: func(text []byte, _ textstream.Line) { size += len(text) },
		})
		if size > len(text) {
			t.Errorf("%d bytes were handed out of %d", size, len(text))
		}
		var syntax *textstream.SyntaxError
		if err != nil && !errors.As(err, &syntax) {
			t.Errorf("error %v is no SyntaxError", err)
		}
	})
}
