package sniff_test

import (
	"io"
	"strings"
	"testing"

	"supervise/internal/sniff"
)

func TestLookRecognisesContent(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		is         func(sniff.Head) bool
	}{
		{"xml", `<?xml version="1.0"?><!-- x --><runs a="1"><run/></runs>`, func(h sniff.Head) bool {
			return h.HasRoot("x", "runs") && h.HasElements("run") && !h.HasElements("ran") && h.Root.Attr("a") == "1" && h.Root.Attr("b") == ""
		}},
		{"xml cut off", `<runs><run>`, func(h sniff.Head) bool { return h.HasRoot("runs") && h.HasElements("run") }},
		{"talk before xml", "> run\n<runs/>", func(h sniff.Head) bool { return h.HasRoot("runs") }},
		{"json with markup in it", `{"html":"<b>x</b>"}`, func(h sniff.Head) bool { return !h.HasRoot("b") && h.HasMembers("html") }},
		{"talk before json with markup in it", "a line\n{\n \"html\":\"<b>x</b>\"}", func(h sniff.Head) bool { return !h.HasRoot("b") && h.HasMembers("html") }},
		{"markup before json", "at <anonymous>\n{\"a\":1}", func(h sniff.Head) bool { return h.HasMembers("a") }},
		{"object", `{"a":{"b":[{"c.d":1}]}}`, func(h sniff.Head) bool {
			return h.HasMembers("a", "a.b", "a.*.[]", "a.b.[].*") && !h.HasMembers("c") && !h.HasMembers("*.[]") && h.Value == "{"
		}},
		{"list", "warning: x\n[{\"f\":1,\"m\":[]}]", func(h sniff.Head) bool { return h.HasMembers("[].f", "[].m") && h.Value == "[" && !h.IsEmptyList() }},
		{"empty list", "[]\n", func(h sniff.Head) bool { return h.IsEmptyList() && !h.HasMembers("a") }},
		{"json lines", "{\"a\":1}\n{\"b\":1}\n{\"c", func(h sniff.Head) bool { return h.HasMembers("a", "b") }},
		{"text", "a.c:3: \x1b[1merror\x1b[0m\r\n", func(h sniff.Head) bool {
			return h.MatchesLine(func(l string) bool { return l == "a.c:3: error" }) && h.Value == "" && !h.HasMembers() && !h.IsEmpty()
		}},
		{"nothing", " \n", func(h sniff.Head) bool { return h.IsEmpty() && !h.HasRoot("a") && !h.HasMembers() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if h := sniff.Inspect([]byte(tt.text)); !tt.is(h) {
				t.Errorf("not so: %+v", h)
			}
		})
	}
}

// Open reads the head, and the text is still complete afterwards.
func TestOpenKeepsTheText(t *testing.T) {
	text := strings.Repeat("a line\n", 100_000)
	src, head, err := sniff.Open(strings.NewReader("\xef\xbb\xbf" + text))
	if err != nil || len(head.Text) != sniff.Size || !strings.HasPrefix(text, string(head.Text)) {
		t.Fatalf("head of %d bytes, %v", len(head.Text), err)
	}
	all, err := io.ReadAll(src)
	if err != nil || string(all) != text {
		t.Errorf("%d bytes follow, %v", len(all), err)
	}
}
