// Package tasklist reads files with several tasks, which are done one after the other: a
// Markdown checklist, or JSON.
package tasklist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/regexp"
)

// Task is one task of a list.
type Task struct {
	Text  string `json:"task"`
	Until string `json:"until,omitempty"` // the criterion by which it is done, as in --until; "" for that of the run
	Done  bool   `json:"done,omitempty"`  // it is marked as done, and is skipped
}

// Title is the first line of the task.
func (t Task) Title() string {
	title, _, _ := strings.Cut(t.Text, "\n")
	return title
}

// Read returns the tasks of a file. It returns nil if the file is a text, which is one task. A
// Markdown file is a list if it has only headings and a checklist, a JSON file if it is an array.
func Read(name string, text []byte) ([]Task, error) {
	if strings.EqualFold(filepath.Ext(name), ".json") && bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		tasks, err := parseJSON(text)
		if err != nil {
			return nil, fmt.Errorf("%s is not a list of tasks: %w: want [{\"task\": \"…\", \"until\": \"…\"}]", name, err)
		}
		return tasks, nil
	}
	return parseChecklist(string(text)), nil
}

// parseJSON reads a JSON array of tasks, each with a text.
func parseJSON(text []byte) (tasks []Task, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&tasks); err != nil {
		return nil, err
	}
	textless := slices.IndexFunc(tasks, func(t Task) bool { return strings.TrimSpace(t.Text) == "" })
	switch {
	case dec.More():
		return nil, errors.New("there is more text after the list")
	case len(tasks) == 0:
		return nil, errors.New("it is empty")
	case textless >= 0:
		return nil, fmt.Errorf("task %d has no text", textless+1)
	}
	return tasks, nil
}

var (
	itemPattern  = regexp.MustCompile(`^[-*+] \[([ xX])\] +(\S.*)$`)
	untilPattern = regexp.MustCompile(`^\s+until: *(\S.*)$`)
)

// parseChecklist reads a Markdown file that has only headings and a checklist. Indented lines
// belong to the item before them; one that starts with "until:" is its criterion.
func parseChecklist(text string) (tasks []Task) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		m := itemPattern.FindStringSubmatch(line)
		switch {
		case m != nil:
			tasks = append(tasks, Task{Text: m[2], Done: m[1] != " "})
		case line == "", strings.HasPrefix(line, "#"):
		case !indented || len(tasks) == 0:
			return nil // a text that has a list in it
		default:
			t := &tasks[len(tasks)-1]
			if m := untilPattern.FindStringSubmatch(line); m != nil {
				t.Until = m[1]
				continue
			}
			t.Text += "\n" + line
		}
	}
	return tasks
}
