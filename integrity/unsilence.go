package integrity

import (
	"bytes"

	"supervise/source"
)

// Unsilenced returns the changed files, by path, with the comments undone that came
// and that silence tools: their words are crossed out, and every line stays where it
// is. A comment that moved from another file is none that came. Annotations, and
// what takes lines out of the coverage, stay.
func Unsilenced(files []File) map[string][]byte {
	c := newChange(files)
	changed := c.silencedFiles(false)
	moved := map[string]int{}
	for _, f := range changed {
		for _, d := range f.gone {
			moved[d.Text]++
		}
	}
	out := map[string][]byte{}
	for _, f := range changed {
		if text := crossedOut(f, moved); text != nil {
			out[f.Path] = text
		}
	}
	return out
}

// crossedOut is the text of a file without its new directives, nil where there is
// none. moved are those that went elsewhere, and are used up.
func crossedOut(f silenced, moved map[string]int) []byte {
	var text []byte
	for _, d := range f.came {
		if moved[d.Text]--; moved[d.Text] >= 0 || !d.Comment {
			continue
		}
		if text == nil {
			text = bytes.Clone(f.after().text)
		}
		crossOut(text, d)
	}
	return text
}

func crossOut(text []byte, d source.Directive) {
	for i := d.From; i < min(d.To, len(text)); i++ {
		text[i] = 'x'
	}
}
