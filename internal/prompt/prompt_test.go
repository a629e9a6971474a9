package prompt_test

import (
	"strings"
	"testing"

	"supervise/internal/prompt"
)

func TestFor(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    prompt.Situation
		want prompt.Level
	}{
		{"first", prompt.Situation{Iteration: 1}, prompt.Minimal},
		{"second", prompt.Situation{Iteration: 2}, prompt.Minimal},
		{"third", prompt.Situation{Iteration: 3}, prompt.Standard},
		{"fourth", prompt.Situation{Iteration: 4}, prompt.Standard},
		{"fifth", prompt.Situation{Iteration: 5}, prompt.Aggressive},
		{"after a rejection", prompt.Situation{Iteration: 2, Rejected: true}, prompt.Aggressive},
		{"on a plateau", prompt.Situation{Iteration: 2, Plateau: true}, prompt.Aggressive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, why := prompt.For(tt.s); got != tt.want || why == "" {
				t.Errorf("For(%+v) = %v, %q, want %v with a reason", tt.s, got, why, tt.want)
			}
		})
	}
}

func TestTextNamesTheNumbersOfThisLoop(t *testing.T) {
	facts := prompt.Facts{
		Task: "Fix the calculator.", Iteration: 4, Max: 10, Criterion: "no test fails", Measured: true,
		Passed: 7, Count: 9, Failing: []string{"calc: TestDiv", "calc: TestMod"}, Coverage: "81.2%", Errors: "3",
		Rejection: &prompt.Rejection{
			Iteration: 3, Reasons: []string{"Test count decreased from 9 to 8"},
			Tests: []string{"calc: TestDiv"}, Advice: "Mend the code under test.",
		},
	}
	for _, level := range []prompt.Level{prompt.Minimal, prompt.Standard, prompt.Aggressive} {
		got, err := prompt.Text(level, facts)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"Fix the calculator.", "Iteration 4 of at most 10", "7 of 9 tests pass", "81.2%", "3 lint",
			"calc: TestDiv", "Iteration 3 was REJECTED", "Test count decreased from 9 to 8", "Mend the code under test.",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%v text lacks %q:\n%s", level, want, got)
			}
		}
	}
}

func TestTextNamesWhatBecameOfTheTests(t *testing.T) {
	facts := prompt.Facts{Iteration: 2, Measured: true, Changes: []prompt.Change{
		{What: "newly failing", Tests: []string{"calc: A", "calc: B", "calc: C", "calc: D", "calc: E"}},
		{What: "newly passing", Tests: []string{"calc: F"}},
	}}
	for level, want := range map[prompt.Level]string{
		prompt.Standard:   "Since the iteration before: newly failing: calc: A, and 4 more; newly passing: calc: F.",
		prompt.Aggressive: "Since the iteration before: newly failing: calc: A, calc: B, calc: C, and 2 more; newly passing: calc: F.",
	} {
		if got, err := prompt.Text(level, facts); err != nil || !strings.Contains(got, want) {
			t.Errorf("%v text lacks %q: %v\n%s", level, want, err, got)
		}
	}
	if len(facts.Changes[0].Tests) != 5 {
		t.Errorf("the facts were changed: %v", facts.Changes)
	}
	facts.Changes = nil
	if got, err := prompt.Text(prompt.Aggressive, facts); err != nil || strings.Contains(got, "Since the iteration before") {
		t.Errorf("nothing changed, and the text is %v\n%s", err, got)
	}
}

func TestTextBeyondTheTaskStaysWithinItsBudget(t *testing.T) {
	many := make([]string, 400)
	for i := range many {
		many[i] = "example.org/some/package: TestSomething"
	}
	for level, tokens := range map[prompt.Level]int{prompt.Minimal: 100, prompt.Standard: 250, prompt.Aggressive: 450} {
		got, err := prompt.Text(level, prompt.Facts{Iteration: 1, Measured: true, Count: 400, Failing: many, Changes: []prompt.Change{
			{What: "newly failing", Tests: many},
			{What: "newly skipped", Tests: many},
			{What: "did not run", Tests: many},
			{What: "flaky", Tests: many},
			{What: "newly passing", Tests: many},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(got) / 4; n > tokens {
			t.Errorf("%v text has about %d tokens, want at most %d", level, n, tokens)
		}
	}
}

func TestOffIsTheTaskAlone(t *testing.T) {
	if got, err := prompt.Text(prompt.Off, prompt.Facts{Task: "Do it.", Iteration: 3}); err != nil || got != "Do it." {
		t.Errorf("Text(Off) = %q, %v", got, err)
	}
}

func TestParseLevel(t *testing.T) {
	if l, err := prompt.ParseLevel("aggressive"); err != nil || l != prompt.Aggressive {
		t.Errorf("ParseLevel = %v, %v", l, err)
	}
	if _, err := prompt.ParseLevel("loud"); err == nil {
		t.Error("an unknown level was read")
	}
}
