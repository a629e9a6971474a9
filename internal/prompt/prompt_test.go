package prompt_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"supervise/internal/prompt"
)

// builtIn returns the prompt of an iteration by the templates that are built in.
func builtIn(level prompt.Level, f prompt.Facts) (string, error) {
	texts, err := prompt.Parse(nil, "")
	if err != nil {
		return "", err
	}
	text, _, err := texts.Prompt(level, f)
	return text, err
}

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
		{"on a plateau", prompt.Situation{Iteration: 2, OnPlateau: true}, prompt.Aggressive},
		{"an error", prompt.Situation{Iteration: 2, SameErrors: 1}, prompt.Minimal},
		{"the same error again", prompt.Situation{Iteration: 2, SameErrors: 2}, prompt.Aggressive},
		{"a setback lately", prompt.Situation{Iteration: 2, Setbacks: 1}, prompt.Standard},
		{"setbacks", prompt.Situation{Iteration: 3, Setbacks: 2}, prompt.Aggressive},
		{"falling", prompt.Situation{Iteration: 3, Falling: true}, prompt.Aggressive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, why := prompt.Escalation(nil).LevelFor(tt.s); got != tt.want || why == "" {
				t.Errorf("For(%+v) = %v, %q, want %v with a reason", tt.s, got, why, tt.want)
			}
		})
	}
}

func TestEscalation(t *testing.T) {
	e := prompt.Escalation{{1, prompt.Standard}, {4, prompt.Aggressive}}
	for n, want := range map[int]prompt.Level{1: prompt.Standard, 3: prompt.Standard, 4: prompt.Aggressive, 9: prompt.Aggressive} {
		if got, why := e.LevelFor(prompt.Situation{Iteration: n}); got != want || why == "" {
			t.Errorf("iteration %d: %v, %q, want %v with a reason", n, got, why, want)
		}
	}
	if got, _ := e.LevelFor(prompt.Situation{Iteration: 1, Rejected: true}); got != prompt.Aggressive {
		t.Errorf("after a rejection: %v, want AGGRESSIVE", got)
	}
	if got, _ := e.LevelFor(prompt.Situation{Iteration: 5, Setbacks: 1}); got != prompt.Aggressive {
		t.Errorf("a setback lowered the level to %v", got)
	}
}

