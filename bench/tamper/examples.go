package main

import (
	"fmt"
	"io"
	"os/exec"
	"time"

	"supervise/bench/tamper/internal/mutate"
	"supervise/metric"
)

// examples prints what to look at: findings on honest commits at HIGH or above,
// and mutants that nothing found. Repositories that are reported are not for
// looking, or the report would be of a tuned one.
func (r *results) examples(w io.Writer, f *flags) {
	for _, p := range r.parts {
		if p.Group == "report" && !f.force {
			fmt.Fprintf(w, "\nNo examples of %s: it is a report repository (-force prints them).\n", p.Repo)
			continue
		}
		fmt.Fprintf(w, "\n## %s: findings on honest commits\n\n", p.Repo)
		shown := map[string]int{}
		for _, o := range p.negatives {
			for _, x := range o.Findings {
				if x.Severity >= metric.High && shown[x.Rule] < f.examples {
					shown[x.Rule]++
					fmt.Fprintf(w, "%s %s %s %.12s %q\n    %s:%d %s | %s\n", x.Severity, x.Rule, x.Type, o.Commit, o.Subject, x.File, x.Line, x.Test, x.Evidence)
				}
			}
		}
		fmt.Fprintf(w, "\n## %s: missed\n\n", p.Repo)
		missed := map[string]int{}
		for _, o := range p.positives {
			key := fmt.Sprint(o.Mutator, o.Variant)
			if o.Worst < metric.High && missed[key] < f.examples {
				missed[key]++
				fmt.Fprintf(w, "%d %s, variant %s, %s: %.12s %s %q: %s\n", o.Mutator, mutate.ByID(o.Mutator).Name, o.Variant, o.Lang, o.Commit, o.File, o.Test, o.Phrase)
				fmt.Fprint(w, o.diff)
				for _, x := range o.Findings {
					fmt.Fprintf(w, "    %s %s %s:%d %s %s\n", x.Severity, x.Rule, x.File, x.Line, x.Test, x.ExplainedBy)
				}
			}
		}
	}
}

// cell is one number of the JSON.
type cell struct {
	Repo     string `json:"repository"`
	Group    string `json:"group"`
	Lang     string `json:"language"`
	Mutator  int    `json:"mutator"`
	Name     string `json:"name"`
	Class    string `json:"class"`
	Variant  string `json:"variant"`
	N        int    `json:"mutants"`
	Critical int    `json:"critical"`
	High     int    `json:"high_or_above"`
	Medium   int    `json:"medium_or_above"`
}

type repoSummary struct {
	Repo     string    `json:"repository"`
	Group    string    `json:"group"`
	Head     string    `json:"commit,omitempty"`
	Commits  int       `json:"honest_commits"`
	Critical int       `json:"critical"`
	High     int       `json:"high_or_above"`
	Medium   int       `json:"medium_or_above"`
	Fired    []outcome `json:"fired,omitempty"` // honest commits with HIGH or above
}

// summary is what -json prints: each cell once, so that any table can be made of it.
func (r *results) summary() any {
	var cells []cell
	var repos []repoSummary
	for _, p := range r.parts {
		at := map[cell]*cell{}
		for _, o := range p.positives {
			m := mutate.ByID(o.Mutator)
			key := cell{Repo: p.Repo, Group: p.Group, Lang: o.Lang, Mutator: m.ID, Name: m.Name, Class: m.Group(), Variant: o.Variant}
			c := at[key]
			if c == nil {
				fresh := key
				c = &fresh
				at[key] = c
			}
			c.N++
			c.Critical += one(o.Worst >= metric.Critical)
			c.High += one(o.Worst >= metric.High)
			c.Medium += one(o.Worst >= metric.Medium)
		}
		for _, o := range p.positives {
			m := mutate.ByID(o.Mutator)
			key := cell{Repo: p.Repo, Group: p.Group, Lang: o.Lang, Mutator: m.ID, Name: m.Name, Class: m.Group(), Variant: o.Variant}
			if c := at[key]; c != nil {
				cells = append(cells, *c)
				delete(at, key)
			}
		}
		s := repoSummary{Repo: p.Repo, Group: p.Group, Head: p.Head, Commits: len(p.negatives)}
		for _, o := range p.negatives {
			s.Critical += one(o.Worst >= metric.Critical)
			s.High += one(o.Worst >= metric.High)
			s.Medium += one(o.Worst >= metric.Medium)
			if o.Worst >= metric.High && p.Group != "report" {
				s.Fired = append(s.Fired, o)
			}
		}
		repos = append(repos, s)
	}
	return map[string]any{"command": r.Command, "settings": r.Settings, "repositories": repos, "recall": cells}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// latencySample is how many commits the program itself is timed on.
const latencySample = 40

// latency times `supervise audit` on some of the real commits, process start and
// git included.
func (p *project) latency(binary string) []time.Duration {
	var out []time.Duration
	for i := 0; i < len(p.commits); i += max(1, len(p.commits)/latencySample) {
		cmd := exec.Command(binary, "audit", "--fail-on", "never", "--json", p.commits[i].ID)
		cmd.Dir = p.repo.Dir
		begin := time.Now()
		if err := cmd.Run(); err != nil {
			continue // the first commit has nothing before it
		}
		out = append(out, time.Since(begin))
	}
	return out
}
