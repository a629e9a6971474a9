package environment

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"supervise/metric"
)

// place is a folder that a package manager fills.
type place struct {
	ecosystem *ecosystem
	dir       string
	files     map[string]stamp  // slash paths below dir
	sums      map[string]string // SHA-256 of files whose content is compared
	records   map[string]string // what the manager recorded: see the ecosystem
}

// stamp tells whether a file was written to without reading it.
type stamp struct {
	size, written, changed int64
	inode                  uint64
	link                   bool
}

// rewritten reports whether another text was written: a mere change of mode or owner, or
// another link to the file, is none.
func (s stamp) rewritten(was stamp) bool {
	return s.size != was.size || s.written != was.written || s.inode != was.inode || s.link != was.link
}

// ecosystem is how one kind of package manager keeps what it installs.
type ecosystem struct {
	wanted func(name string) bool         // base names of the files that matter
	into   func(folder string) bool       // folders that are looked into, by slash path
	read   func(w Watch, p *place)        // reads records and sums after the walk
	edited func(was, now *place) []edited // what was not installed
}

// edited is a package with a file that no package manager wrote.
type edited struct {
	file string // absolute
	what string // the package, and how it is put right
}

// maxInstalled bounds the files of one place: a larger one is not watched.
const maxInstalled = 80_000

// WithPackages is the state with the packages of another: those are not kept when a loop
// is resumed.
func (s State) WithPackages(other State) State {
	s.packages = other.packages
	return s
}

// installed looks at the places, at those of an earlier look and at new ones.
func (w Watch) installed(ctx context.Context) map[string]*place {
	out := map[string]*place{}
	for dir, e := range w.places(ctx) {
		p := &place{ecosystem: e, dir: dir}
		if p.walk(); len(p.files) > maxInstalled {
			continue
		}
		e.read(w, p)
		out[dir] = p
	}
	return out
}

// walk notes the files of a place, the folders at its top several at a time.
func (p *place) walk() {
	p.files = map[string]stamp{}
	var lock sync.Mutex
	var wait sync.WaitGroup
	turn := make(chan struct{}, 8)
	var visit func(folder string, into map[string]stamp, deep bool)
	visit = func(folder string, into map[string]stamp, deep bool) {
		for _, e := range entries(filepath.Join(p.dir, folder)) {
			name := filepath.ToSlash(filepath.Join(folder, e.Name()))
			switch {
			case !e.IsDir():
				if p.ecosystem.wanted(name) || e.Type() == fs.ModeSymlink {
					if info, err := e.Info(); err == nil {
						into[name] = stampOf(info)
					}
				}
			case len(into) > maxInstalled || !p.ecosystem.into(name):
			case deep:
				visit(name, into, true)
			default:
				wait.Go(func() {
					turn <- struct{}{}
					own := map[string]stamp{}
					visit(name, own, true)
					lock.Lock()
					maps.Copy(p.files, own)
					lock.Unlock()
					<-turn
				})
			}
		}
	}
	top := map[string]stamp{}
	visit("", top, false)
	wait.Wait()
	maps.Copy(p.files, top)
}

// entries are those of a folder, none where it cannot be read.
func entries(dir string) []fs.DirEntry {
	list, err := os.ReadDir(dir) // waits for no pipe
	if err != nil {
		return nil
	}
	return list
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), written: info.ModTime().UnixNano(), inode: inode(info), link: info.Mode()&fs.ModeSymlink != 0}
	if at := ChangeTime(info); !at.IsZero() {
		s.changed = at.UnixNano()
	}
	return s
}

// path is the absolute path of a file of the place.
func (p *place) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// touched are the files that are new, or were written to, since an earlier look, sorted.
func (p *place) touched(was *place) []string {
	var out []string
	for name, s := range p.files {
		if before, ok := was.files[name]; !ok || s.rewritten(before) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// maxEdited bounds the findings about packages.
const maxEdited = 10

// packageChanges says which installed packages were edited by hand. What was not seen
// before is not compared.
func packageChanges(was, now map[string]*place) []Change {
	var out []Change
	for _, dir := range slices.Sorted(maps.Keys(was)) {
		if now[dir] == nil {
			continue
		}
		for _, e := range was[dir].ecosystem.edited(was[dir], now[dir]) {
			if len(out) == maxEdited {
				return out
			}
			out = append(out, Change{Pattern: "TP-32", Type: "installed_package_edited", Severity: metric.Critical, File: e.file, Text: e.what})
		}
	}
	return out
}

// maxFolders bounds the search for places in the tree, maxDepth the folders above one.
const (
	maxFolders = 2000
	maxDepth   = 3
)

// places finds what is installed in the tree and for the programs of the checks.
func (w Watch) places(ctx context.Context) map[string]*ecosystem {
	out := map[string]*ecosystem{}
	folders := []string{w.Root}
	for i := 0; i < len(folders) && i < maxFolders; i++ {
		for _, e := range entries(folders[i]) {
			name := filepath.Join(folders[i], e.Name())
			rel, err := filepath.Rel(w.Root, name)
			switch {
			case err != nil:
			case e.Name() == "go.sum" && !e.IsDir():
				w.goModules(name, out)
			case !e.IsDir():
			case e.Name() == "node_modules":
				out[name] = &node
			case isFile(filepath.Join(name, "pyvenv.cfg")):
				sitePackages(name, out)
			case !strings.HasPrefix(e.Name(), ".") && e.Name() != "vendor" && strings.Count(rel, string(filepath.Separator)) < maxDepth:
				folders = append(folders, name)
			}
		}
	}
	w.interpreters(ctx, out)
	return out
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
