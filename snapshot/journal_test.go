package snapshot

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A restore that stopped half-way is finished by the next Open, whatever part of it had been done.
func TestInterruptedRestoreIsFinished(t *testing.T) {
	for name, half := range map[string]func(t *testing.T, dir, temp string){
		"nothing done": func(*testing.T, string, string) {},
		"temporary files left": func(t *testing.T, dir, temp string) {
			write(t, dir, temp, "half a fi")
			write(t, dir, "lib/"+temp, "half")
			write(t, dir, ".git/refs/heads/"+temp, "ab")
		},
		"some files done": func(t *testing.T, dir, _ string) {
			write(t, dir, "main.go", "package main // two\n")
			must(t, os.RemoveAll(filepath.Join(dir, "fresh")))
		},
		"half of git's state done": func(t *testing.T, dir, _ string) {
			must(t, os.RemoveAll(filepath.Join(dir, ".git/refs")))
			must(t, os.Remove(filepath.Join(dir, ".git/index")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := workshop(t)
			s := open(t, dir, Options{})
			before := picture(t, dir)
			target := take(t, s)
			write(t, dir, "main.go", "broken\n")
			write(t, dir, "fresh/new.go", "new\n")
			git(t, dir, "commit", "-q", "-am", "agent")
			after := picture(t, dir)
			safety := take(t, s)
			j, err := json.Marshal(journal{Target: target.ID, Safety: safety.ID, Token: "TOKEN"})
			must(t, err)
			must(t, os.WriteFile(s.journalFile(), j, 0o600))
			half(t, dir, tempPrefix+"TOKEN-1")

			s = reopen(t, s)
			if r := s.Recovered(); r == nil || r.Target != target.ID || r.Safety != safety.ID || len(r.Mismatches) > 0 {
				t.Fatalf("recovered: %+v", r)
			}
			same(t, "finished", before, picture(t, dir))
			if reopen(t, s).Recovered() != nil {
				t.Error("the journal is still there")
			}
			restore(t, s, safety.ID)
			same(t, "undone", after, picture(t, dir))
		})
	}
}

func TestDamagedManifestIsRefused(t *testing.T) {
	dir := plain(t)
	s := open(t, dir, Options{})
	first, second := take(t, s), take(t, s)
	file := filepath.Join(s.manifestDir(), string(first.ID))
	data, err := os.ReadFile(file)
	must(t, err)
	for name, bad := range map[string]string{
		"cut":     string(data[:len(data)-10]),
		"changed": strings.Replace(string(data), "a.txt", "b.txt", 1),
		"future":  strings.Replace(string(data), manifestVersion, "supervise-snapshot 9", 1),
	} {
		must(t, os.WriteFile(file, []byte(bad), 0o600))
		s, err := Open(context.Background(), dir, s.dir, Options{})
		if err == nil {
			_, err = s.Restore(context.Background(), first.ID)
			if _, errOther := s.Files(second.ID); errOther != nil {
				t.Errorf("%s: the other snapshot cannot be read: %v", name, errOther)
			}
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: error is %v, want one that names %s", name, err, file)
		}
	}
}
