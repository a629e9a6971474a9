package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// distribution is what holds the cases. Its licence is that of its authors; nothing
// of it is kept here.
const (
	distribution = "checkwash-0.9.0"
	digest       = "718f4ecc22cb5f308a8fb4f0e2c14d1be4c2a0df6c61487b3bc413c0f48dcee9"
)

// fetch downloads the source distribution with pip and unpacks its benchmarks.
func (b *bench) fetch() (string, error) {
	venv, to := filepath.Join(b.dir, "venv"), filepath.Join(b.dir, "sdist")
	pip := filepath.Join(venv, "bin", "pip")
	name, version, _ := strings.Cut(distribution, "-")
	// pip asks the distribution for its metadata, which takes its build system.
	for _, argv := range [][]string{
		{"python3", "-m", "venv", venv},
		{pip, "install", "--quiet", "--disable-pip-version-check", "hatchling"},
		{pip, "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-binary", name, "--dest", to, name + "==" + version},
	} {
		if out, err := b.command(b.dir, argv...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("fetch %s: %w: %s", distribution, err, out)
		}
	}
	archive, err := os.ReadFile(filepath.Join(to, distribution+".tar.gz"))
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(archive); hex.EncodeToString(sum[:]) != digest {
		return "", fmt.Errorf("%s.tar.gz has the digest %x, want %s", distribution, sum, digest)
	}
	return filepath.Join(to, distribution), unpack(strings.NewReader(string(archive)), to)
}

// unpack writes the benchmarks of an archive to dir.
func unpack(archive io.Reader, dir string) error {
	z, err := gzip.NewReader(archive)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || !strings.HasPrefix(h.Name, distribution+"/benchmarks/") {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(h.Name)), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(filepath.FromSlash(h.Name), data, 0o600); err != nil {
			return err
		}
	}
}
