package judge

import (
	"reflect"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
)

// readByStages are the fields of the evidence that the stages of judging read instead of
// the rules.
var readByStages = map[string]bool{"RunnerFiles": true, "MixedRunnerFiles": true, "InlineTestFiles": true, "OnlyTestsChanged": true}

// Each field of the evidence reaches the rules: a rule that reads a forgotten field would
// never fire.
func TestEvidenceReachesTheRules(t *testing.T) {
	t.Parallel()
	without := inputOf(&ledger.Evidence{})
	for _, field := range reflect.VisibleFields(reflect.TypeFor[ledger.Evidence]()) {
		if field.Anonymous {
			continue
		}
		name, evidence := field.Name, &ledger.Evidence{}
		fill(t, reflect.ValueOf(evidence).Elem().FieldByIndex(field.Index))
		with := inputOf(evidence)
		if changed := !reflect.DeepEqual(with, without); changed == readByStages[name] {
			t.Errorf("Evidence.%s changes the input of the rules: %t, want %t; see History.Input", name, changed, !changed)
		}
	}
}

func inputOf(e *ledger.Evidence) detector.Input {
	return NewHistory().Input(ledger.Iteration{Agent: &ledger.AgentRun{}, Evidence: e})
}

// fill sets a value to something else than its zero value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	case reflect.Bool:
		v.SetBool(true)
	default:
		if v.Type() != reflect.TypeFor[time.Time]() {
			t.Fatalf("no value for %s", v.Type())
		}
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
	}
}
