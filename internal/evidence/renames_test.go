package evidence_test

import (
	"maps"
	"testing"

	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/snapshot"
)

func TestRenamedFilesArePaired(t *testing.T) {
	const body = "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif A() != 1 {\n\t\tt.Error(\"no\")\n\t}\n}\n"
	for _, test := range []struct {
		name          string
		before, after map[string]string
		want          map[string]string
	}{
		{"moved as it is", map[string]string{"a_test.go": body}, map[string]string{"b_test.go": body}, map[string]string{"a_test.go": "b_test.go"}},
		{"moved and edited", map[string]string{"a_test.go": body}, map[string]string{"b/b_test.go": body + "\nfunc TestB(t *testing.T) {}\n"}, map[string]string{"a_test.go": "b/b_test.go"}},
		{"another file", map[string]string{"a_test.go": body}, map[string]string{"b.go": "package b\n\nfunc B() int {\n\treturn 2\n}\n"}, nil},
		{"edited in place", map[string]string{"a_test.go": body}, map[string]string{"a_test.go": body + "// more\n"}, nil},
		{"one file, two copies", map[string]string{"a_test.go": body}, map[string]string{"b_test.go": body + "// more\n", "c_test.go": body}, map[string]string{"a_test.go": "c_test.go"}},
		{"an empty file is like no other", map[string]string{"a.go": ""}, map[string]string{"b.go": ""}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var changes []snapshot.Change
			for path := range test.before {
				kind := snapshot.Deleted
				if _, there := test.after[path]; there {
					kind = snapshot.Modified
				}
				changes = append(changes, snapshot.Change{Path: path, Kind: kind})
			}
			for path := range test.after {
				if _, there := test.before[path]; !there {
					changes = append(changes, snapshot.Change{Path: path, Kind: snapshot.Added})
				}
			}
			e, err := evidence.Collect(changes, integrity.Options{}, func(path string, after bool) ([]byte, error) {
				if after {
					return []byte(test.after[path]), nil
				}
				return []byte(test.before[path]), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(e.Renamed, test.want) {
				t.Errorf("renamed %v, want %v", e.Renamed, test.want)
			}
		})
	}
}
