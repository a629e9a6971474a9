package manifest

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/pack"
)

// Entry is one captured path.
type Entry struct {
	Path string
	Kind disk.Kind
	OID  pack.OID // of the content, the target of a link, or the git tree of a folder; zero if the tree is unknown
	Stat disk.Stat
}

// RestoresSame reports whether restoring both entries gives the same result, except for the owner.
func (e *Entry) RestoresSame(other *Entry) bool {
	return e.Kind == other.Kind && (e.Kind == disk.KindDir || e.OID == other.OID) && (e.Kind == disk.KindLink || e.Stat.Mode == other.Stat.Mode)
}

// Header is the JSON header of a manifest. Ids of commits, trees and blobs are hexadecimal
// text.
type Header struct {
	Info
	Started time.Time    // before the first file was scanned
	Commit  string       // commit of the working files
	Branch  Branch       // current branch; linked worktrees only
	Root    *disk.Rights `json:",omitempty"` // rights of the root of the tree
	// Shared is the id of the blob that lists the files that linked worktrees share, "" for
	// other trees.
	Shared string `json:",omitempty"`
	// State is the commit of git's own state. WorkTree and StateTree are the trees of the two
	// commits.
	State               string `json:",omitempty"`
	WorkTree, StateTree string `json:",omitempty"`
}

// Refs returns the refs of the snapshot and their commits.
func (h Header) Refs() map[string]string {
	return map[string]string{h.ID.Ref(): h.Commit, StateRef(h.ID): h.State}
}

// StateRef returns the full name of the ref of git's own state in a snapshot.
func StateRef(id ID) string { return "refs/state/" + string(id) }

// Branch is the current branch of a linked worktree; Commit is empty for a branch without commits.
type Branch struct {
	Name   string `json:",omitempty"`
	Commit string `json:",omitempty"`
}

// Manifest is a complete snapshot without the contents. The slices are sorted by path.
type Manifest struct {
	Header
	Work       []Entry     // working files
	Git        []Entry     // .git folders inside the tree, without objects
	Ext        []Entry     // a git folder outside the tree; paths are relative to it
	Kept       []Entry     // ignored files that no tool regenerates, and their folders
	SharedList []Entry     // files that linked worktrees share, see Header.Shared; nil in a manifest that was read
	ObjectDirs []string    // keys of the object databases
	Ignored    []string    // topmost ignored paths, and ignored paths below that are not kept; folders end in a slash
	Temps      []string    // temporary files of an interrupted restore; never stored
	Stored     *pack.Epoch // epoch in which the store has all contents; nil if unknown
}

// List returns one part of the manifest.
func (m *Manifest) List(p Part) *[]Entry {
	return [Parts]*[]Entry{&m.Work, &m.Git, &m.Ext, &m.Kept}[p]
}

// skipText is a Skip whose path is encoded for JSON.
type skipText struct {
	Path        PathText
	Reason      Reason
	Size, Mtime int64 `json:",omitempty"`
}

// encodeSkips converts skipped paths for the JSON header.
func encodeSkips(list []Skip) []skipText {
	out := make([]skipText, len(list))
	for i, s := range list {
		out[i] = skipText{PathText(s.Path), s.Reason, s.Size, s.Mtime}
	}
	return out
}

// ReadHeader reads only the header of a manifest.
func ReadHeader(file string) (Header, error) {
	f, err := os.Open(file)
	if err != nil {
		return Header{}, fmt.Errorf("open snapshot: %w", err)
	}
	defer f.Close()
	h, err := parseHeader(bufio.NewReader(f))
	if err != nil {
		return Header{}, fmt.Errorf("read snapshot %s: %w", file, err)
	}
	return h, nil
}

// parseHeader reads the two lines of text at the start of a manifest.
func parseHeader(r *bufio.Reader) (Header, error) {
	version, err := r.ReadString('\n')
	if err != nil {
		return Header{}, errors.Join(ErrDamaged, err)
	}
	if v := strings.TrimSpace(version); v != Version && v != versionWithoutOwners && v != versionWithoutKept {
		return Header{}, fmt.Errorf("unknown format %q; use the version of the program that wrote it", v)
	}
	line, err := r.ReadBytes('\n')
	if err != nil {
		return Header{}, errors.Join(ErrDamaged, err)
	}
	var head struct {
		Header
		Skips []skipText
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return Header{}, errors.Join(ErrDamaged, err)
	}
	for _, s := range head.Skips {
		head.Skipped = append(head.Skipped, Skip{string(s.Path), s.Reason, s.Size, s.Mtime})
	}
	return head.Header, nil
}

