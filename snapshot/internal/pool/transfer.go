package pool

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// Whoever writes into an object file in place writes into all its hard links. So small files, and few, are copied, which
// takes some ten times as long as linking them. The others are linked, and known by their inode, size and times. Where the
// file system shares blocks between copies, all are copied.
const (
	mostCopies = 250      // loose objects that come at a time
	copyBytes  = 16 << 20 // of all that comes at a time
)

// copyBudget is what may be copied still.
type copyBudget struct {
	copyLoose bool
	bytes     int64
	noClone   bool // the file system shares no blocks
}

func (p *Pool) newCopyBudget(names []string) copyBudget {
	loose := 0
	for _, n := range names {
		if _, ok := p.first[n]; !ok && !strings.HasPrefix(n, "pack/") {
			loose++
		}
	}
	return copyBudget{copyLoose: loose <= mostCopies, bytes: copyBytes}
}

// keep makes a second file, or a second name for the file.
func (p *Pool) keep(name, from, to string, r *copyBudget) error {
	if p.Large {
		return linkLarge(from, to)
	}
	fi, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if (r.copyLoose || strings.HasPrefix(name, "pack/")) && fi.Size() <= r.bytes {
		r.bytes -= fi.Size()
		return disk.Copy(from, to)
	}
	if !r.noClone {
		if err := disk.Clone(from, to); err == nil {
			return nil
		}
		r.noClone = true
	}
	if err := disk.LinkOrCopy(from, to); err != nil {
		return err
	}
	p.recordLink(name, from, to)
	return nil
}

// recordLink remembers what a file is like that is also in the database.
func (p *Pool) recordLink(name, theirs, ours string) {
	a, errA := os.Lstat(theirs)
	b, errB := os.Lstat(ours)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		p.linked[name] = disk.StatOf(a)
	}
}

func (p *Pool) linkedFile() string { return filepath.Join(p.dir, "linked.json") }

func (p *Pool) loadLinked() error {
	p.linked = map[string]disk.Stat{}
	data, err := os.ReadFile(p.linkedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &p.linked)
	}
	if err != nil {
		return fmt.Errorf("read object pool %s: %w", p.linkedFile(), err)
	}
	return nil
}

func (p *Pool) saveLinked() error {
	data, err := json.Marshal(p.linked)
	if err != nil {
		return fmt.Errorf("write object pool: %w", err)
	}
	return disk.WriteFile(p.linkedFile(), data)
}

// RestoreResult says what Give did.
type RestoreResult struct {
	Files   int      // put back, or given back their permissions
	Damaged []string // in the database and here; nothing better can be had
}

// Restore puts back the objects that existed when the snapshot with a number was taken and are missing from dir now, or are
// not what they were. since is when that snapshot was begun.
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
			return result, fmt.Errorf("give back git object: %w", err)
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

// restoreFile makes one file of the database what it was, if it is not. It reports whether it has changed anything.
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

// restoreRights gives back owner and permissions. Of one inode with two names the store knows them as they were.
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

func (p *Pool) foldersFile() string { return filepath.Join(p.dir, "folders.json") }

// folderRights are the rights of a folder of a database from the snapshot with a number on.
type folderRights struct {
	From int
	disk.Rights
}

// recordFolderRights remembers the rights of the folders of loose objects, where they are not those of the folder above; manifests
// have the others.
func (p *Pool) recordFolderRights(dir string, seq int) error {
	above, err := os.Lstat(dir)
	if err != nil || p.Large {
		return nil //nolint:nilerr // there are no objects
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
	data, err := json.Marshal(folders)
	if err != nil {
		return fmt.Errorf("write object pool: %w", err)
	}
	return disk.WriteFile(p.foldersFile(), data)
}

func (p *Pool) loadFolderRights() map[string][]folderRights {
	out := map[string][]folderRights{}
	if data, err := os.ReadFile(p.foldersFile()); err == nil {
		_ = json.Unmarshal(data, &out) // without them folders get those of the folder above
	}
	return out
}

// restoreFolderRights gives folders the rights that they had in the snapshot with a number. It returns how many it has changed.
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

// makeFoldersAccessible makes folders of a database accessible that are not, so that what is in them can be looked at.
func makeFoldersAccessible(dir string) {
	parent, err := os.Lstat(filepath.Dir(dir))
	if err != nil {
		return
	}
	open := func(d string) {
		if fi, err := os.Lstat(d); err == nil && fi.IsDir() && fi.Mode().Perm()&0o700 != 0o700 {
			_ = os.Chmod(d, parent.Mode().Perm()|0o700) // where it is not ours, the next step fails
		}
	}
	open(dir)
	for _, name := range listFolders(dir) {
		open(filepath.Join(dir, name))
	}
}

// mayHaveChanged reports whether a file of the database may have changed since a snapshot was begun.
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

// isIntact reports whether an object file is still the one that the pool knows by its name. Files beside a pack that git
// writes anew at will are not looked at.
func (p *Pool) isIntact(name, file string) bool {
	if fi, err := os.Lstat(file); err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o400 == 0 {
		_ = os.Chmod(file, fi.Mode().Perm()|0o400) // it gets its own permissions later
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

// isNamedByContent reports whether the name of a file, or its end, says what is in it.
func isNamedByContent(name string) bool {
	ext := path.Ext(name)
	return ext == "" || ext == ".pack" || ext == ".idx"
}

// isSound reports whether an object file holds what its name, or the sum at its end, says.
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

// endsWithSum reports whether a file ends in the sum of what is before it.
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

func haveSameBytes(a, b io.Reader) bool {
	var bufA, bufB [1 << 15]byte
	for {
		n, errA := io.ReadFull(a, bufA[:])
		m, errB := io.ReadFull(b, bufB[:])
		switch {
		case n != m || !bytes.Equal(bufA[:n], bufB[:m]):
			return false
		case errA != nil || errB != nil:
			return errA == errB //nolint:errorlint // both are ends of file, or one is not
		}
	}
}

// FindDamaged lists the files of a database that a snapshot needs, that are there, and that cannot be read or are not what they
// were. since is when that snapshot was begun.
func (p *Pool) FindDamaged(dir string, seq int, since time.Time) []string {
	var out []string
	for n := range p.first {
		file := filepath.Join(dir, filepath.FromSlash(n))
		fi, err := os.Lstat(file)
		if !p.isNeededBy(n, seq) || errors.Is(err, fs.ErrNotExist) || err == nil && !p.mayHaveChanged(n, file, since) {
			continue // git packs and prunes
		}
		if err != nil || !fi.Mode().IsRegular() || fi.Mode().Perm()&0o400 == 0 || !p.isSound(file, n) {
			out = append(out, n)
		}
	}
	sort.Strings(out)
	return out
}
