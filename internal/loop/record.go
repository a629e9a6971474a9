package loop

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"

	"supervise/runner"
)

// PtyMode is whether the agent gets a pseudo-terminal.
type PtyMode string

// The modes. Programs that print to a pipe keep back what they print until a
// buffer is full, so that nobody sees them work: therefore PtyAuto gives one
// wherever the system has one, also when nobody looks.
const (
	PtyAuto   PtyMode = "auto"
	PtyAlways PtyMode = "always" // an error where there is none
	PtyNever  PtyMode = "never"
)

// Valid reports whether m is one of the modes; empty is PtyAuto.
func (m PtyMode) Valid() bool { return m == "" || m == PtyAuto || m == PtyAlways || m == PtyNever }

// recording keeps what an agent prints.
type recording struct {
	file   *runner.Transcript
	cast   *runner.Cast
	words  *runner.Tail
	masked io.WriteCloser // before cast and words
	mirror io.WriteCloser // sees everything as it is
}

// transcribe has the command's output recorded in the folder of its iteration.
func (s *session) transcribe(cmd *runner.Command, dir string, iteration int) (*recording, error) {
	file, err := runner.CreateTranscript(filepath.Join(dir, "transcript.cast"), s.opts.Transcript)
	if err != nil {
		return nil, err
	}
	r := &recording{file: file, words: runner.NewTail(lastWords), mirror: s.opts.Mirror(iteration)}
	var screen io.Writer
	if cmd.Terminal != nil {
		cols, rows := cmd.Terminal.Size()
		r.cast = runner.NewCast(file, cols, rows)
		cmd.Terminal.OnResize = func(cols, rows uint16) { _ = r.cast.Resize(cols, rows) } // Close tells of the error
		screen = r.cast
	} else {
		r.cast = runner.NewCast(file, 0, 0)
		screen = &lineEnds{to: r.cast}
	}
	r.masked = s.masker.Writer(io.MultiWriter(screen, r.words))
	to := []io.Writer{r.masked, r.mirror}
	if cmd.Terminal == nil && s.opts.Terminal != nil && s.opts.Terminal.Out != nil {
		to = append(to, s.opts.Terminal.Out)
	}
	cmd.Stdout = io.MultiWriter(to...)
	if cmd.Terminal == nil {
		cmd.Stderr = cmd.Stdout
	}
	return r, nil
}

func (r *recording) close() error {
	return errors.Join(r.masked.Close(), r.cast.Close(), r.file.Close(), r.mirror.Close())
}

// lineEnds makes the line ends of a pipe those of a terminal.
type lineEnds struct{ to io.Writer }

func (l *lineEnds) Write(p []byte) (int, error) {
	if _, err := l.to.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
