package cleanroom

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCommandsNameFiles(t *testing.T) {
	for _, tt := range []struct {
		command, file string
		want          bool
	}{
		{"sh accept.sh", "accept.sh", true},
		{"sh ./accept.sh && make", "accept.sh", true},
		{"go run . | diff - want/out.txt", "want/out.txt", true},
		{"go run ./accept", "accept/main.go", true},
		{"go run ./accept", "accept/check/check.go", false},
		{"go run .", "main.go", false},
		{"mypy src", "src/calc.py", false},
		{"python3 -m tools.accept", "tools/accept.py", true},
		{"python3 -m accept", "accept/__main__.py", true},
		{"test -e 'done.txt'", "done.txt", true},
		{"test -e done.txt", "one.txt", false},
	} {
		if got := namesFile(tt.command, tt.file); got != tt.want {
			t.Errorf("%q names %s: %v", tt.command, tt.file, got)
		}
	}
}

func TestLinesThatNameNewSources(t *testing.T) {
	const before = "cmake_minimum_required(VERSION 3.10)\nadd_library(shop cart.c)\n"
	for _, tt := range []struct {
		after, want string
		ok          bool
	}{
		{before + "target_sources(shop PRIVATE price.c)\n", before + "target_sources(shop PRIVATE price.c)\n", true},
		{before + "add_compile_definitions(NDEBUG)\n", before, true},
		{before + "target_sources(shop PRIVATE price.c)\nadd_compile_definitions(NDEBUG)\n", before + "target_sources(shop PRIVATE price.c)\n", true},
		{"add_library(shop cart.c price.c)\n", "", false},
	} {
		got, ok := withoutOtherLines([]byte(before), []byte(tt.after), []string{"price"})
		if ok != tt.ok || string(got) != tt.want {
			t.Errorf("%q: %q, %v", tt.after, got, ok)
		}
	}
}

// A clean home folder has the folders of tool chains and nothing else.
func TestCleanHome(t *testing.T) {
	real, clean := t.TempDir(), t.TempDir()
	for _, name := range []string{".cargo/registry/index", ".cache/answer", ".gitconfig"} {
		file := filepath.Join(real, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env, err := makeHome(clean, []string{"HOME=" + real, "XDG_CACHE_HOME=" + filepath.Join(real, ".cache"), "XDG_DATA_HOME=/other"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"HOME=" + clean, "XDG_CACHE_HOME=" + filepath.Join(clean, ".cache")}; !slices.Equal(env, want) {
		t.Errorf("%v, want %v", env, want)
	}
	for name, want := range map[string]bool{".cargo/registry/index": true, ".cache/answer": false, ".gitconfig": false} {
		if _, err := os.Stat(filepath.Join(clean, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
