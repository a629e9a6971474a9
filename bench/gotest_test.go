package bench

import (
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"gotest.tools/gotestsum/testjson"
)

// BenchmarkGoTest reads a million events of go test -json.
func BenchmarkGoTest(b *testing.B) {
	compare(b, goTestOf(1_000_000),
		ours("go-test-json"),
		reader{"gotestsum", readGotestsum},
		reader{"encoding-json", readGoEvents},
	)
}

// silent is a handler of gotestsum that prints nothing.
type silent struct{}

func (silent) Event(testjson.TestEvent, *testjson.Execution) error { return nil }
func (silent) Err(string) error                                    { return nil }

func readGotestsum(r io.Reader) (any, error) {
	return testjson.ScanTestOutput(testjson.ScanConfig{Stdout: r, Handler: silent{}})
}

// readGoEvents decodes each event and keeps the verdicts: the least that a
// reader built on the standard library does.
func readGoEvents(r io.Reader) (any, error) {
	type key struct{ pkg, test string }
	verdicts := map[key]string{}
	for d := json.NewDecoder(r); ; {
		var e struct {
			Time    time.Time
			Action  string
			Package string
			Test    string
			Elapsed float64
			Output  string
		}
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return verdicts, nil
		} else if err != nil {
			return nil, err
		}
		switch e.Action {
		case "pass", "fail", "skip":
			verdicts[key{e.Package, e.Test}] = e.Action
		}
	}
}
