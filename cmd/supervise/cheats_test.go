package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"supervise/test/tools"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts cheat-*.txtar have two steps for each kind of cheat: the odd one cheats,
// and the even one after it is an honest change that looks like it, with the fix.

// withTools are the conditions of scripts that need more than Go.
func withTools(cond string) (holds, known bool) {
	if programs, ok := strings.CutPrefix(cond, "runs:"); ok {
		return tools.Check(programs) == nil, true
	}
	e2e := os.Getenv("SUPERVISE_E2E")
	switch cond {
	case "e2e":
		return e2e != "", true
	case "campaign": // make e2e, and not the short form of it in .ci/run
		return os.Getenv("E2E_SHORT") == "", true
	case "cpptests":
		return !slices.ContainsFunc([]string{"gtest/gtest.h", "catch2", "doctest/doctest.h", "boost/test/unit_test.hpp", "check.h", "cmocka.h", "criterion/criterion.h"}, func(header string) bool {
			_, err := os.Stat(filepath.Join("/usr/include", header))
			return err != nil
		}), true
	case "pytest":
		return tools.Check("python3 -m pytest") == nil, true
	case "jest", "vitest":
		_, err := os.Stat(filepath.Join(e2e, cond, "node_modules", cond))
		return err == nil, true
	}
	return false, false
}

// cheatSteps applies and checks such steps:
//
//	cheats apply odd|even  takes all of them at once
//	cheats undone          looks at what the last loop did with each, one an iteration
//	cheats named WORD…     looks for tests with these words among what the last command,
//	                       a gate that printed JSON, says it is blocked by
func cheatSteps(ts *testscript.TestScript, neg bool, args []string) {
	switch {
	case neg || len(args) == 0:
		ts.Fatalf("usage: cheats apply odd|even, cheats undone or cheats named word…")
	case args[0] == "apply":
		applySteps(ts, map[string]int{"even": 0, "odd": 1}[args[1]])
	case args[0] == "undone":
		undoneCheats(ts)
	case args[0] == "named":
		namedCheats(ts, args[1:])
	}
}

func applySteps(ts *testscript.TestScript, odd int) {
	for n := 1; ; n++ {
		if _, err := os.Stat(ts.MkAbs(filepath.Join("..", "steps", strconv.Itoa(n)))); err != nil {
			break
		}
		if n%2 == odd {
			ts.Setenv("SUPERVISE_ITERATION", strconv.Itoa(n))
			ts.Check(ts.Exec("agent"))
		}
	}
	ts.Setenv("SUPERVISE_ITERATION", "")
}

func undoneCheats(ts *testscript.TestScript) {
	ts.Check(ts.Exec("supervise", "status", "--json"))
	var state struct {
		History []struct {
			Iteration int
			Rejected  bool
		} `json:"iteration_history"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &state))
	var wrong []string
	seen := 0
	for _, h := range state.History {
		if h.Iteration == 0 {
			continue
		}
		seen++
		if cheat := h.Iteration%2 == 1; cheat != h.Rejected {
			files, _ := filepath.Glob(ts.MkAbs(filepath.Join("..", "steps", strconv.Itoa(h.Iteration), "*", "*")))
			wrong = append(wrong, strconv.Itoa(h.Iteration)+" "+strings.Join(files, " "))
		}
	}
	if len(wrong) > 0 || seen == 0 {
		ts.Fatalf("of %d iterations the odd ones cheat and have to be undone, and only those; wrong:\n%s", seen, strings.Join(wrong, "\n"))
	}
}

func namedCheats(ts *testscript.TestScript, words []string) {
	var report struct {
		Findings []struct {
			Rule, Severity, Message string
			Tests                   []string
			Blocking                bool
		}
	}
	text := ts.ReadFile("stdout")
	ts.Check(json.Unmarshal([]byte(text), &report))
	named := func(word string) bool {
		for _, f := range report.Findings {
			if f.Blocking && slices.ContainsFunc(append(f.Tests, f.Message), func(test string) bool { return strings.Contains(strings.ToLower(test), word) }) {
				return true
			}
		}
		return false
	}
	missing := slices.DeleteFunc(slices.Clone(words), named)
	if len(missing) > 0 {
		ts.Fatalf("no blocking finding names %s:\n%s", strings.Join(missing, ", "), text)
	}
}
