package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
)

// writeFileSync replaces a file of the store so that after a crash either the old or the new content is there.
func writeFileSync(name string, data []byte, perm os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(name), "tmp_")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer os.Remove(f.Name()) // it has its final name by then, or stays for sweepTemps
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return syncDir(filepath.Dir(name))
}

// sweepTemps removes what a crash left of writeFileSync and packWriter in a folder of the store.
func sweepTemps(dir string) {
	list, _ := filepath.Glob(filepath.Join(dir, "tmp_*"))
	for _, f := range list {
		_ = os.Remove(f) // it will be tried again next time
	}
}
