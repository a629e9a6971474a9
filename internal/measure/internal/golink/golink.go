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

// line describes a package by its build ID, which go makes of all that it compiles. What
// cgo hands to the linker of the system go does not know.
const line = `{{.ImportPath}} {{.Name}} {{.BuildID}}{{if or .Incomplete .DepsErrors (and .CgoFiles (not .Standard))}}` + unknown + `{{end}}`

const unknown = " unknown"

// Question returns the command that says what a build links, and which compiles what has
// changed. It is false for a command that is no go build to nowhere.
func Question(build []string) (list []string, ok bool) {
	plain := []string{"go", "build", "-o", os.DevNull}
	if len(build) < len(plain) || !slices.Equal(build[:len(plain)], plain) {
		return nil, false
	}
	return slices.Concat([]string{"go", "list", "-e", "-export", "-deps", "-f", line}, build[len(plain):]), true
}

// Digest is that of an answer: as long as it is the same, so is the end of the build. It is
// "" where the answer does not tell all, for instance of a package that does not compile.
func Digest(answer io.Reader) string {
	text, err := io.ReadAll(io.LimitReader(answer, limit+1))
	if err != nil || len(text) > limit || strings.Contains(string(text), unknown+"\n") {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// limit is that of an answer, in bytes: some 100,000 packages.
const limit = 16 << 20
