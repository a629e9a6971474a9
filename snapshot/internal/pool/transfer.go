package pool

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"supervise/internal/projectfile"
	"supervise/snapshot/internal/disk"
)

// A process that writes to an object file in place also changes its hard links. Therefore small numbers of small files are
// copied, although copying takes about ten times as long as linking. Other files are linked, and later verified by their
// inode, size and times. If the file system shares blocks between copies, all files are copied.
const (
	mostCopies = 250      // maximum number of new loose objects to copy
	copyBytes  = 16 << 20 // maximum bytes of new objects to copy
)

// copyBudget limits how much Gather copies.
type copyBudget struct {
	copyLoose bool  // loose objects may be copied
	bytes     int64 // how many bytes may still be copied
	noClone   bool  // the file system shares no blocks
}

// newCopyBudget returns the budget for the objects in names. Loose objects are copied only if
// there are few new ones.
func (p *Pool) newCopyBudget(names []string) copyBudget {
	loose := 0
	for _, n := range names {
		if _, ok := p.first[n]; !ok && !strings.HasPrefix(n, "pack/") {
			loose++
		}
	}
	return copyBudget{copyLoose: loose <= mostCopies, bytes: copyBytes}
}

// keep adds a file of the database to the pool. It copies a small file while the budget allows
// it, and otherwise clones or links it.
func (p *Pool) keep(name, from, to string, budget *copyBudget) error {
	if p.Large {
		return linkLarge(from, to)
	}
	fi, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if (budget.copyLoose || strings.HasPrefix(name, "pack/")) && fi.Size() <= budget.bytes {
		budget.bytes -= fi.Size()
		return disk.Copy(from, to)
	}
	if !budget.noClone {
		if err := disk.Clone(from, to); err == nil {
			return nil
		}
		budget.noClone = true
	}
	if err := disk.LinkOrCopy(from, to); err != nil {
		return err
	}
	p.recordLink(name, from, to)
	return nil
}

// recordLink records the Stat of a file in the pool if it is a hard link to the database.
func (p *Pool) recordLink(name, theirs, ours string) {
	a, errA := os.Lstat(theirs)
	b, errB := os.Lstat(ours)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		p.linked[name] = disk.StatOf(a)
	}
}

// linkedFile returns the path of the file with p.linked.
func (p *Pool) linkedFile() string { return filepath.Join(p.dir, "linked.json") }

// loadLinked reads p.linked, whose file may be missing.
func (p *Pool) loadLinked() error {
	p.linked = map[string]disk.Stat{}
	if _, err := disk.ReadJSON(p.linkedFile(), &p.linked); err != nil {
		return fmt.Errorf("read object pool %s: %w", p.linkedFile(), err)
	}
	return nil
}

// RestoreResult is the result of Pool.Restore.
type RestoreResult struct {
	Files   int      // restored files, or files whose permissions were restored
	Damaged []string // damaged in both the database and the pool
}

// Restore restores the objects that the snapshot with number seq needs and that are missing or damaged in dir. since is
// when that snapshot was started.
func (p *Pool) Restore(dir string, seq int, since time.Time) (RestoreResult, error) {
	var result RestoreResult
	makeFoldersAccessible(dir)
	present, err := p.listFiles(dir)
	if err != nil {
		return result, err
	}

	have := make(map[string]bool, len(present))
	for _, n := range present {
		have[n] = true
	}

	for n := range p.first {
		to := filepath.Join(dir, filepath.FromSlash(n))
		if !p.isNeededBy(n, seq) || have[n] && !p.mayHaveChanged(n, to, since) {
			continue
		}
		done, err := p.restoreFile(n, to, have[n])
		if err != nil {
			return result, fmt.Errorf("restore git object: %w", err)
		}
		if done {
			result.Files++
		}
		if !done && !p.isSound(p.file(n), n) {
			result.Damaged = append(result.Damaged, n)
		}
	}

	sort.Strings(result.Damaged)
	result.Files += p.restoreFolderRights(dir, seq)
	return result, nil
}

// restoreFile restores one file of the database if necessary, and reports whether it has changed anything.
func (p *Pool) restoreFile(name, to string, there bool) (bool, error) {
	if there && p.isIntact(name, to) {
		return p.restoreRights(name, to)
	}

	ours := p.file(name)
	if !p.isSound(ours, name) {
		return false, nil
	}
	if err := disk.IgnoreMissing(os.Remove(to)); err != nil {
		return false, err
	}

	_, linked := p.linked[name]
	switch {
	case p.Large:
		return true, linkLarge(ours, to)
	case !linked:
		if err := disk.Copy(ours, to); err != nil {
			return false, err
		}
	default:
		if err := disk.LinkOrCopy(ours, to); err != nil {
			return false, err
		}
		p.recordLink(name, to, ours)
	}

	_, err := p.restoreRights(name, to)
	return true, err
}

