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

// room is what may be copied still.
type room struct {
	loose   bool
	bytes   int64
	noClone bool // the file system shares no blocks
}

func (p *Pool) room(names []string) room {
	loose := 0
	for _, n := range names {
		if _, ok := p.first[n]; !ok && !strings.HasPrefix(n, "pack/") {
			loose++
		}
	}
	return room{loose: loose <= mostCopies, bytes: copyBytes}
}

// keep makes a second file, or a second name for the file.
func (p *Pool) keep(name, from, to string, r *room) error {
	if p.Large {
		return link(from, to)
	}
	fi, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if (r.loose || strings.HasPrefix(name, "pack/")) && fi.Size() <= r.bytes {
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
	p.noteLink(name, from, to)
	return nil
}

// noteLink remembers what a file is like that is also in the database.
func (p *Pool) noteLink(name, theirs, ours string) {
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

// Given says what Give did.
type Given struct {
	Files   int      // put back, or given back their permissions
	Damaged []string // in the database and here; nothing better can be had
}

// Give puts back the objects that existed when the snapshot with a number was taken and are missing from dir now, or are
// not what they were. since is when that snapshot was begun.
func (p *Pool) Give(dir string, seq int, since time.Time) (Given, error) {
	var g Given
	openFolders(dir)
	present, err := p.list(dir)
	if err != nil {
		return g, err
	}
	have := make(map[string]bool, len(present))
	for _, n := range present {
		have[n] = true
	}
	for n := range p.first {
		to := filepath.Join(dir, filepath.FromSlash(n))
		if !p.neededBy(n, seq) || have[n] && !p.touched(n, to, since) {
			continue
		}
		done, err := p.mend(n, to, have[n])
		if err != nil {
			return g, fmt.Errorf("give back git object: %w", err)
		}
		if done {
			g.Files++
		}
		if !done && !p.sound(p.file(n), n) {
			g.Damaged = append(g.Damaged, n)
		}
	}
	sort.Strings(g.Damaged)
	g.Files += p.mendFolders(dir, seq)
	return g, nil
}

// mend makes one file of the database what it was, if it is not. It reports whether it has changed anything.
func (p *Pool) mend(name, to string, there bool) (bool, error) {
	if there && p.intact(name, to) {
		return p.mendRights(name, to)
	}
	ours := p.file(name)
	if !p.sound(ours, name) {
		return false, nil
	}
	if err := disk.IgnoreMissing(os.Remove(to)); err != nil {
		return false, err
	}
	_, linked := p.linked[name]
	switch {
	case p.Large:
		return true, link(ours, to)
	case !linked:
		if err := disk.Copy(ours, to); err != nil {
			return false, err
		}
	default:
		if err := disk.LinkOrCopy(ours, to); err != nil {
			return false, err
		}
		p.noteLink(name, to, ours)
	}
	_, err := p.mendRights(name, to)
	return true, err
}

// mendRights gives back owner and permissions. Of one inode with two names the store knows them as they were.
func (p *Pool) mendRights(name, file string) (bool, error) {
	if p.Large {
		return false, nil
	}
	was, linked := p.linked[name]
	if ours, err := os.Lstat(p.file(name)); err == nil && !linked {
		was = disk.StatOf(ours)
	}
	if was.Mode&0o400 == 0 {
		return false, nil
	}
	return disk.Rights{Mode: was.Mode, Owner: was.Owner}.Give(file)
}

func (p *Pool) foldersFile() string { return filepath.Join(p.dir, "folders.json") }

// seen are the rights of a folder of a database from the snapshot with a number on.
type seen struct {
	From int
	disk.Rights
}

// noteFolders remembers the rights of the folders of loose objects, where they are not those of the folder above; manifests
// have the others.
func (p *Pool) noteFolders(dir string, seq int) error {
	above, err := os.Lstat(dir)
	if err != nil || p.Large {
		return nil //nolint:nilerr // there are no objects
	}
	folders, changed := p.folders(), false
	for _, name := range fansIn(dir) {
		fi, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		was := disk.RightsOf(above)
		if list := folders[name]; len(list) > 0 {
			was = list[len(list)-1].Rights
		}
		if now := disk.RightsOf(fi); now != was {
			folders[name], changed = append(folders[name], seen{seq, now}), true
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

func (p *Pool) folders() map[string][]seen {
	out := map[string][]seen{}
	if data, err := os.ReadFile(p.foldersFile()); err == nil {
		_ = json.Unmarshal(data, &out) // without them folders get those of the folder above
	}
	return out
}

// mendFolders gives folders the rights that they had in the snapshot with a number. It returns how many it has changed.
func (p *Pool) mendFolders(dir string, seq int) (n int) {
	above, err := os.Lstat(dir)
	if err != nil || p.Large {
		return 0
	}
	noted := p.folders()
	for _, name := range fansIn(dir) {
		rights := disk.RightsOf(above)
		for _, s := range noted[name] {
			if s.From <= seq {
				rights = s.Rights
			}
		}
		if changed, err := rights.Give(filepath.Join(dir, name)); changed && err == nil {
			n++
		}
	}
	return n
}

// fansIn lists the folders of loose objects.
func fansIn(dir string) []string {
	return slices.DeleteFunc(foldersIn(dir), func(name string) bool { return len(name) != 2 })
}

// foldersIn lists the folders of a database.
func foldersIn(dir string) (out []string) {
	list, _ := os.ReadDir(dir)
	for _, d := range list {
		if d.IsDir() {
			out = append(out, d.Name())
		}
	}
	return out
}

// openFolders makes folders of a database accessible that are not, so that what is in them can be looked at.
func openFolders(dir string) {
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
	for _, name := range foldersIn(dir) {
		open(filepath.Join(dir, name))
	}
}

// touched reports whether a file of the database may have changed since a snapshot was begun.
func (p *Pool) touched(name, file string, since time.Time) bool {
	fi, err := os.Lstat(file)
	if err != nil || !fi.Mode().IsRegular() {
		return true
	}
	st := disk.StatOf(fi)
	if was, linked := p.linked[name]; linked {
		return st != was
	}
	return st.Ctime == 0 || st.Ctime > since.Add(-disk.RacyWindow).UnixNano()
}

// intact reports whether an object file is still the one that the pool knows by its name. Files beside a pack that git
// writes anew at will are not looked at.
func (p *Pool) intact(name, file string) bool {
	if fi, err := os.Lstat(file); err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o400 == 0 {
		_ = os.Chmod(file, fi.Mode().Perm()|0o400) // it gets its own permissions later
	}
	if p.Large || !named(name) {
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
		return p.sound(file, name)
	}
	a, errA := ours.Stat()
	b, errB := theirs.Stat()
	switch {
	case errors.Join(errA, errB) != nil:
		return false
	case os.SameFile(a, b):
		return p.sound(file, name)
	}
	return a.Size() == b.Size() && sameBytes(ours, theirs)
}

// named reports whether the name of a file, or its end, says what is in it.
func named(name string) bool {
	ext := path.Ext(name)
	return ext == "" || ext == ".pack" || ext == ".idx"
}

// sound reports whether an object file holds what its name, or the sum at its end, says.
func (p *Pool) sound(file, name string) bool {
	if p.Large || !named(name) {
		return true
	}
	f, err := projectfile.OpenAnywhere(file, projectfile.Any)
	if err != nil {
		return false
	}
	defer f.Close()
	if strings.HasPrefix(name, "pack/") {
		return endsInSum(f, sha1.New()) || endsInSum(f, sha256.New())
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

// endsInSum reports whether a file ends in the sum of what is before it.
func endsInSum(f *os.File, sum hash.Hash) bool {
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

func sameBytes(a, b io.Reader) bool {
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

// Damage lists the files of a database that a snapshot needs, that are there, and that cannot be read or are not what they
// were. since is when that snapshot was begun.
func (p *Pool) Damage(dir string, seq int, since time.Time) []string {
	var out []string
	for n := range p.first {
		file := filepath.Join(dir, filepath.FromSlash(n))
		fi, err := os.Lstat(file)
		if !p.neededBy(n, seq) || errors.Is(err, fs.ErrNotExist) || err == nil && !p.touched(n, file, since) {
			continue // git packs and prunes
		}
		if err != nil || !fi.Mode().IsRegular() || fi.Mode().Perm()&0o400 == 0 || !p.sound(file, n) {
			out = append(out, n)
		}
	}
	sort.Strings(out)
	return out
}
