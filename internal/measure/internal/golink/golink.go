// Package golink knows what a go build links. Go keeps what it compiles and not what it
// links, so that each build of the same packages links their programs again.
package golink

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"slices"
	"strings"
)

// packageTemplate describes a package by its build ID, which go makes of all that it compiles. What
// cgo hands to the linker of the system go does not know.
const packageTemplate = `{{.ImportPath}} {{.Name}} {{.BuildID}}{{if or .Incomplete .DepsErrors (and .CgoFiles (not .Standard))}}` + unknownMark + `{{end}}`

const unknownMark = " unknown"

// ListCommand returns the command that says what a build links, and which compiles what has
// changed. It is false for a command that is no go build to nowhere.
func ListCommand(build []string) (list []string, ok bool) {
	plain := []string{"go", "build", "-o", os.DevNull}
	if len(build) < len(plain) || !slices.Equal(build[:len(plain)], plain) {
		return nil, false
	}
	return slices.Concat([]string{"go", "list", "-e", "-export", "-deps", "-f", packageTemplate}, build[len(plain):]), true
}

// Digest is that of an answer: as long as it is the same, so is the end of the build. It is
// "" where the answer does not tell all, for instance of a package that does not compile.
func Digest(answer io.Reader) string {
	text, err := io.ReadAll(io.LimitReader(answer, maxAnswer+1))
	if err != nil || len(text) > maxAnswer || strings.Contains(string(text), unknownMark+"\n") {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// maxAnswer is that of an answer, in bytes: some 100,000 packages.
const maxAnswer = 16 << 20
