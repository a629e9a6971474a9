package ledger

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// tempPrefix is the prefix of the names of files that are still being written.
const tempPrefix = ".tmp-"

// WriteFile replaces a file atomically: it writes a temporary file in the same folder,
// syncs it, renames it and syncs the folder. After a crash either the old or the new file
// exists.
func WriteFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()

	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names of the files in a folder durable.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// WriteJSON writes v as indented JSON, as [WriteFile] does.
func WriteJSON(path string, v any) error {
	b, err := encodeJSON(v, "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return WriteFile(path, b)
}

// encodeJSON encodes v with a final newline, and without escapes for HTML.
func encodeJSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// readJSON decodes a JSON file into v.
func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// readOptionalJSON is readJSON for a file that may be missing; found is false then.
func readOptionalJSON(path string, v any) (found bool, err error) {
	err = readJSON(path, v)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// maxIndented is the size in bytes up to which documents are indented for readers. In a
// document with tens of thousands of tests, a third would be indentation.
const maxIndented = 1 << 20

// indentUnlessLarge indents a document as [WriteJSON] does, unless it is large.
func indentUnlessLarge(doc []byte) []byte {
	var b bytes.Buffer
	if len(doc) > maxIndented || json.Indent(&b, doc, "", "  ") != nil {
		return doc
	}
	return b.Bytes()
}

// writeGzip compresses data and writes it to a file.
func writeGzip(path string, data []byte) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	if err = errors.Join(err, z.Close()); err != nil {
		return fmt.Errorf("compress %s: %w", filepath.Base(path), err)
	}
	return WriteFile(path, b.Bytes())
}

// readGzipJSON decodes a compressed JSON file into v.
func readGzipJSON(path string, v any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		err = errors.Join(json.NewDecoder(z).Decode(v), z.Close())
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
