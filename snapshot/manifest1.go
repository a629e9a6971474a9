package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const manifestVersion1 = "supervise-snapshot 1"

// The headings of the parts in version 1.
const (
	headWork    = "[work]"
	headGit     = "[git]"
	headExt     = "[external]"
	headObjects = "[objects]"
	headIgnored = "[ignored]"
)

// parseManifest1 reads version 1: lines of text and a checksum in the last one.
func parseManifest1(data []byte) (*manifest, error) {
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
	case headWork, headGit, headExt, headObjects, headIgnored:
		return true
	}
	return false
}

func (m *manifest) parseLine(part, line string) error {
	if part == headObjects || part == headIgnored {
		name, err := decodePath(line)
		if part == headObjects {
			m.objectDirs = append(m.objectDirs, name)
		} else {
			m.ignored = append(m.ignored, name)
		}
		return err
	}
	e, err := parseEntry(line)
	switch part {
	case headWork:
		m.work = append(m.work, e)
	case headGit:
		m.git = append(m.git, e)
	case headExt:
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
