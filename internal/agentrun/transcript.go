package agentrun

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"

	"supervise/runner"
)

// tailSize is how much of the agent's last output is kept in memory, in bytes.
const tailSize = 4 << 10

// transcript records the output of an agent. The output passes the masker, and then goes to
// cast, which writes the file, and to tail. The mirror receives it unmasked.
type transcript struct {
	file   *runner.Transcript
	cast   *runner.Cast
	tail   *runner.Tail
	masked io.WriteCloser // masks secrets before cast and tail
	mirror io.WriteCloser // receives the unmasked output
}

// startTranscript makes the command write its output to a transcript in the folder dir of its
// iteration. The caller closes the transcript.
func (a *Agent) startTranscript(cmd *runner.Command, dir string, iteration int) (*transcript, error) {
	file, err := runner.CreateTranscript(filepath.Join(dir, "transcript.cast"), a.Transcript)
	if err != nil {
		return nil, err
	}
	r := &transcript{file: file, tail: runner.NewTail(tailSize), mirror: a.Mirror(iteration)}
	var screen io.Writer
	if cmd.Terminal != nil {
		cols, rows := cmd.Terminal.Size()
		r.cast = runner.NewCast(file, cols, rows)
		cmd.Terminal.OnResize = func(cols, rows uint16) { _ = r.cast.Resize(cols, rows) } // Close returns the error
		screen = r.cast
	} else {
		r.cast = runner.NewCast(file, 0, 0)
		screen = &crlfWriter{to: r.cast}
	}

	r.masked = a.Masker.Writer(io.MultiWriter(screen, r.tail))
	to := []io.Writer{r.masked, r.mirror}
	if cmd.Terminal == nil && a.Terminal != nil && a.Terminal.Out != nil {
		to = append(to, a.Terminal.Out)
	}
	cmd.Stdout = io.MultiWriter(to...)
	if cmd.Terminal == nil {
		cmd.Stderr = cmd.Stdout
	}
	return r, nil
}

// close writes the rest of the output, and closes all files.
func (r *transcript) close() error {
	return errors.Join(r.masked.Close(), r.cast.Close(), r.file.Close(), r.mirror.Close())
}

// crlfWriter converts line feeds to the line ends of a terminal (\r\n).
type crlfWriter struct{ to io.Writer }

// Write writes p with converted line feeds.
func (l *crlfWriter) Write(p []byte) (int, error) {
	if _, err := l.to.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
