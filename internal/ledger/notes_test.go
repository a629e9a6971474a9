package ledger

import "testing"

func TestNotes(t *testing.T) {
	run := func(n int, notes string) Iteration { return Iteration{Number: n, Agent: &AgentRun{Notes: notes}} }
	past := []Iteration{{}, run(1, "one\n\n  two\n"), run(2, "one\nhalf done\n- Lesson: never again\n"), run(3, "**LESSON: nor that**\n- Lesson: never again\nlessons: no\n")}
	for _, tt := range []struct {
		what string
		past []Iteration
		kept int
		want string
	}{
		{"no iteration yet", past[:1], 0, ""},
		{"the last one was kept", past[:2], 1, "one\n\n  two\n"},
		{"two were undone since", past, 1, "one\n\n  two\n- Lesson: never again\n**LESSON: nor that**\n"},
		{"all were undone", past, 0, "- Lesson: never again\n**LESSON: nor that**\n"},
		{"the agent emptied them", append(past[:3:3], run(3, "")), 3, ""},
	} {
		if got := NotesAfter(tt.past, tt.kept); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}
