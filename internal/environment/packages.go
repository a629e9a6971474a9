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

	"golang.org/x/sync/errgroup"
)

// packageFolder is a folder into which a package manager installs.
type packageFolder struct {
	ecosystem *ecosystem
	dir       string
	files     map[string]stamp  // slash paths below dir
	sums      map[string]string // SHA-256 of files whose content is compared
	records   map[string]string // what the manager recorded, see ecosystem
}

// stamp shows whether a file was written, without reading it.
type stamp struct {
	size, written, changed int64
	inode                  uint64
	link                   bool
}

// rewritten reports whether the content was written since an earlier stamp. A change of mode or
// owner, or another link to the file, does not count.
func (s stamp) rewritten(earlier stamp) bool {
	return s.size != earlier.size || s.written != earlier.written || s.inode != earlier.inode || s.link != earlier.link
}

// ecosystem describes how one kind of package manager stores packages.
type ecosystem struct {
	isWanted    func(name string) bool                   // base names of the files that matter
	isSearched  func(folder string) bool                 // folders that are searched, by slash path
	readRecords func(w Watch, p *packageFolder)          // reads records and sums of the files found
	findEdits   func(earlier, now *packageFolder) []edit // files that no manager installed
}

// edit is a package with a file that no package manager wrote.
type edit struct {
	file    string // absolute
	message string // the package, and how to restore it
}

// maxInstalled bounds the files of one folder: a larger one is not watched.
const maxInstalled = 80_000

// WithPackages returns the state with the packages of another one. A resumed loop needs it, as
// packages are not stored.
func (s State) WithPackages(other State) State {
	s.packages = other.packages
	return s
}

// readPackages reads the files and records of all folders with packages.
func (w Watch) readPackages(ctx context.Context) map[string]*packageFolder {
	out := map[string]*packageFolder{}
	for dir, e := range w.findPackageFolders(ctx) {
		p := &packageFolder{ecosystem: e, dir: dir}
		if p.readStamps(); len(p.files) > maxInstalled {
			continue
		}
		e.readRecords(w, p)
		out[dir] = p
	}
	return out
}

// readStamps records the files of the folder. It reads several top folders at once.
func (p *packageFolder) readStamps() {
	p.files = map[string]stamp{}
	var lock sync.Mutex
	var wait errgroup.Group
	wait.SetLimit(8)
	var visit func(folder string, into map[string]stamp, deep bool)
	visit = func(folder string, into map[string]stamp, deep bool) {
		for _, e := range readEntries(filepath.Join(p.dir, folder)) {
			name := filepath.ToSlash(filepath.Join(folder, e.Name()))
			switch {
			case !e.IsDir():
				if p.ecosystem.isWanted(name) || e.Type() == fs.ModeSymlink {
					if info, err := e.Info(); err == nil {
						into[name] = stampOf(info)
					}
				}
			case len(into) > maxInstalled || !p.ecosystem.isSearched(name):
			case deep:
				visit(name, into, true)
			default:
				wait.Go(func() error {
					found := map[string]stamp{}
					visit(name, found, true)
					lock.Lock()
					defer lock.Unlock()
					maps.Copy(p.files, found)
					return nil
				})
			}
		}
	}

	top := map[string]stamp{}
	visit("", top, false)
	_ = wait.Wait() // no function returns an error
	maps.Copy(p.files, top)
}

// readEntries lists a folder. The list is empty if it cannot be read.
func readEntries(dir string) []fs.DirEntry {
	list, err := os.ReadDir(dir) // waits for no pipe
	if err != nil {
		return nil
	}
	return list
}

// stampOf returns the stamp of a file.
func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), written: info.ModTime().UnixNano(), inode: inode(info), link: info.Mode()&fs.ModeSymlink != 0}
	if at := ChangeTime(info); !at.IsZero() {
		s.changed = at.UnixNano()
	}
	return s
}

// pathOf returns the absolute path of a file of the folder.
func (p *packageFolder) pathOf(name string) string {
	return filepath.Join(p.dir, filepath.FromSlash(name))
}

// changedFiles returns the files that are new or were written since an earlier state, sorted.
func (p *packageFolder) changedFiles(earlier *packageFolder) []string {
	var out []string
	for name, s := range p.files {
		if before, ok := earlier.files[name]; !ok || s.rewritten(before) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// maxEdits bounds the findings about packages.
const maxEdits = 10

// packageChanges finds installed packages that were edited manually. A folder that is new is not
// compared.
func packageChanges(earlier, now map[string]*packageFolder) []Change {
	var out []Change
	for _, dir := range slices.Sorted(maps.Keys(earlier)) {
		if now[dir] == nil {
			continue
		}
		for _, e := range earlier[dir].ecosystem.findEdits(earlier[dir], now[dir]) {
			if len(out) == maxEdits {
				return out
			}
			out = append(out, Change{Pattern: "TP-32", Type: "installed_package_edited", Severity: metric.Critical, File: e.file, Text: e.message})
		}
	}
	return out
}

// maxFolders bounds the folders that are searched in the tree, maxDepth how deep they are.
const (
	maxFolders = 2000
	maxDepth   = 3
)

// findPackageFolders finds the folders of packages in the tree and of the programs of the checks.
func (w Watch) findPackageFolders(ctx context.Context) map[string]*ecosystem {
	out := map[string]*ecosystem{}
	folders := []string{w.Root}
	for i := 0; i < len(folders) && i < maxFolders; i++ {
		for _, e := range readEntries(folders[i]) {
			name := filepath.Join(folders[i], e.Name())
			rel, err := filepath.Rel(w.Root, name)
			switch {
			case err != nil:
			case e.Name() == "go.sum" && !e.IsDir():
				w.addGoModules(name, out)
			case !e.IsDir():
			case e.Name() == "node_modules":
				out[name] = &nodeModules
			case isFile(filepath.Join(name, "pyvenv.cfg")):
				addSitePackages(name, out)
			case !strings.HasPrefix(e.Name(), ".") && e.Name() != "vendor" && strings.Count(rel, string(filepath.Separator)) < maxDepth:
				folders = append(folders, name)
			}
		}
	}
	w.addInterpreters(ctx, out)
	return out
}

// isFile reports whether a regular file exists.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
