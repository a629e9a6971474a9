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

// FileName is the file with the live state, in the folder of a loop. No decision depends on it.
const FileName = "live.json"

// saveEvery is the shortest time between two writes of the file.
const saveEvery = time.Second

// PersistFile writes the file after each change of the board, until stop is called. stop writes it
// a last time. Errors do not affect the loop.
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

// saveFile replaces the file. It does not sync the disk, because after a crash the file is useless.
func (b *Board) saveFile() {
	b.mu.Lock()
	dir := b.folder
	b.mu.Unlock()
	text, err := json.Marshal(b.State())
	if err != nil || dir == "" {
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

// Read returns the live state from the file in the folder of a loop.
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

// LoadFile shows the state of a loop of another process on this board, from the file in dir. If
// atWork is false, no process works on the loop. Then, or if the file cannot be read, the board is
// empty.
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

// cleanTexts escapes the texts of a state from a file, because any process may have written it.
func (s *State) cleanTexts() {
	for _, text := range []*string{&s.LoopID, &s.Level, &s.Activity, &s.AgentMessage} {
		*text = visibleLine(*text)
	}
	for i := range s.Checks {
		c := &s.Checks[i]
		c.Name, c.Tally.LastFailed = visibleLine(c.Name), visibleLine(c.Tally.LastFailed)
	}
}

// loadLastDurations loads how long everything took in the latest loop of the same tree. This may be
// the loop in dir itself, before it was resumed. The caller holds the lock.
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
