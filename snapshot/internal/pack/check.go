package pack

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// CheckResult is the result of Check: which objects exist, and which of them are damaged.
type CheckResult struct {
	Bytes   int64
	Intact  map[OID]bool        // by object; false: damaged
	Damaged map[string][]string // path of a file → its problems
}

// Check reads all packs and verifies the hashes of objects, packs and indexes. Like Refresh, it makes the packs known to o.
// Contents are streamed. The error wraps fs.ErrNotExist if another process drops packs at the same time.
func (o *Objects) Check(ctx context.Context) (CheckResult, error) {
	c := CheckResult{Intact: map[OID]bool{}, Damaged: map[string][]string{}}
	list, err := o.Indexes()
	for _, idx := range list {
		objs, failed := c.checkPack(ctx, strings.TrimSuffix(idx, ".idx"))
		o.addPack(idx, objs)
		err = errors.Join(err, failed)
	}
	return c, err
}

// addProblem adds a problem of a file.
func (c *CheckResult) addProblem(file, format string, args ...any) {
	c.Damaged[file] = append(c.Damaged[file], fmt.Sprintf(format, args...))
}

// checkPack verifies a pack and its index, and returns the objects in it. Damage is recorded
// in c; an error means that the pack could not be checked. base is the path without .pack or
// .idx.
func (c *CheckResult) checkPack(ctx context.Context, base string) ([]indexEntry, error) {
	data, err := os.ReadFile(base + ".idx")
	if err != nil {
		return nil, fmt.Errorf("read pack index: %w", err)
	}

	end := len(data) - int(packTailSize)
	if end < 0 || sha1.Sum(data[:end]) != [sha1.Size]byte(data[end:]) { //nolint:gosec // git's
		c.addProblem(base+".idx", "its checksum is another")
	}
	objs, err := parseIndex(data)
	if err != nil {
		c.addProblem(base+".idx", "%v", err)
		return nil, nil
	}

	f, err := os.Open(base + ".pack")
	if _, there := os.Lstat(base + ".idx"); there == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a crash may leave an index without a pack
	}
	if err != nil {
		return nil, fmt.Errorf("open pack: %w", err)
	}
	defer f.Close()
	if err := c.checkSum(f); err != nil {
		c.addProblem(f.Name(), "%v", err)
	}

	for _, obj := range objs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := checkObject(f, obj)
		if _, known := c.Intact[obj.ID]; !known || err != nil {
			c.Intact[obj.ID] = err == nil
		}
		if err != nil {
			c.addProblem(f.Name(), "object %s: %v", obj.ID, err)
		}
	}
	return objs, nil
}

// checkSum verifies the checksum at the end of a pack, and adds the size of the pack to
// c.Bytes.
func (c *CheckResult) checkSum(f *os.File) error {
	fi, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at pack: %w", err)
	}
	c.Bytes += fi.Size()
	h, tail := sha1.New(), make([]byte, packTailSize) //nolint:gosec // git's
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, max(fi.Size()-packTailSize, 0))); err != nil {
		return fmt.Errorf("read pack: %w", err)
	}
	if _, err := f.ReadAt(tail, max(fi.Size()-packTailSize, 0)); err != nil || !bytes.Equal(h.Sum(nil), tail) {
		return errors.New("its checksum is another")
	}
	return nil
}

// checkObject reads an object from a pack and verifies its id.
func checkObject(pack io.ReaderAt, obj indexEntry) error {
	t, size, content, err := openEntry(pack, obj.offset)
	h := NewHash(t, size)
	var n int64
	if err == nil {
		n, err = io.Copy(h, io.LimitReader(content, size+1))
	}
	switch {
	case err != nil:
		return fmt.Errorf("read it: %w", err)
	case n != size || Sum(h) != obj.ID:
		return errors.New("its content has another hash")
	}
	return nil
}

// NewObjects returns the object database of a git directory without creating or reading anything.
func NewObjects(dir string) *Objects {
	return &Objects{dir: dir, locations: map[OID]location{}, knownIndexes: map[string]bool{}, epoch: &Epoch{}}
}
