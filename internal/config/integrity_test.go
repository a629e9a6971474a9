package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/internal/config"
)

func TestIntegrity(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("own.yaml", "patterns:\n  - {id: A-1, type: flag_off, added: 'flag = false'}\n")
	write("bad.yaml", "patterns:\n  - id: A-2\n    type: x\n    added: '('\n")
	s, err := config.Load(write("ok.yml", "integrity:\n  patterns_enabled: [test_deletion, TP-27]\n  off: [suppression_added]\n  patterns:\n    - {id: A-0, type: todo, added: TODO, in: comment}\n  pattern_files: [own.yaml]\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	if o := s.Integrity.Options(); len(o.Patterns) != 2 || o.Patterns[1].ID != "A-1" || len(o.Enabled) != 2 || len(o.Disabled) != 1 {
		t.Errorf("options: %+v", o)
	}
	o, err := s.LoopOptions(dir)
	if err != nil || len(o.Integrity.Patterns) != 2 {
		t.Errorf("options of the loop: %+v, %v", o.Integrity, err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"rule", "integrity:\n  off: [TP-99]\n", "[2:3] integrity.off: there is no rule TP-99; name one by its number"},
		{"field", "integrity:\n  patterns:\n    - id: A\n      type: a\n      added: x\n    - id: B\n      type: b\n      severity: fatal\n      added: x\n", `[8:7] integrity.patterns: number 2: severity: "fatal" is not known`},
		{"file is not there", "integrity:\n  pattern_files: [none.yaml]\n", "name an existing file"},
		{"file is wrong", "integrity:\n  pattern_files: [bad.yaml]\n", "bad.yaml:4: patterns: number 1: added:"},
		{"twice", "integrity:\n  patterns:\n    - {id: A-1, type: b, added: x}\n  pattern_files: [own.yaml]\n", "A-1 is there twice"},
	} {
		_, err := config.Load(write("c.yml", c.text), true)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
