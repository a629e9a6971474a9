// Package golink finds out what a go build links. Go caches what it compiles and not what it
// links, so each build of the same packages links their programs again.
package golink

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"slices"
	"strings"
)

// packageTemplate prints a package with its build ID, which covers everything that go compiles
// into it. What cgo passes to the linker of the system is unknown to go.
const packageTemplate = `{{.ImportPath}} {{.Name}} {{.BuildID}}{{if or .Incomplete .DepsErrors (and .CgoFiles (not .Standard))}}` + unknownMark + `{{end}}`

const unknownMark = " unknown"

// ListCommand returns the command that lists what a build links, and that compiles what has
// changed. It is false if the command is not a go build that discards its output.
func ListCommand(build []string) (list []string, ok bool) {
	plain := []string{"go", "build", "-o", os.DevNull}
	if len(build) < len(plain) || !slices.Equal(build[:len(plain)], plain) {
		return nil, false
	}
	return slices.Concat([]string{"go", "list", "-e", "-export", "-deps", "-f", packageTemplate}, build[len(plain):]), true
}

// Digest returns the digest of the output of the list command: if it is the same, the build
// links the same. It is "" if the output is incomplete, for instance because a package does
// not compile.
func Digest(answer io.Reader) string {
	text, err := io.ReadAll(io.LimitReader(answer, maxAnswer+1))
	if err != nil || len(text) > maxAnswer || strings.Contains(string(text), unknownMark+"\n") {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// maxAnswer limits the output of the list command, in bytes: about 100,000 packages.
const maxAnswer = 16 << 20
