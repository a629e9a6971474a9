package ledger

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func (l *Ledger) writeCheckpoint(n int, doc []byte) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(doc); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return WriteFile(filepath.Join(l.dir, "checkpoints", IterationName(n)+".json.gz"), b.Bytes())
}

func readCheckpoint(dir, name string) (it Iteration, err error) {
	f, err := os.Open(filepath.Join(dir, "checkpoints", name+".json.gz"))
	if err != nil {
		return it, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return it, err
	}
	if err := json.NewDecoder(z).Decode(&it); err != nil {
		return it, err
	}
	return it, z.Close()
}
