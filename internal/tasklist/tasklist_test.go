package tasklist_test

import (
	"reflect"
	"strings"
	"testing"

	"supervise/internal/tasklist"
)

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []tasklist.Task
		err        string
	}{
		{"a.md", "# Today\n\n- [ ] Fix Sub\n  It adds.\n  until: go test ./...\n- [x] Done\n* [ ] Add Mul\n", []tasklist.Task{{Text: "Fix Sub\n  It adds.", Until: "go test ./..."}, {Text: "Done", Done: true}, {Text: "Add Mul"}}, ""},
		{"a.md", "Fix Sub. Remember:\n\n- [ ] tests\n", nil, ""},
		{"a.md", "- [ ] tests\n\nThat is all.\n", nil, ""},
		{"a.txt", "  - [ ] indented\n", nil, ""},
		{"a.md", "", nil, ""},
		{"a.json", `[{"task": "Fix Sub", "until": "true"}, {"task": "Add"}]`, []tasklist.Task{{Text: "Fix Sub", Until: "true"}, {Text: "Add"}}, ""},
		{"a.JSON", `[{"task": "Fix Sub", "when": "true"}]`, nil, `a.JSON is not a list of tasks: json: unknown field "when": want [`},
		{"a.json", `[{"task": " "}]`, nil, "task 1 has no text"},
		{"a.json", `[] []`, nil, "more text after the list"},
		{"a.json", `[]`, nil, "it is empty"},
		{"a.json", `[Fix Sub]`, nil, "invalid character"},
		{"a.json", `{"prompt": "Fix Sub"}`, nil, ""},
	} {
		got, err := tasklist.Read(tt.name, []byte(tt.text))
		if !reflect.DeepEqual(got, tt.want) || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s %q: %+v, %v; want %+v, %s", tt.name, tt.text, got, err, tt.want, tt.err)
		}
	}
	if got := (tasklist.Task{Text: "Fix Sub\n  It adds."}).Title(); got != "Fix Sub" {
		t.Errorf("the title is %q", got)
	}
}
