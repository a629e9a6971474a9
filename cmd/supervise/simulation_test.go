package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"supervise/internal/prompt"
	"supervise/test/tools"
)

// simulatedModel is an agent that does what its prompt says, and nothing else: the first of
// its rows that the prompt asks for. Without usable information, it guesses. Each
// iteration it begins without a memory, as real agents do.
type simulatedModel struct {
	Rows    []simulatedRow
	Guesses []string
	Seed    string
}

// simulatedRow is a command that follows from what a prompt says. Its arguments are what
// the expression captured.
type simulatedRow struct{ Says, Unless, Does string }

func runSimulatedModel() int {
	var m simulatedModel
	said, err := os.ReadFile(os.Getenv("SUPERVISE_PROMPT_FILE"))
	if err == nil {
		err = json.Unmarshal([]byte(os.Args[1]), &m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	random := sha256.Sum256([]byte(m.Seed + os.Getenv("SUPERVISE_ITERATION")))
	args := []string{"-c", m.Guesses[int(random[0])%len(m.Guesses)], "sh"}
	for _, row := range m.Rows {
		found := regexp.MustCompile(row.Says).FindStringSubmatch(string(said))
		if found != nil && (row.Unless == "" || !regexp.MustCompile(row.Unless).Match(said)) {
			args = append([]string{"-c", row.Does, "sh"}, found[1:]...)
			break
		}
	}
	cmd := exec.Command("sh", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 0
}

// simulation is a task of which the evidence says what is missing.
type simulation struct {
	name   string
	files  map[string]string
	checks string // of the configuration, in addition to the tests
	until  string
	model  simulatedModel
}

// each fills a pattern with words, one text a word.
func each(pattern string, words ...string) (out []string) {
	for _, w := range words {
		out = append(out, strings.ReplaceAll(pattern, "WORD", w))
	}
	return out
}

const (
	notClean = "! grep -n TODO part*.sh | sed 's/:.*/:1:1: error: TODO left/;q' | grep .\n"
	swap     = `sed -i "$1s/Sub \(.*\) \(.*\)/Sub \2 \1/" calls.sh`
)

var simulations = []simulation{
	{
		name: "a wrong value", until: "green",
		files: map[string]string{"price.sh": "Price() { echo 30; }\n", "m_test.sh": "TestPrice() { got=$(Price); test $got = 7 || { echo \"Price is $got, want 7\"; false; }; }\n"},
		model: simulatedModel{
			Rows:    []simulatedRow{{Says: `Price is \d+, want (\d+)`, Does: `echo "Price() { echo $1; }" >price.sh`}},
			Guesses: each(`echo "Price() { echo WORD; }" >price.sh`, "1", "2", "3", "4", "5", "6", "7", "8"),
		},
	},
	{
		name: "three missing functions", until: "green",
		files: map[string]string{"m.sh": "Old() { :; }\n", "m_test.sh": "TestOld() { Old; }\nTestOne() { Area; }\nTestTwo() { Edge; }\nTestThree() { Mass; }\n"},
		model: simulatedModel{
			Rows:    []simulatedRow{{Says: `(\w+): (?:command )?not found`, Does: `echo "$1() { :; }" >>m.sh`}},
			Guesses: each(`echo "WORD() { :; }" >>m.sh`, "Area", "Edge", "Mass", "Width", "Depth", "Girth"),
		},
	},
	{
		name: "a lint error in one of eight files", until: "sh lint.sh", checks: "  lint: sh lint.sh\n",
		files: map[string]string{
			"lint.sh": notClean, "m_test.sh": "TestAll() { :; }\n", "part1.sh": ":\n", "part2.sh": ":\n", "part3.sh": ":\n", "part4.sh": ":\n",
			"part5.sh": "# TODO\n", "part6.sh": ":\n", "part7.sh": ":\n", "part8.sh": ":\n",
		},
		model: simulatedModel{
			Rows:    []simulatedRow{{Says: `(part\d\.sh):1: TODO left`, Does: `sed -i /TODO/d $1`}},
			Guesses: each("sed -i /TODO/d partWORD.sh", "1", "2", "3", "4", "5", "6", "7", "8"),
		},
	},
	{
		name: "a build that lacks a name", until: "sh build.sh", checks: "  build: sh build.sh\n",
		files: map[string]string{
			"build.sh": ". ./m.sh; for f in Shout Sigh; do command -v $f >/dev/null || { echo \"m.sh:1:1: error: undefined: $f\"; exit 1; }; done\n",
			"m.sh":     "Old() { :; }\n", "m_test.sh": "TestOld() { Old; }\n",
		},
		model: simulatedModel{
			Rows:    []simulatedRow{{Says: `undefined: (\w+)`, Does: `echo "$1() { :; }" >>m.sh`}},
			Guesses: each(`echo "WORD() { :; }" >>m.sh`, "Shout", "Sigh", "Yell", "Sing", "Hum", "Moan"),
		},
	},
	{
		name: "a criterion with a reason", until: "sh slow.sh",
		files: map[string]string{
			"slow.sh": ". ./conf.sh; for k in cache batch; do eval test \\$$k = on || { echo \"p95 is 812 ms, the limit is 200 ms: the $k is off\"; exit 1; }; done\n",
			"conf.sh": "pool=off\ncache=off\nlog=off\nzip=off\nbatch=off\nsync=off\n", "m_test.sh": "TestAll() { :; }\n",
		},
		model: simulatedModel{
			Rows:    []simulatedRow{{Says: `the (\w+) is off`, Does: `sed -i "s/$1=off/$1=on/" conf.sh`}},
			Guesses: each("sed -i s/WORD=off/WORD=on/ conf.sh", "pool", "cache", "log", "zip", "batch", "sync"),
		},
	},
	{
		name: "parts that are there already", until: "test -e a.sh -a -e b.sh -a -e c.sh -a -e d.sh",
		files: map[string]string{"m.sh": strings.Join(each("Old() { test $WORD && echo; }\n", "1", "2", "3"), ""), "m_test.sh": "TestAll() { :; }\n"},
		model: simulatedModel{
			Rows: []simulatedRow{
				{Says: "Earlier", Unless: `added a\.sh`, Does: "echo : >a.sh"},
				{Says: "Earlier", Unless: `added b\.sh`, Does: "echo : >b.sh"},
				{Says: "Earlier", Unless: `added c\.sh`, Does: "echo : >c.sh"},
				{Says: "Earlier", Unless: `added d\.sh`, Does: "echo : >d.sh"},
			},
			Guesses: each("echo : >WORD.sh", "a", "b", "c", "d"),
		},
	},
	{
		name: "faults one behind another", until: "green",
		files: map[string]string{
			"m.sh":      "one=0; two=0; three=0\n",
			"m_test.sh": "TestAll() { test $one = 2 || { echo want one 2; return 1; }; test $two = 3 || { echo want two 3; return 1; }; test $three = 1 || { echo want three 1; return 1; }; }\n",
		},
		model: simulatedModel{
			Rows:    []simulatedRow{{Says: `want (\w+) (\d)`, Does: `sed -i "s/$1=./$1=$2/" m.sh`}},
			Guesses: each("sed -i s/WORD/ m.sh", "one=./one=1", "one=./one=2", "one=./one=3", "two=./two=1", "two=./two=2", "two=./two=3", "three=./three=1", "three=./three=2", "three=./three=3"),
		},
	},
	{
		name: "one wrong line of eight", until: "green",
		files: map[string]string{
			"sub.sh": "Sub() { echo $(($1 - $2)); }\n", "calls.sh": "all() {\n" + strings.Repeat("Sub 3 2\n", 4) + "Sub 2 3\n" + strings.Repeat("Sub 3 2\n", 3) + "}\n",
			"m_test.sh": strings.Join(each("TestCallWORD() { n=WORD; test $(all | sed -n ${n}p) = 1 || { echo calls.sh:$((n+1)): wrong order; false; }; }\n", "1", "2", "3", "4", "5", "6", "7", "8"), ""),
		},
		model: simulatedModel{
			Rows:    []simulatedRow{{Says: `calls\.sh:(\d)`, Does: swap}},
			Guesses: each("set -- WORD; "+swap, "2", "3", "4", "5", "6", "7", "8", "9"),
		},
	},
}

// simulated is how many iterations a simulation may take.
const simulated = 60

// TestE2ESimulation compares how many iterations a scripted model takes with the evidence and
// without: it cannot say how much the evidence helps a real one. SUPERVISE_SIMULATION is
// the number of runs of each task; without it, the first two are run once.
func TestE2ESimulation(t *testing.T) {
	tools.Long(t, "SUPERVISE_SIMULATION")
	runs, tasks := 1, simulations[:2]
	if n := os.Getenv("SUPERVISE_SIMULATION"); n != "" {
		if _, err := fmt.Sscan(n, &runs); err != nil || runs < 1 {
			t.Fatalf("SUPERVISE_SIMULATION=%s: want a number of runs", n)
		}
		tasks = simulations
	}
	t.Log("| task | without | with the evidence |")
	var all [2]int
	for _, s := range tasks {
		var took [2]int
		for seed := range runs {
			for with, budget := range []int{0, prompt.DefaultEvidenceTokens} {
				took[with] += s.iterations(t, fmt.Sprint(seed), budget)
			}
		}
		t.Logf("| %s | %.1f | %.1f |", s.name, float64(took[0])/float64(runs), float64(took[1])/float64(runs))
		all[0], all[1] = all[0]+took[0], all[1]+took[1]
	}
	t.Logf("| all | %.1f | %.1f |", float64(all[0])/float64(runs), float64(all[1])/float64(runs))
	if 2*all[1] > all[0] {
		t.Errorf("with the evidence %d iterations, without %d: want half of them at most", all[1], all[0])
	}
}

// iterations is how many a model takes until the criterion is met.
func (s simulation) iterations(t *testing.T, seed string, budget int) int {
	t.Helper()
	w := newWorld(t)
	for name, text := range s.files {
		w.write("proj/"+name, text)
	}
	w.write("proj/.supervise.yaml", fmt.Sprintf("checks:\n  test: sh %s\n%sevidence_tokens: %d\non_stall: continue\nstuck: {errors: 1000}\nlimits: {max_retries: 1000}\n", filepath.Join(w.dir, "check.sh"), s.checks, budget))
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "start")
	s.model.Seed = s.name + seed
	model, err := json.Marshal(s.model)
	if err != nil {
		t.Fatal(err)
	}
	out, code := w.supervise("run", "--json", "--unattended", "--max-iterations", fmt.Sprint(simulated), "--until", s.until, "-p", "Do the task", "--", "simulated-model", string(model), "{{prompt_file}}")
	n := strings.Count(out, `"type":"iteration_started"`)
	if code != 0 && n < simulated {
		t.Errorf("%s with %d tokens of evidence: status %d after %d iterations:\n%s", s.name, budget, code, n, out)
	}
	return n
}
