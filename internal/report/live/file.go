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

// FileName is the file in the folder of a loop with its live state. It is only displayed: no
// decision depends on it.
const FileName = "live.json"

// saveEvery is the shortest time between two writes of the file.
const saveEvery = time.Second

// PersistFile writes the file after each change until stop is called, which writes it a last
// time. Errors do not affect the loop.
func (b *Board) PersistFile() (stop func()) {
	done, news := make(chan struct{}), b.subscribe()
	var work sync.WaitGroup
	work.Go(func() {
		for {
			select {
			case <-done:
				b.saveFile()
				return
			case <-news:
			}
			b.saveFile()
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

// saveFile replaces the file. It is not synced, since it is useless after a crash.
func (b *Board) saveFile() {
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

// Read returns the live state of the loop in a folder from its file.
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

// LoadFile shows the state of another process's loop from its file. It shows nothing if no
// process works on the loop, or the file cannot be read.
func (b *Board) LoadFile(dir string, atWork bool) {
	s, err := Read(dir)
	if err != nil || !atWork {
		s = State{}
	}
	s.cleanTexts()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = s
	b.notifyListeners()
}

// cleanTexts escapes the texts of a file, which any process may have written.
func (s *State) cleanTexts() {
	for _, text := range []*string{&s.LoopID, &s.Level, &s.Activity, &s.AgentMessage} {
		*text = visibleLine(*text)
	}
	for i := range s.Checks {
		c := &s.Checks[i]
		c.Name, c.Tally.LastFailed = visibleLine(c.Name), visibleLine(c.Tally.LastFailed)
	}
}

// loadLastDurations loads the durations of the latest loop in the same tree, which may be this
// one before it was resumed.
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