// restoreRights restores the owner and permissions of a file in the database, and reports
// whether it has changed them. For a hard link they are those that were recorded.
func (p *Pool) restoreRights(name, file string) (bool, error) {
	if p.Large {
		return false, nil
	}
	rights, linked := p.linked[name]
	if ours, err := os.Lstat(p.file(name)); err == nil && !linked {
		rights = disk.StatOf(ours)
	}
	if rights.Mode&0o400 == 0 {
		return false, nil
	}
	return disk.Rights{Mode: rights.Mode, Owner: rights.Owner}.ApplyTo(file)
}

// foldersFile returns the path of the file with the rights of folders.
func (p *Pool) foldersFile() string { return filepath.Join(p.dir, "folders.json") }

// folderRights are the rights of a database folder, starting with snapshot number From.
type folderRights struct {
	From int
	disk.Rights
}

// recordFolderRights records the rights of the folders of loose objects if they differ from those of the folder above, which
// are in the manifest.
func (p *Pool) recordFolderRights(dir string, seq int) error {
	above, err := os.Lstat(dir)
	if err != nil || p.Large {
		return nil //nolint:nilerr // no objects
	}
	folders, changed := p.loadFolderRights(), false
	for _, name := range listLooseFolders(dir) {
		fi, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		recorded := disk.RightsOf(above)
		if list := folders[name]; len(list) > 0 {
			recorded = list[len(list)-1].Rights
		}
		if now := disk.RightsOf(fi); now != recorded {
			folders[name], changed = append(folders[name], folderRights{seq, now}), true
		}
	}
	if !changed {
		return nil
	}
	return disk.WriteJSON(p.foldersFile(), "", folders)
}

// loadFolderRights returns the recorded rights, oldest first, by folder.
func (p *Pool) loadFolderRights() map[string][]folderRights {
	out := map[string][]folderRights{}
	_, _ = disk.ReadJSON(p.foldersFile(), &out) // folders without an entry get the rights of the folder above
	return out
}

// restoreFolderRights restores the rights of folders in snapshot number seq, and returns how many it has changed.
func (p *Pool) restoreFolderRights(dir string, seq int) (n int) {
	above, err := os.Lstat(dir)
	if err != nil || p.Large {
		return 0
	}
	noted := p.loadFolderRights()
	for _, name := range listLooseFolders(dir) {
		rights := disk.RightsOf(above)
		for _, s := range noted[name] {
			if s.From <= seq {
				rights = s.Rights
			}
		}
		if changed, err := rights.ApplyTo(filepath.Join(dir, name)); changed && err == nil {
			n++
		}
	}
	return n
}

// listLooseFolders lists the folders of loose objects.
func listLooseFolders(dir string) []string {
	return slices.DeleteFunc(listFolders(dir), func(name string) bool { return len(name) != 2 })
}

// listFolders lists the folders of a database.
func listFolders(dir string) (out []string) {
	list, _ := os.ReadDir(dir)
	for _, d := range list {
		if d.IsDir() {
			out = append(out, d.Name())
		}
	}
	return out
}

// makeFoldersAccessible gives the owner access to all folders of a database, so that they can be read.
func makeFoldersAccessible(dir string) {
	parent, err := os.Lstat(filepath.Dir(dir))
	if err != nil {
		return
	}
	open := func(d string) {
		if fi, err := os.Lstat(d); err == nil && fi.IsDir() && fi.Mode().Perm()&0o700 != 0o700 {
			_ = os.Chmod(d, parent.Mode().Perm()|0o700) // after an error, the next step fails
		}
	}
	open(dir)
	for _, name := range listFolders(dir) {
		open(filepath.Join(dir, name))
	}
}

// mayHaveChanged reports whether a file of the database may have changed after the time since.
func (p *Pool) mayHaveChanged(name, file string, since time.Time) bool {
	fi, err := os.Lstat(file)
	if err != nil || !fi.Mode().IsRegular() {
		return true
	}
	st := disk.StatOf(fi)
	if linkedStat, linked := p.linked[name]; linked {
		return st != linkedStat
	}
	return st.Ctime == 0 || st.Ctime > since.Add(-disk.RacyWindow).UnixNano()
}

