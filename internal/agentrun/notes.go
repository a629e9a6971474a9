package agentrun

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/ledger"
	"supervise/internal/projectfile"
)

// notesName is the name of the agent's file with notes.
const notesName = "supervise-notes.md"

// notes is the file of the agent's notes while it runs.
type notes struct {
	path      string // for this process
	agentPath string // the same, as the agent sees it
	// remove removes the folder of the file; nil if it is not a separate one.
	remove func() error
}

// writeNotes writes the notes of earlier iterations to a file that the agent can read and
// write. The agent cannot access the state folder, so the file is in a folder that it can
// access.
func (r *run) writeNotes() (err error) {
	switch {
	case r.promptDir != "":
		r.notes.path = filepath.Join(r.promptDir, notesName) // written with the prompt
		r.notes.agentPath = r.notes.path
		return nil
	case r.Shield.Sandbox != nil:
		r.notes.path, r.notes.agentPath = filepath.Join(r.Ledger.TempDir(), notesName), filepath.Join(os.TempDir(), notesName)
	default:
		var dir string
		if dir, r.notes.remove, err = ledger.NewScratchDir("notes"); err != nil {
			return err
		}
		r.notes.path = filepath.Join(dir, notesName)
		r.notes.agentPath = r.notes.path
	}
	return ledger.WriteFile(r.notes.path, []byte(r.task.Notes))
}

// readBackNotes reads the agent's notes after its run, and removes the file. An unreadable
// file leaves the notes unchanged; a file that the agent removed makes them empty.
func (r *run) readBackNotes() {
	if r.notes.path == "" {
		return
	}
	text, err := readNotes(r.notes.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		r.task.Notes = ""
	case err != nil:
		r.Warn("read the agent's notes", err)
	default:
		r.task.Notes = text
	}
	if r.notes.remove != nil {
		if err := r.notes.remove(); err != nil {
			r.Warn("remove the agent's notes", err)
		}
	}
	r.notes = notes{}
}

// readNotes reads a file of notes without escape sequences. It cuts a long file after the last
// complete line within the limit.
func readNotes(path string) (string, error) {
	f, err := projectfile.OpenFile(path, projectfile.Source)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, ledger.MaxNotes+1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	text := string(b)
	if len(text) > ledger.MaxNotes {
		text = text[:strings.LastIndexByte(text[:ledger.MaxNotes], '\n')+1] + fmt.Sprintf("[supervise] cut: notes have at most %d bytes\n", ledger.MaxNotes)
	}
	return agent.StripEscapes(strings.ToValidUTF8(text, "�")), nil
}
