package parsed

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supervise/internal/jsonstream"
	"supervise/metric"
)

func TestAnyTextReadsEveryValue(t *testing.T) {
	for text, want := range map[string]AnyText{
		`"a"`: "a", `["a","","b"]`: "a\nb", `{"message":"m","stack":"at x"}`: "m\nat x", `{"message":"m","stack":"m at x"}`: "m at x",
		`null`: "", `3`: "", `[["a"],{"message":"b"}]`: "a\nb",
	} {
		var got AnyText
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestAnyNumberReadsTexts(t *testing.T) {
	for text, want := range map[string]AnyNumber{`0.25`: 0.25, `"0.25"`: 0.25, `"0.250s"`: 0.25, `"soon"`: 0, `true`: 0, `-1`: -1} {
		var got AnyNumber
		if err := got.UnmarshalJSON([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	if got := AnyNumber(1500).In(time.Millisecond); got != 1500*time.Millisecond {
		t.Errorf("1500 milliseconds are %v", got)
	}
}

func TestMembersPassesOverOthers(t *testing.T) {
	var name string
	var items []int
	_, err := jsonstream.ReadDocuments(strings.NewReader(`{"other":{"name":"x"},"name":"a","items":[1,2]}`), func(j *jsonstream.Reader) error {
		return ReadMembers(j, map[string]any{"name": &name, "items": ItemReader(j, func(n int) { items = append(items, n) })})
	})
	if err != nil || name != "a" || !cmp.Equal(items, []int{1, 2}) {
		t.Errorf("%q, %v, %v", name, items, err)
	}
}

func TestCompiledSplitsMessagesOfTheCompiler(t *testing.T) {
	f := metric.Finding{Tool: "x", Rule: "compile", Level: metric.Error, Type: true, Message: "# p\na/b.go:4:9: undefined: y\na/c.go:1: bad"}
	want := []metric.Finding{
		{Tool: "x", Rule: "compile", Level: metric.Error, Type: true, File: "a/b.go", Line: 4, Column: 9, Message: "undefined: y"},
		{Tool: "x", Rule: "compile", Level: metric.Error, Type: true, File: "a/c.go", Line: 1, Message: "bad"},
	}
	if diff := cmp.Diff(want, SplitCompilerOutput(f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f.Message = "something else"
	if diff := cmp.Diff([]metric.Finding{f}, SplitCompilerOutput(f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestURIPath(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///a%20b/c.go": "/a b/c.go", "file://localhost/a": "/a", "file:///C:/a.c": "C:/a.c", "a/../b.c": "b.c", `a\b.c`: "a/b.c", "https://x/a": "https://x/a",
	} {
		if got := URIPath(uri); got != want {
			t.Errorf("%s is %s, want %s", uri, got, want)
		}
	}
}
