package agent

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Notes returns notes for the user before the program runs unattended: it is experimental, or
// it approves its own actions or asks for approval.
func (p Preset) Notes(yolo bool) []string {
	var out []string
	if !p.Observed.Supervised {
		out = append(out, p.Name+" is experimental: known "+p.Observed.What+"; 'supervise agents check "+p.Name+"' tests it")
	}
	switch {
	case p.NeverAsks:
		out = append(out, p.Name+" never asks before it edits or runs something")
	case !yolo:
		out = append(out, p.Name+" may ask before it edits or runs something, and no one can answer: --yolo allows everything")
	}
	return out
}

// UntestedNote returns a note if supervise was not tested with the version of a known
// program, "" otherwise.
func UntestedNote(program, version string) string {
	p, err := ByName(program)
	if program == "" || err != nil || p.IsTestedVersion(version) {
		return ""
	}
	return fmt.Sprintf("%s %s: tested with %s only", p.Name, version, p.Observed.Version)
}

// CheckInstalled returns an error if the program of a command does not exist. args[0] is the
// program, and a relative path in it starts at dir. For a known program the error says how to
// install it.
func CheckInstalled(dir string, args []string) error {
	name := args[0]
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	_, err := exec.LookPath(name)
	if err == nil {
		return nil
	}
	remedy := "put its folder on PATH, or give its full path"
	if p, known := Recognize(args); known {
		remedy = "to install it: " + p.Install
	}
	return fmt.Errorf("start the agent: %w; %s", err, remedy)
}
