package snapshot

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
)

// entry is one captured path.
type entry struct {
	path string
	kind kind
	oid  oid // content; the target of a symbolic link; the git tree of a folder, or zero if it is not known
	st   stat
}

// same tells whether both entries would be restored to the same thing.
func (e *entry) same(o *entry) bool {
	return e.kind == o.kind && e.oid == o.oid && (e.kind == kindLink || e.st.mode == o.st.mode)
}

// header is the first line of a manifest.
type header struct {
	Info
	Started time.Time // before the first file was looked at
	Commit  string    // of the working files, in hex
	Branch  branchRef // linked worktrees only
	Shared  string    `json:",omitempty"` // of these too: the blob that lists what they share, in hex
	// State is the commit of git's own state, WorkTree and StateTree are the trees of both commits, in hex.
	State               string `json:",omitempty"`
	WorkTree, StateTree string `json:",omitempty"`
}

// refs are the refs of the snapshot and the commits they point at.
func (h header) refs() map[string]string {
	return map[string]string{h.ID.Ref(): h.Commit, stateRef(h.ID): h.State}
}

// stateRef is the full name of the ref that holds git's own state in a snapshot.
func stateRef(id ID) string { return "refs/state/" + string(id) }

// branchRef is the current branch of a linked worktree; Commit is empty for a branch without commits.
type branchRef struct {
	Name   string `json:",omitempty"`
	Commit string `json:",omitempty"`
}

// manifest is one whole snapshot but for the contents. The slices are sorted by path.
type manifest struct {
	header
	work       []entry  // working files
	git        []entry  // .git folders inside the tree, without objects
	ext        []entry  // a git folder outside the tree; paths are relative to it
	shared     []entry  // what linked worktrees share, see header.Shared; nil in a manifest that was read
	objectDirs []string // the object databases inside the tree
	ignored    []string // topmost ignored paths, folders with a slash at the end
	temps      []string // left behind by an interrupted restore; never stored
	stored     *epoch   // in which the store holds all the contents; nil if that is not known
}

// list is one part of the manifest.
func (m *manifest) list(p part) *[]entry {
	return [parts]*[]entry{&m.work, &m.git, &m.ext}[p]
}

// skipText is a Skip whose path survives JSON.
type skipText struct {
	Path   pathText
	Reason Reason
	Size   int64 `json:",omitempty"`
}

func skipTexts(list []Skip) []skipText {
	out := make([]skipText, len(list))
	for i, s := range list {
		out[i] = skipText{pathText(s.Path), s.Reason, s.Size}
	}
	return out
}

func readHeader(file string) (header, error) {
	f, err := os.Open(file)
	if err != nil {
		return header{}, fmt.Errorf("open snapshot: %w", err)
	}
	defer f.Close()
	h, err := parseHeader(bufio.NewReader(f))
	if err != nil {
		return header{}, fmt.Errorf("read snapshot %s: %w", file, err)
	}
	return h, nil
}

func parseHeader(r *bufio.Reader) (header, error) {
	version, err := r.ReadString('\n')
	if err != nil {
		return header{}, errors.Join(errTorn, err)
	}
	if v := strings.TrimSpace(version); v != manifestVersion {
		return header{}, fmt.Errorf("unknown format %q; use the version of the program that wrote it", v)
	}
	line, err := r.ReadBytes('\n')
	if err != nil {
		return header{}, errors.Join(errTorn, err)
	}
	var head struct {
		header
		Skips []skipText
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return header{}, errors.Join(errTorn, err)
	}
	for _, s := range head.Skips {
		head.Skipped = append(head.Skipped, Skip{string(s.Path), s.Reason, s.Size})
	}
	return head.header, nil
}

func readManifest(file string) (*manifest, error) {
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

// treeID hashes sorted entries into an identity that does not depend on times and inodes. Folders do not count.
func treeID(entries []entry) string {
	h := sha256.New()
	buf := make([]byte, 0, 1<<14)
	for i := range entries {
		e := &entries[i]
		if e.kind == kindDir {
			continue
		}
		mode := e.st.mode
		if e.kind == kindLink {
			mode = 0
		}
		buf = append(buf, byte(e.kind), ' ')
		buf = append(strconv.AppendUint(buf, uint64(mode), 8), ' ')
		buf = append(hex.AppendEncode(buf, e.oid[:]), ' ')
		buf = append(strconv.AppendInt(buf, int64(len(e.path)), 10), ' ')
		buf = append(buf, e.path...)
		if len(buf) > 1<<13 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil))
}

// unknown returns a test for paths of which the snapshot cannot say whether they were there: ignored or skipped paths
// and everything below them.
func (m *manifest) unknown() func(string) bool {
	set := make(map[string]bool, len(m.ignored)+len(m.Skipped))
	for _, p := range m.ignored {
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

// manifestCache keeps the manifests that were used last; callers compare the same few again and again.
type manifestCache struct{ list []*manifest }

const cachedManifests = 4

func (c *manifestCache) get(id ID) *manifest {
	for i, m := range c.list {
		if m.ID == id {
			c.list = append(append(c.list[:i:i], c.list[i+1:]...), m)
			return m
		}
	}
	return nil
}

func (c *manifestCache) put(m *manifest) {
	c.list = append(c.list, m)
	if len(c.list) > cachedManifests {
		c.list = c.list[1:]
	}
}

// skipped tells whether exactly this path was seen and not captured.
func (m *manifest) skipped(p string) bool {
	i := sort.Search(len(m.Skipped), func(i int) bool { return m.Skipped[i].Path >= p })
	return i < len(m.Skipped) && m.Skipped[i].Path == p
}

// keepNames takes over lists of the base that have not changed, so that many snapshots do not need many times the memory.
func (m *manifest) keepNames(base *manifest) {
	if slices.Equal(m.Skipped, base.Skipped) {
		m.Skipped = slices.Clip(base.Skipped)
	}
	if slices.Equal(m.ignored, base.ignored) {
		m.ignored = slices.Clip(base.ignored)
	}
}

// total sums up the working files.
func (m *manifest) total() {
	for i := range m.work {
		if m.work[i].kind != kindDir {
			m.Files++
			m.Bytes += m.work[i].st.size
		}
	}
	m.Tree = treeID(m.work)
}

// sharedParts are what the commit of git's state has to hold for them.
func (m *manifest) sharedParts() []entry {
	id, err := parseOID(m.Shared)
	if err != nil {
		return nil
	}
	return append(slices.Clone(m.shared), entry{kind: kindFile, oid: id})
}