// isIntact reports whether an object file of the database has the content in the pool. Auxiliary files of packs, which git
// may rewrite, always count as intact.
func (p *Pool) isIntact(name, file string) bool {
	if fi, err := os.Lstat(file); err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o400 == 0 {
		_ = os.Chmod(file, fi.Mode().Perm()|0o400) // permissions are restored later
	}

	if p.Large || !isNamedByContent(name) {
		a, errA := os.Lstat(p.file(name))
		b, errB := os.Lstat(file)
		return !p.Large || errA != nil || errB == nil && os.SameFile(a, b)
	}

	ours, errOurs := os.Open(p.file(name))
	theirs, errTheirs := projectfile.OpenAnywhere(file, projectfile.Any)
	defer ours.Close()
	defer theirs.Close()
	if errTheirs != nil {
		return false
	}
	if errOurs != nil {
		return p.isSound(file, name)
	}

	a, errA := ours.Stat()
	b, errB := theirs.Stat()
	switch {
	case errors.Join(errA, errB) != nil:
		return false
	case os.SameFile(a, b):
		return p.isSound(file, name)
	}
	return a.Size() == b.Size() && haveSameBytes(ours, theirs)
}

// isNamedByContent reports whether the content of a file can be verified by its name or by a checksum at its end.
func isNamedByContent(name string) bool {
	ext := path.Ext(name)
	return ext == "" || ext == ".pack" || ext == ".idx"
}

// isSound reports whether the content of an object file matches its name or the checksum at
// its end. Files that have neither always count as sound.
func (p *Pool) isSound(file, name string) bool {
	if p.Large || !isNamedByContent(name) {
		return true
	}

	f, err := projectfile.OpenAnywhere(file, projectfile.Any)
	if err != nil {
		return false
	}
	defer f.Close()
	if strings.HasPrefix(name, "pack/") {
		return endsWithSum(f, sha1.New()) || endsWithSum(f, sha256.New())
	}

	id := strings.ReplaceAll(name, "/", "")
	sum := sha1.New()
	if len(id) > 2*sha1.Size {
		sum = sha256.New()
	}

	packed := bufio.NewReader(f)
	z, err := zlib.NewReader(packed)
	if err != nil {
		return false
	}
	_, err = io.Copy(sum, z)
	_, more := packed.Peek(1)
	return err == nil && errors.Is(more, io.EOF) && hex.EncodeToString(sum.Sum(nil)) == id
}

// endsWithSum reports whether a file ends with the checksum of its other bytes.
func endsWithSum(f *os.File, sum hash.Hash) bool {
	fi, err := f.Stat()
	if err != nil || fi.Size() < int64(sum.Size()) {
		return false
	}
	body := io.NewSectionReader(f, 0, fi.Size()-int64(sum.Size()))
	end := make([]byte, sum.Size())
	_, errEnd := f.ReadAt(end, body.Size())
	_, err = io.Copy(sum, body)
	return errors.Join(err, errEnd) == nil && bytes.Equal(sum.Sum(nil), end)
}

// haveSameBytes reports whether two readers have the same content.
func haveSameBytes(a, b io.Reader) bool {
	var bufA, bufB [1 << 15]byte
	for {
		n, errA := io.ReadFull(a, bufA[:])
		m, errB := io.ReadFull(b, bufB[:])
		switch {
		case n != m || !bytes.Equal(bufA[:n], bufB[:m]):
			return false
		case errA != nil || errB != nil:
			return errA == errB //nolint:errorlint // equal only at the end of both
		}
	}
}

// FindDamaged lists the existing files of a database that the snapshot with number seq needs and that are unreadable or
// damaged. since is when that snapshot was started.
func (p *Pool) FindDamaged(dir string, seq int, since time.Time) []string {
	var out []string
	for n := range p.first {
		file := filepath.Join(dir, filepath.FromSlash(n))
		fi, err := os.Lstat(file)
		if !p.isNeededBy(n, seq) || errors.Is(err, fs.ErrNotExist) || err == nil && !p.mayHaveChanged(n, file, since) {
			continue // git may pack and prune files
		}
		if err != nil || !fi.Mode().IsRegular() || fi.Mode().Perm()&0o400 == 0 || !p.isSound(file, n) {
			out = append(out, n)
		}
	}
	sort.Strings(out)
	return out
}
