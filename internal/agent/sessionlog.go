package agent

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"supervise/internal/projectfile"
	"supervise/internal/regexp"
	"supervise/internal/yamlfile"
	"supervise/runner"
)

// SessionLog is a file to which a program writes information that it does not print.
type SessionLog struct {
	// variable that names its folder
	Var string `yaml:"var"`
	// that folder below the home folder, where the variable is not set
	Home string `yaml:"home"`
	// path below it, with * for any name and {{session}}
	Path string `yaml:"path"`
	// rules, of which only windows are read: the agent can write to the file
	Events []Rule `yaml:"events"`
}

// validate returns an error about the first invalid value. A preset without a log is valid.
func (l SessionLog) validate() error {
	if l.Path == "" && len(l.Events) == 0 {
		return nil
	}
	if !strings.Contains(l.Path, "{{session}}") || l.Home == "" {
		return yamlfile.InvalidValue("session_log must have home, a folder below the home folder, and path, the file in it with {{session}} in its name", "session_log")
	}
	for i, r := range l.Events {
		if why, key := r.invalidReason(false); why != "" {
			return yamlfile.InvalidValue("session_log: "+why, "session_log", "events", strconv.Itoa(i), key)
		}
	}
	return nil
}

// dirFrom returns the folder of the logs: the variable of the program if it is set, and a
// folder below the home folder otherwise. env is the environment of the program. The result is
// "" if the home folder is unknown.
func (l SessionLog) dirFrom(env []string) string {
	if dir := runner.Getenv(env, l.Var); l.Var != "" && filepath.IsAbs(dir) {
		return dir
	}
	if home := runner.Getenv(env, "HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, l.Home)
	}
	return ""
}

// LogReader reads the log of one run while the program writes it. It looks for the file when
// the program has reported its session.
type LogReader struct {
	log    SessionLog
	dir    string // folder of the logs
	path   string // the log; "" until it is found
	tries  int    // how often the log was searched
	offset int64  // how much of the log was read, in bytes
	report Report // of which only the windows are used
}

// The limits of reading a log.
const (
	maxTries    = 50      // to find the file, which a program may create late
	maxNewBytes = 1 << 20 // per read; earlier new bytes are skipped
)

// sessionNameRE matches the names of sessions that are safe in a path.
var sessionNameRE = regexp.MustCompile(`^[\w-]{1,100}$`)

// NewLogReader returns a reader of the program's log, which env locates; nil if the program
// has no log.
func (p Preset) NewLogReader(env []string) *LogReader {
	dir := p.Log.dirFrom(env)
	if p.Log.Path == "" || dir == "" {
		return nil
	}
	return &LogReader{log: p.Log, dir: dir}
}

// Add returns r with the windows of the log added. It ignores an unreadable log. A nil reader
// returns r.
func (l *LogReader) Add(r Report) Report {
	if l == nil || !sessionNameRE.MatchString(r.Session) {
		return r
	}

	if l.path == "" && l.tries < maxTries {
		l.tries++
		found, _ := filepath.Glob(filepath.Join(l.dir, strings.ReplaceAll(l.log.Path, "{{session}}", r.Session))) // the pattern is the preset's
		if len(found) > 0 {
			l.path = found[len(found)-1] // the latest, by its name
		}
	}

	if l.path != "" {
		_ = l.readNew() // without it the windows stay unknown
	}
	for _, w := range l.report.Windows {
		r.setWindow(w)
	}
	return r
}

// readNew reads the complete lines that were added to the log since the last call.
func (l *LogReader) readNew() error {
	f, err := projectfile.OpenAnywhere(l.path, projectfile.Report)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("read %s: %w", l.path, err)
	}

	from := max(l.offset, size-maxNewBytes)
	text := make([]byte, max(0, size-from))
	n, err := f.ReadAt(text, from)
	if err != nil && err != io.EOF { //nolint:errorlint // EOF: the file became shorter
		return fmt.Errorf("read %s: %w", l.path, err)
	}
	text = text[:n]

	complete := bytes.LastIndexByte(text, '\n') + 1
	l.offset = from + int64(complete)
	for line := range bytes.Lines(text[:complete]) {
		event, ok := decodeJSON[map[string]any](line)
		for _, rule := range l.log.Events {
			if ok && rule.matches(event, &l.report) {
				rule.Window.apply(event, &l.report)
			}
		}
	}
	return nil
}
