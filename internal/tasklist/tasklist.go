// Package tasklist reads files with several tasks, which are done one after the other: a
// Markdown checklist, or JSON.
package tasklist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"supervise/internal/regexp"
)

// Task is one of a list.
type Task struct {
	Text  string `json:"task"`
	Until string `json:"until,omitempty"` // when it is done, as --until says it; "" as for all others
	Done  bool   `json:"done,omitempty"`  // it is marked as done, and is left out
}

// Title is the first line of the task.
func (t Task) Title() string {
	title, _, _ := strings.Cut(t.Text, "\n")
	return title
}

// Read returns the tasks of a file, nil where it holds one task: a text. A Markdown file
// is a list where it is nothing but headings and a checklist, a JSON file where it is an array.
func Read(name string, text []byte) ([]Task, error) {
	if strings.EqualFold(filepath.Ext(name), ".json") && bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		tasks, err := fromJSON(text)
		if err == nil {
			err = check(tasks)
		}
		if err != nil {
			return nil, fmt.Errorf("%s is no list of tasks: %w: want [{\"task\": \"…\", \"until\": \"…\"}]", name, err)
		}
		return tasks, nil
	}
	return checklist(string(text)), nil
}

func fromJSON(text []byte) (tasks []Task, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&tasks); err == nil && dec.More() {
		err = errors.New("there is more behind the list")
	}
	return tasks, err
}

func check(tasks []Task) error {
	if len(tasks) == 0 {
		return errors.New("it is empty")
	}
	for i, t := range tasks {
		if strings.TrimSpace(t.Text) == "" {
			return fmt.Errorf("task %d has no text", i+1)
		}
	}
	return nil
}

var (
	item  = regexp.MustCompile(`^[-*+] \[([ xX])\] +(\S.*)$`)
	until = regexp.MustCompile(`^\s+until: *(\S.*)$`)
)

// checklist reads a Markdown file that holds nothing else. Indented lines belong to the
// item before them; one that begins with "until:" is its criterion.
func checklist(text string) (tasks []Task) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		m := item.FindStringSubmatch(line)
		switch {
		case m != nil:
			tasks = append(tasks, Task{Text: m[2], Done: m[1] != " "})
		case line == "", strings.HasPrefix(line, "#"):
		case !indented || len(tasks) == 0:
			return nil // a text that happens to have a list in it
		default:
			t := &tasks[len(tasks)-1]
			if m := until.FindStringSubmatch(line); m != nil {
				t.Until = m[1]
				continue
			}
			t.Text += "\n" + line
		}
	}
	return tasks
}
