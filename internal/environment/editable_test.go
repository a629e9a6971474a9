package environment_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"supervise/internal/environment"
)

// What setuptools 80, hatchling and uv write for pip install -e, and what is no folder.
func TestEditable(t *testing.T) {
	root := t.TempDir()
	site := filepath.Join(root, ".venv", "lib", "python3.12", "site-packages")
	for name, text := range map[string]string{
		"_editable_impl_shop.pth":            "/home/me/shop/src\n",
		"__editable__.shop-1.0.pth":          "/home/me/other/src/\n",
		"__editable___flat_1_0_finder.py":    "from __future__ import annotations\nMAPPING: dict[str, str] = {'flat': '/home/me/flat/flat', 'a.b': '/home/me/deep/a/b', 'odd': '/home/me/odd/lib'}\nNAMESPACES: dict[str, list[str]] = {}\n",
		"distutils-precedence.pth":           "import os; var = 'SETUPTOOLS_USE_DISTUTILS'\n",
		"relative.pth":                       "vendored\n",
		"shop-1.0.dist-info/direct_url.json": "{}\n",
	} {
		path := filepath.Join(site, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := environment.Watch{Root: root}.Editable(t.Context())
	if want := []string{"/home/me/deep", "/home/me/flat", "/home/me/other/src", "/home/me/shop/src"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
