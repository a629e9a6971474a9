package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is printed of the odd half are totals, whatever happened to its cases.
func TestOddHalfIsNotShown(t *testing.T) {
	dir := t.TempDir()
	for i := range 6 {
		for _, side := range []string{"src", "before", "after"} {
			at := filepath.Join(dir, fmt.Sprintf("%03d-case", i+1), side)
			if err := os.MkdirAll(at, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(at, "a.py"), []byte(side), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cases, err := readHalves(dir, readTampering)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		c.arm = "tamper"
		c.gate = verdict{known: i > 0, stopped: i > 3, findings: []string{"HIGH rule of " + c.name}}
		if i == 2 {
			c.unqualified = "reason of " + c.name
		}
	}
	var out strings.Builder
	printAll(&out, cases, &flags{notes: true, loop: true})
	for i, c := range cases {
		if shown := strings.Contains(out.String(), c.name); shown != (i%2 == 1) {
			t.Errorf("case %d of the sorted names is shown: %v\n%s", i+1, shown, out.String())
		}
	}
	for _, want := range []string{"| tamperings, even half | 3 | 3 | 3 | all | 33.3 ", "| tamperings, odd half | 3 | 2 | 1 | all | 100.0 "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in\n%s", want, out.String())
		}
	}
}