// Read reads a manifest.
func Read(file string) (*Manifest, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("open snapshot: %w", err)
	}
	m, err := parseManifest(data)
	if err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", file, err)
	}
	return m, nil
}

// treeID returns [Info.Tree]: a hash of the types, permission bits, contents and paths of
// sorted entries. Times, inodes and folders do not count.
func treeID(entries []Entry) string {
	h := sha256.New()
	buf := make([]byte, 0, 1<<14)
	for i := range entries {
		e := &entries[i]
		if e.Kind == disk.KindDir {
			continue
		}
		mode := e.Stat.Mode
		if e.Kind == disk.KindLink {
			mode = 0
		}
		buf = append(buf, byte(e.Kind), ' ')
		buf = append(strconv.AppendUint(buf, uint64(mode), 8), ' ')
		buf = append(hex.AppendEncode(buf, e.OID[:]), ' ')
		buf = append(strconv.AppendInt(buf, int64(len(e.Path)), 10), ' ')
		buf = append(buf, e.Path...)
		if len(buf) > 1<<13 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil))
}

// UnknownPaths returns a function that reports whether the snapshot does not know if a path existed: ignored and skipped
// paths and everything below them.
func (m *Manifest) UnknownPaths() func(string) bool {
	set := make(map[string]bool, len(m.Ignored)+len(m.Skipped))
	for _, p := range m.Ignored {
		set[strings.TrimSuffix(p, "/")] = true
	}
	for _, s := range m.Skipped {
		set[s.Path] = true
	}
	return func(p string) bool {
		for {
			if set[p] {
				return true
			}
			i := strings.LastIndexByte(p, '/')
			if i < 0 {
				return false
			}
			p = p[:i]
		}
	}
}

// UnkeptIgnored lists the ignored paths, without skipped ones, whose contents are not in the snapshot. Folders end in a
// slash.
func (m *Manifest) UnkeptIgnored() []string {
	var out []string
	for _, p := range m.Ignored {
		if name := strings.TrimSuffix(p, "/"); Lookup(m.Kept, name) < 0 && Lookup(m.Work, name) < 0 && !m.HasSkipped(name) {
			out = append(out, p)
		}
	}
	return out
}

// Cache keeps the most recently used manifests, because callers compare the same few repeatedly.
type Cache struct{ list []*Manifest }

// cachedManifests is the maximum number of manifests in a Cache.
const cachedManifests = 4

// Get returns a cached manifest, nil if there is none.
func (c *Cache) Get(id ID) *Manifest {
	for i, m := range c.list {
		if m.ID == id {
			c.list = append(append(c.list[:i:i], c.list[i+1:]...), m)
			return m
		}
	}
	return nil
}

// Put adds a manifest, and removes the least recently used one if the cache is full.
func (c *Cache) Put(m *Manifest) {
	c.list = append(c.list, m)
	if len(c.list) > cachedManifests {
		c.list = c.list[1:]
	}
}

// HasSkipped reports whether a path itself was skipped. Paths below a skipped folder do not
// count.
func (m *Manifest) HasSkipped(p string) bool { return m.FindSkipped(p) != nil }

// FindSkipped returns the skip of a path itself, nil if there is none.
func (m *Manifest) FindSkipped(p string) *Skip {
	i := sort.Search(len(m.Skipped), func(i int) bool { return m.Skipped[i].Path >= p })
	if i == len(m.Skipped) || m.Skipped[i].Path != p {
		return nil
	}
	return &m.Skipped[i]
}

// ReuseNames shares unchanged lists with the base, to save memory.
func (m *Manifest) ReuseNames(base *Manifest) {
	if slices.Equal(m.Skipped, base.Skipped) {
		m.Skipped = slices.Clip(base.Skipped)
	}
	if slices.Equal(m.Ignored, base.Ignored) {
		m.Ignored = slices.Clip(base.Ignored)
	}
}

// SumUp adds the number and size of the working files to Files and Bytes, and sets Tree.
func (m *Manifest) SumUp() {
	for i := range m.Work {
		if m.Work[i].Kind != disk.KindDir {
			m.Files++
			m.Bytes += m.Work[i].Stat.Size
		}
	}
	m.Tree = treeID(m.Work)
}

// SharedParts returns the files that linked worktrees share, and the blob that lists them; nil
// if there are none. The commit of git's state must contain them.
func (m *Manifest) SharedParts() []Entry {
	id, err := pack.ParseOID(m.Shared)
	if err != nil {
		return nil
	}
	return append(slices.Clone(m.SharedList), Entry{Kind: disk.KindFile, OID: id})
}
