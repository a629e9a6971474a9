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

// notesName is the agent's file with notes, where it is in a folder that others use too.
const notesName = "supervise-notes.md"

// notes are where the agent's notes lie while it runs.
type notes struct {
	path      string // for this process
	agentPath string // the same, as the agent sees it
	// remove removes the folder around, where it was made for them.
	remove func() error
}

// writeNotes puts the notes of earlier iterations where the agent can read and write them:
// the state is kept from it.
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

// readBackNotes reads the notes as the agent left them, and removes them. What is no file, or
// cannot be read, changes nothing.
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

// readNotes reads as much of a file of notes as is kept: whole lines.
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
