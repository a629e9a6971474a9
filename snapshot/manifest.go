package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// kind is the type of a captured path.
type kind byte

const (
	kindFile kind = 'f'
	kindLink kind = 'l'
	kindDir  kind = 'd'
)

// stat is what tells an unchanged file from a changed one without reading it. It is comparable with ==.
type stat struct {
	size         int64
	mtime, ctime int64 // nanoseconds since 1970; ctime is 0 where the platform has none
	ino, dev     uint64
	mode         uint32 // permission bits, set-id and sticky bits as in chmod(2)
}

// entry is one captured path.
type entry struct {
	path string
	kind kind
	oid  oid // content; the target of a symbolic link; zero for folders
	st   stat
}

// same tells whether both entries would be restored to the same thing.
func (e entry) same(o entry) bool {
	return e.kind == o.kind && e.oid == o.oid && (e.kind == kindLink || e.st.mode == o.st.mode)
}

// header is the first line of a manifest.
type header struct {
	Info
	Started time.Time // before the first file was looked at
	Commit  string    // of the working files, in hex
	Branch  branchRef // linked worktrees only
}

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
	objectDirs []string // the object databases inside the tree
	ignored    []string // topmost ignored paths, folders with a slash at the end
	temps      []string // left behind by an interrupted restore; never stored
}

const manifestVersion = "supervise-snapshot 1"

// The parts of a manifest, each headed by its name in brackets.
const (
	partWork    = "[work]"
	partGit     = "[git]"
	partExt     = "[external]"
	partObjects = "[objects]"
	partIgnored = "[ignored]"
)

var errTorn = errors.New("the file is damaged; the snapshot cannot be used, the others are not affected")

// encodePath makes any file name fit on one line of text.
func encodePath(p string) string {
	if p != "" && utf8.ValidString(p) && p[0] != '"' && p[0] != '[' && strings.IndexFunc(p, unicode.IsControl) < 0 {
		return p
	}
	return strconv.Quote(p)
}

func decodePath(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	return strconv.Unquote(s)
}

// pathText is a path inside JSON, which alone could not hold names that are not UTF-8.
type pathText string

// MarshalText quotes names that are not plain text.
func (p pathText) MarshalText() ([]byte, error) { return []byte(encodePath(string(p))), nil }

// UnmarshalText is the reverse of MarshalText.
func (p *pathText) UnmarshalText(b []byte) error {
	s, err := decodePath(string(b))
	*p = pathText(s)
	return err
}

// encode writes the manifest as text with a checksum in its last line.
func (m *manifest) encode() ([]byte, error) {
	var b bytes.Buffer
	h := m.header
	h.Skipped = nil
	head, err := json.Marshal(struct {
		header
		Skips []skipText `json:",omitempty"`
	}{h, skipTexts(m.Skipped)})
	if err != nil {
		return nil, fmt.Errorf("encode snapshot header: %w", err)
	}
	fmt.Fprintf(&b, "%s\n%s\n", manifestVersion, head)
	for _, p := range []struct {
		name    string
		entries []entry
	}{{partWork, m.work}, {partGit, m.git}, {partExt, m.ext}} {
		b.WriteString(p.name + "\n")
		for _, e := range p.entries {
			writeEntry(&b, e)
		}
	}
	writeNames(&b, partObjects, m.objectDirs)
	writeNames(&b, partIgnored, m.ignored)
	fmt.Fprintf(&b, "end %x\n", sha256.Sum256(b.Bytes()))
	return b.Bytes(), nil
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

func writeEntry(b *bytes.Buffer, e entry) {
	b.WriteByte(byte(e.kind))
	b.WriteByte(' ')
	b.Write(strconv.AppendUint(b.AvailableBuffer(), uint64(e.st.mode), 8))
	b.WriteByte(' ')
	b.WriteString(e.oid.String())
	for _, n := range []int64{e.st.size, e.st.mtime, e.st.ctime, int64(e.st.ino), int64(e.st.dev)} {
		b.WriteByte(' ')
		b.Write(strconv.AppendInt(b.AvailableBuffer(), n, 10))
	}
	b.WriteByte(' ')
	b.WriteString(encodePath(e.path))
	b.WriteByte('\n')
}

func writeNames(b *bytes.Buffer, part string, names []string) {
	b.WriteString(part + "\n")
	for _, n := range names {
		b.WriteString(encodePath(n) + "\n")
	}
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
	if version != manifestVersion+"\n" {
		return header{}, fmt.Errorf("unknown format %q; use the version of the program that wrote it", strings.TrimSpace(version))
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

func parseManifest(data []byte) (*manifest, error) {
	end := bytes.LastIndex(data, []byte("\nend ")) + 1
	sum := sha256.Sum256(data[:end])
	if end == 0 || string(data[end:]) != "end "+hex.EncodeToString(sum[:])+"\n" {
		return nil, errTorn
	}
	r := bufio.NewReader(bytes.NewReader(data[:end]))
	h, err := parseHeader(r)
	if err != nil {
		return nil, err
	}
	m := &manifest{header: h}
	part := ""
	for {
		line, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		line = strings.TrimSuffix(line, "\n")
		if isPart(line) {
			part = line
			continue
		}
		if err := m.parseLine(part, line); err != nil {
			return nil, errors.Join(errTorn, err)
		}
	}
}

// isPart tells a heading from a name; encodePath quotes names that begin like a heading.
func isPart(line string) bool {
	switch line {
	case partWork, partGit, partExt, partObjects, partIgnored:
		return true
	}
	return false
}

func (m *manifest) parseLine(part, line string) error {
	if part == partObjects || part == partIgnored {
		name, err := decodePath(line)
		if part == partObjects {
			m.objectDirs = append(m.objectDirs, name)
		} else {
			m.ignored = append(m.ignored, name)
		}
		return err
	}
	e, err := parseEntry(line)
	switch part {
	case partWork:
		m.work = append(m.work, e)
	case partGit:
		m.git = append(m.git, e)
	case partExt:
		m.ext = append(m.ext, e)
	}
	return err
}

func parseEntry(line string) (entry, error) {
	f := strings.SplitN(line, " ", 9)
	if len(f) != 9 || len(f[0]) != 1 {
		return entry{}, fmt.Errorf("line %q has too few fields", line)
	}
	e := entry{kind: kind(f[0][0])}
	mode, errMode := strconv.ParseUint(f[1], 8, 32)
	e.st.mode = uint32(mode)
	id, errID := parseOID(f[2])
	e.oid = id
	var nums [5]int64
	errs := []error{errMode, errID}
	for i := range nums {
		n, err := strconv.ParseInt(f[3+i], 10, 64)
		nums[i] = n
		errs = append(errs, err)
	}
	e.st.size, e.st.mtime, e.st.ctime, e.st.ino, e.st.dev = nums[0], nums[1], nums[2], uint64(nums[3]), uint64(nums[4])
	path, err := decodePath(f[8])
	e.path = path
	return e, errors.Join(append(errs, err)...)
}

// treeID hashes sorted entries into an identity that does not depend on times and inodes. Folders do not count.
func treeID(entries []entry) string {
	h := sha256.New()
	for _, e := range entries {
		if e.kind == kindDir {
			continue
		}
		mode := e.st.mode
		if e.kind == kindLink {
			mode = 0
		}
		fmt.Fprintf(h, "%c %o %s %d %s", e.kind, mode, e.oid, len(e.path), e.path)
	}
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
