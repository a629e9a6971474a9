package record_test

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"supervise/internal/ledger"
	"supervise/internal/record"
)

const manual = "../../docs/record.md"

// module begins the import paths of this module.
var module, _, _ = strings.Cut(reflect.TypeFor[ledger.State]().PkgPath(), "internal/")

// Every field of every message is in the manual.
func TestEveryFieldIsDocumented(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile("(?s)```.*?```").ReplaceAll(text, nil)
	known := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(string(text), -1) {
		for _, word := range regexp.MustCompile(`[a-z_]+`).FindAllString(m[1], -1) {
			known[word] = true
		}
	}
	for _, v := range []any{record.Message{}, record.ProgressReport{}, record.RegressionAlert{}, record.BestIterationSelection{}, ledger.TrackedIteration{}} {
		for _, name := range fieldNames(reflect.TypeOf(v), map[reflect.Type]bool{}) {
			if !known[name] {
				t.Errorf("%T: %s does not stand in %s", v, name, manual)
			}
		}
	}
}

// fieldNames lists the JSON names of a type of ours and of those in it. Values of
// alerts have their names from the rules.
func fieldNames(t reflect.Type, seen map[reflect.Type]bool) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] || !strings.HasPrefix(t.PkgPath(), module) || t.Name() == "Values" || t.Name() == "Test" {
		return nil
	}
	seen[t] = true
	var out []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			out = append(out, name)
		}
		out = append(out, fieldNames(f.Type, seen)...)
	}
	return out
}

// The example of the manual does what the manual says.
func TestTheExampleOfTheManual(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```jsonl\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("there is no example")
	}
	p := place(t)
	var last []any
	messages := record.NewMessages(strings.NewReader(example))
	for {
		m, err := messages.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if last, err = answer(p, m); err != nil {
			t.Fatal(err)
		}
		if m.Iteration != nil && *m.Iteration == 3 {
			if got := strings.Join(alertRules(last), " "); got != "test_count_decreased working_tests_failing coverage_regression" || *last[0].(record.ProgressReport).Advice.Target != 2 {
				t.Errorf("iteration 3 is answered by %s, %+v", got, last)
			}
		}
	}
	if s, ok := last[len(last)-1].(record.BestIterationSelection); !ok || s.Selected != 2 {
		t.Errorf("the last answer is %+v", last)
	}
}

func alertRules(answers []any) []string {
	var out []string
	for _, a := range answers[1].(record.RegressionAlert).Alerts {
		out = append(out, a.Rule)
	}
	return out
}

func answer(p record.Service, m record.Message) ([]any, error) {
	if m.Type != record.KindDecision {
		rec, err := record.Record(context.Background(), p, m)
		return rec.Answer(), err
	}
	dir, state, err := ledger.FindLoop(p.Home, p.Root, m.LoopID)
	if err != nil {
		return nil, err
	}
	v, err := record.ReadView(dir, state)
	if err != nil {
		return nil, err
	}
	return v.Answer(m)
}