func TestPromptNamesTheNumbersOfTheLoop(t *testing.T) {
	facts := prompt.Facts{
		Task: "Fix the calculator.", Iteration: 4, Max: 10, Criterion: "no test fails", Measured: true,
		Passed: 7, Count: 9, Failing: []string{"calc: TestDiv", "calc: TestMod"}, Coverage: "81.2%", Errors: "3",
		Rejection: &prompt.Rejection{
			Iteration: 3, Reasons: []string{"Test count decreased from 9 to 8"},
			Tests: []string{"calc: TestDiv"}, Advice: "Mend the code under test.",
		},
	}
	for _, level := range []prompt.Level{prompt.Minimal, prompt.Standard, prompt.Aggressive} {
		got, err := builtIn(level, facts)
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

func TestPromptNamesChangedTests(t *testing.T) {
	facts := prompt.Facts{Iteration: 2, Measured: true, Changes: []prompt.Change{
		{What: "newly failing", Tests: []string{"calc: A", "calc: B", "calc: C", "calc: D", "calc: E"}},
		{What: "newly passing", Tests: []string{"calc: F"}},
	}}
	for level, want := range map[prompt.Level]string{
		prompt.Standard:   "Since the previous iteration: newly failing: calc: A, and 4 more; newly passing: calc: F.",
		prompt.Aggressive: "Since the previous iteration: newly failing: calc: A, calc: B, calc: C, and 2 more; newly passing: calc: F.",
	} {
		if got, err := builtIn(level, facts); err != nil || !strings.Contains(got, want) {
			t.Errorf("%v text lacks %q: %v\n%s", level, want, err, got)
		}
	}
	if len(facts.Changes[0].Tests) != 5 {
		t.Errorf("the facts were changed: %v", facts.Changes)
	}
	facts.Changes = nil
	if got, err := builtIn(prompt.Aggressive, facts); err != nil || strings.Contains(got, "Since the previous iteration") {
		t.Errorf("nothing changed, and the text is %v\n%s", err, got)
	}
}

// fullFacts has more of everything than fits.
func fullFacts() prompt.Facts {
	many := make([]string, 400)
	for i := range many {
		many[i] = "example.org/some/package: TestSomething" + strings.Repeat("é", i)
	}
	f := prompt.Facts{
		Iteration: 3, Max: 9, Measured: true, Count: 400, Failing: many, Criterion: strings.Repeat("all is well and ", 200),
		Rejection: &prompt.Rejection{Iteration: 2, Reasons: many, Tests: many, Advice: strings.Repeat("mend the code ", 200)},
		Error:     &prompt.Failure{Text: strings.Repeat("no such file ", 300), Times: 3}, Open: many, Note: strings.Repeat("well ", 400), Near: true, Last: true,
		Risk: &prompt.Risk{What: "delete a test file", Target: strings.Repeat("long/", 500), Why: "it is gone then"}, Blocked: "supervise blocked", Allowed: many,
	}
	for _, what := range []string{"newly failing", "newly skipped", "did not run", "flaky", "newly passing"} {
		f.Changes = append(f.Changes, prompt.Change{What: what, Tests: many})
	}
	return f
}

// Each point has something to say at each level, in 50, 150 and 300 tokens at most.
func TestPoints(t *testing.T) {
	texts, err := prompt.Parse(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	few := prompt.Facts{
		Iteration: 2, Max: 9, Measured: true, Passed: 7, Count: 9, Failing: []string{"calc: TestDiv"}, Criterion: "no test fails", Near: true, Last: true,
		Rejection: &prompt.Rejection{Iteration: 1, Reasons: []string{"Test count decreased from 9 to 8"}, Tests: []string{"calc: TestMod"}, Advice: "Mend the code."},
		Error:     &prompt.Failure{Text: "undefined: Mod", Times: 2},
		Risk:      &prompt.Risk{What: "delete a test file", Target: "calc_test.go"},
		Blocked:   "supervise blocked", Allowed: []string{"calc: TestPow"},
	}
	wants := map[prompt.Point][]string{
		prompt.LoopStart:        {"Iteration 2 of at most 9", "7 of 9 tests pass", "Failing: calc: TestDiv", "tests"},
		prompt.Boundary:         {"Iteration 2 of at most 9", "7 of 9 tests pass", "Failing: calc: TestDiv"},
		prompt.AfterError:       {"ended with an error, the same one 2 times in a row", "undefined: Mod", "Do NOT try the same again"},
		prompt.AfterRegression:  {"Iteration 1 was REJECTED", "Test count decreased from 9 to 8", "calc: TestMod", "Mend the code."},
		prompt.BeforeCompletion: {"The loop ends when: no test fails.", "No test fails now", "last iteration"},
		prompt.WayOut:           {"`supervise blocked --test ID --reason TEXT`", "A person decides; it costs you nothing."},
		prompt.Allowance:        {"may be changed: calc: TestPow."},
		prompt.RiskyTool:        {"You are about to delete a test file: calc_test.go.", "fix"},
	}
	wayOut := map[prompt.Point]string{prompt.WayOut: "supervise blocked"} // comes on top
	for level, tokens := range map[prompt.Level]int{prompt.Minimal: 50, prompt.Standard: 150, prompt.Aggressive: 300} {
		for _, p := range prompt.Points() {
			got, err := texts.Reminder(p, level, few)
			if err != nil {
				t.Fatal(err)
			}
			if p == prompt.RiskyTool && level == prompt.Aggressive {
				wants[p] = []string{"calc_test.go", "entire iteration is rolled back"}
			} else if p == prompt.RiskyTool {
				wants[p] = []string{"You are about to delete a test file: calc_test.go.", "fix and not a deletion"}
			}
			for _, want := range wants[p] {
				if !strings.Contains(got, want) {
					t.Errorf("%s at %v lacks %q:\n%s", p, level, want, got)
				}
			}
			if got, err = texts.Reminder(p, level, fullFacts()); err != nil || len(got) > 4*(tokens+len(wayOut[p])/4+1) || got == "" || !utf8.ValidString(got) {
				t.Errorf("%s at %v has about %d tokens of at most %d, %v:\n%s", p, level, len(got)/4, tokens, err, got)
			}
		}
	}
	for _, p := range prompt.Points() {
		if got, err := texts.Reminder(p, prompt.Off, few); got != "" || err != nil {
			t.Errorf("%s says %q when it is off, %v", p, got, err)
		}
	}
}

// The points follow from what happened.
func TestPointsOfAnIteration(t *testing.T) {
	texts, err := prompt.Parse(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		f    prompt.Facts
		want string
	}{
		{"the first", prompt.Facts{Iteration: 1}, "[loop_start]"},
		{"another", prompt.Facts{Iteration: 2}, "[boundary]"},
		{"after an error", prompt.Facts{Iteration: 2, Error: &prompt.Failure{Text: "e", Times: 1}}, "[boundary error]"},
		{"after a regression", prompt.Facts{Iteration: 2, Rejection: &prompt.Rejection{Iteration: 1, Reasons: []string{"r"}}}, "[boundary regression]"},
		{"after a person's word", prompt.Facts{Iteration: 2, Note: "fine"}, "[boundary regression]"},
		{"with a way out", prompt.Facts{Iteration: 2, Blocked: "supervise blocked"}, "[boundary blocked]"},
		{"after a person allowed a test", prompt.Facts{Iteration: 2, Allowed: []string{"m: TestTwo"}}, "[boundary allowed]"},
		{"near the end", prompt.Facts{Iteration: 2, Near: true}, "[boundary completion]"},
	} {
		text, points, err := texts.Prompt(prompt.Standard, tt.f)
		if got := fmt.Sprint(points); err != nil || got != tt.want || text == "" {
			t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

func TestOwnTexts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("boundary.md", "Round {{.Iteration}}: {{template \"numbers\" .}} Be honest.\n")
	write("README", "not ours")
	own, err := prompt.Read(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	texts, err := prompt.Parse(own, dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := texts.Prompt(prompt.Minimal, prompt.Facts{Task: "Do it.", Iteration: 2, Measured: true, Passed: 1, Count: 2}); err != nil || got != "Do it.\n\nRound 2: Measured now: 1 of 2 tests pass. Be honest.\n" {
		t.Errorf("the text is %q, %v", got, err)
	}
	if own, err := prompt.Read(dir, "none"); own != nil || err != nil {
		t.Errorf("a folder that is not there: %v, %v", own, err)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"boundary":   {"one\ntwo {{.Iteration\n", "boundary.md:2"},
		"error":      {"one\n\n{{.Error.Tetx}}\n", "error.md:3"},
		"rules":      {"x", "there is no text of that name; the texts are parts.md, loop_start.md"},
		"loop_start": {"{{if atLeast \"LOUD\"}}x{{end}}", "unknown reinforcement level"},
	} {
		_, err := prompt.Parse(map[string]string{name: tt.text}, "prompts")
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "prompts/"+name+".md") {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}

func TestLevelOffGivesOnlyTheTask(t *testing.T) {
	if got, err := builtIn(prompt.Off, prompt.Facts{Task: "Do it.", Iteration: 3}); err != nil || got != "Do it." {
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
