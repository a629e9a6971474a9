//go:build unix

package main

import (
	"regexp"
	"strconv"
	"strings"

	"supervise/internal/prompt"
	"supervise/test/mockllm"
)

// agentBrief is a situation of a loop, and what the prompt has to say about it to the model of
// an iteration, each fact once.
type agentBrief struct {
	name  string
	files map[string]string
	flags []string
	does  []string // what the model runs, an iteration each; the last part is that of the prompt
	want  []string // regular expressions
}

// briefs are the facts that an agent needs to continue, each from the loop that knows it.
var briefs = []agentBrief{
	{name: "failing test", want: []string{`Failing tests:\n- calc: TestSub \(calc_test\.go:13\)\n  Sub\n  > t\.Fatal\(\\?"Sub\\?"\)\n`}},
	{
		name: "lint error", does: []string{`printf '\nfunc Same(a int) int {\n\ta = a\n\treturn a\n}\n' >>calc.go`},
		want: []string{`Errors:\n- calc\.go:8: self-assignment of a( \[.*\])?\n  > a = a\n`},
	},
	{
		name: "failed criterion", files: map[string]string{"slow.sh": "echo p95 is 812 ms, the limit is 200 ms\nexit 1\n"},
		flags: []string{"--until", "sh slow.sh"}, does: []string{`echo >>calc.go`},
		want: []string{`printed at its end:\n- p95 is 812 ms, the limit is 200 ms\n`},
	},
	{
		name: "coverage fell", does: []string{`printf '\nfunc Abs(a int) int {\n\tif a < 0 {\n\t\treturn -a\n\t}\n\tif a > 1000 {\n\t\treturn 1000\n\t}\n\tif a > 100 {\n\t\treturn 100\n\t}\n\treturn a\n}\n' >>calc.go`},
		want: []string{`Coverage dropped 100%→22\.2%`},
	},
	{
		name: "deletion refused", does: []string{`sed -i '/TestSub/,$d' calc_test.go`},
		want: []string{`Refused in iteration 1, and no longer there:\n(- .*\n)*- calc_test\.go\n  @@`, `\n  -func TestSub\(t \*testing\.T\) \{\n`, `- 1: rolled back; modified calc_test\.go\n`},
	},
	{name: "build broken", does: []string{`printf '\nfunc Half(a int) int { return a / two }\n' >>calc.go`}, want: []string{`calc\.go:7(:\d+)?: undefined: two`}},
	{
		name: "repeated work", does: []string{`printf '\nfunc Mul(a, b int) int { return a * b }\n' >>calc.go; printf '\nfunc TestMul(t *testing.T) {\n\tif Mul(2, 3) != 6 {\n\t\tt.Fatal("Mul")\n\t}\n}\n' >>calc_test.go`},
		want: []string{`Earlier iterations:\n- 1: kept, forward; modified calc\.go, modified calc_test\.go\n  you said: That is all of it\.\n`},
	},
	{name: "time nearly gone", flags: []string{"--max-time", "2m"}, want: []string{`What is left:\n- time: (2m0|1m5\d)s\n`}},
	{name: "notes", does: []string{`echo 'Sub adds, in calc.go' >>"$SUPERVISE_NOTES"; echo >>calc.go`}, want: []string{`Your notes, in the file \$SUPERVISE_NOTES .*\n- Sub adds, in calc\.go\n`}},
	{name: "hint", flags: []string{"--hint", "begin with Sub"}, want: []string{`A person adds: begin with Sub\n`}},
}

func briefCases() (cases []agentCase) {
	for _, b := range briefs {
		cases = append(cases, agentCase{
			name: "told of " + b.name, run: b.run, without: func(c agentClient) bool { return c.noTools }, why: "it runs nothing",
		})
	}
	return cases
}

// run plays the situation, and reads what reached the model.
func (b agentBrief) run(w *agentWorld) string {
	parts := make([][]mockllm.Step, 0, len(b.does)+1)
	for _, sh := range b.does {
		parts = append(parts, []mockllm.Step{{Text: "I begin.", Do: []mockllm.Action{{Sh: sh}}}, {Text: "That is all of it."}})
	}
	parts = append(parts, []mockllm.Step{{Text: "Nothing to do."}})
	w.serve(steps(parts...))
	for name, text := range b.files {
		w.write("proj/"+name, text)
	}
	if b.files != nil {
		w.git("add", ".")
		w.git("commit", "-qm", "more")
	}
	r := w.start(append([]string{"--hooks", "off", "--max-iterations", strconv.Itoa(len(parts))}, b.flags...)...)
	r.end()
	got := w.prompt(len(parts))
	for _, want := range b.want {
		if n := len(regexp.MustCompile(want).FindAllString(got, -1)); n != 1 {
			w.t.Errorf("the model was told %d times of %s, want once:\n%s\n%s", n, want, got, w.asked())
		}
	}
	_, section, _ := strings.Cut(got, "[supervise] What was measured:")
	section, _, _ = strings.Cut(section, "\n[supervise]")
	if most := 4 * prompt.DefaultEvidenceTokens; len(section) > most {
		w.t.Errorf("the section has %d bytes, want at most %d:\n%s", len(section), most, section)
	}
	return r.story()
}
