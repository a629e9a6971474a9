package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"supervise/internal/projectfile"
)

// FileName is the file in a loop's folder that says what the loop does. It is a copy
// for people to look at: nothing follows from it.
const FileName = "live.json"

// saveEvery is how often the file is written at most.
const saveEvery = time.Second

// PersistFile writes the file whenever something is new, until stop is called, which writes it
// once more and waits for that. What goes wrong is none of the loop's business.
func (b *Board) PersistFile() (stop func()) {
	done, news := make(chan struct{}), b.subscribe()
	var work sync.WaitGroup
	work.Go(func() {
		for {
			select {
			case <-done:
				b.save()
				return
			case <-news:
			}
			b.save()
			select {
			case <-done:
			case <-time.After(saveEvery):
			}
		}
	})
	return func() {
		close(done)
		work.Wait()
	}
}

// save replaces the file. It is not synced: after a crash nobody needs it.
func (b *Board) save() {
	b.mu.Lock()
	dir := b.folder
	b.mu.Unlock()
	if dir == "" {
		return
	}
	text, err := json.Marshal(b.State())
	if err != nil {
		return
	}
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, FileName))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

// Read returns what the loop in a folder does, by its file.
func Read(dir string) (s State, err error) {
	text, err := projectfile.ReadAnywhere(filepath.Join(dir, FileName), projectfile.Settings)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return State{}, fmt.Errorf("read what the loop does: %w", err)
	}
	return s, nil
}

// LoadFile has the board show what another process does in a loop, by its file; nothing
// where nobody is at work on the loop, or that is not known.
func (b *Board) LoadFile(dir string, atWork bool) {
	s, err := Read(dir)
	if err != nil || !atWork {
		s = State{}
	}
	s.clean()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = s
	b.notifyListeners()
}

// clean makes the texts of a file fit for people: anybody may have written it.
func (s *State) clean() {
	for _, text := range []*string{&s.LoopID, &s.Level, &s.Activity, &s.AgentMessage} {
		*text = visibleLine(*text)
	}
	for i := range s.Checks {
		c := &s.Checks[i]
		c.Name, c.Tally.LastFailed = visibleLine(c.Name), visibleLine(c.Tally.LastFailed)
	}
}

// loadLastDurations takes over how long everything took in the latest loop of the same tree, which
// may be this one before it was resumed.
func (b *Board) loadLastDurations(dir string) {
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", FileName)) // the pattern is valid, or nothing is recalled
	latest, at := "", time.Time{}
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil && info.ModTime().After(at) {
			latest, at = filepath.Dir(file), info.ModTime()
		}
	}
	if old, err := Read(latest); latest != "" && err == nil {
		maps.Copy(b.state.LastDurations, old.LastDurations)
		maps.Copy(b.state.LastTestCounts, old.LastTestCounts)
	}
}
