package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"supervise/bench/tamper/internal/corpus"
	"supervise/bench/tamper/internal/mutate"
	"supervise/integrity"
	"supervise/metric"
)

// settings are the sizes of a run.
type settings struct {
	negatives int // commits for each repository
	maxFiles  int // files of a commit from which it is left out
	samples   int // mutants for each mutator, variant and repository
	bases     int // states for each repository
	seed      uint64
	until     time.Time    // no mutants are started after it; zero for no limit
	only      map[int]bool // mutators, all when empty
}

// outcome is one audit: of a real commit, a control or a mutant.
type outcome struct {
	Repo     string              `json:"repo"`
	Lang     string              `json:"language,omitempty"`
	Mutator  int                 `json:"mutator,omitempty"` // 0 for what is honest
	Variant  string              `json:"variant,omitempty"`
	Commit   string              `json:"commit"` // the state it was made on
	File     string              `json:"file,omitempty"`
	Test     string              `json:"test,omitempty"`
	Phrase   string              `json:"phrase,omitempty"`
	Subject  string              `json:"subject,omitempty"`
	Worst    metric.Severity     `json:"worst,omitempty"` // of the findings that count
	Findings []integrity.Finding `json:"findings,omitempty"`
	took     time.Duration
	diff     string
}

// diffLines is how many lines of a change an example shows of each side.
const diffLines = 6

// block is what differs between two texts, without the lines that are equal before
// and behind it.
func block(before, after []byte) string {
	a, b := strings.Split(string(before), "\n"), strings.Split(string(after), "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out strings.Builder
	for _, side := range []struct {
		sign  string
		lines []string
	}{{"-", a}, {"+", b}} {
		for i, l := range side.lines {
			if i == diffLines {
				fmt.Fprintf(&out, "      %s … %d more\n", side.sign, len(side.lines)-i)
				break
			}
			fmt.Fprintf(&out, "      %s%s\n", side.sign, l)
		}
	}
	return out.String()
}

// audit runs the rules and keeps the worst finding that names one of the files,
// or any file when there are none.
func (o *outcome) audit(files []integrity.File, base integrity.Tree, blame map[string]bool) {
	begin := time.Now()
	o.Findings = integrity.Audit(files, integrity.Options{Base: base})
	o.took = time.Since(begin)
	for _, f := range o.Findings {
		if len(blame) == 0 || blame[f.File] {
			o.Worst = max(o.Worst, f.Severity)
		}
	}
}

// project is one corpus: real commits and the states to mutate.
type project struct {
	name    string
	head    string
	commits []corpus.Commit
	bases   []*mutate.Base
	repo    *corpus.Repo
}

func openProject(dir string, set settings) (*project, error) {
	r, err := corpus.OpenRepo(dir)
	if err != nil {
		return nil, err
	}
	p := &project{name: r.Name, head: r.Head, repo: r}
	if p.commits, err = r.TestCommits(set.negatives, set.maxFiles); err != nil {
		return nil, err
	}
	var with []corpus.Commit
	for _, c := range p.commits {
		if c.TouchesCode() {
			with = append(with, c)
		}
	}
	for i := range min(set.bases, len(with)) {
		c := with[i*len(with)/min(set.bases, len(with))]
		t, err := r.TreeAt(c.ID + "^")
		if err != nil {
			continue // the first commit has no state before it
		}
		b, err := mutate.NewBase(t, c.ID+"^", r, &c)
		if err != nil {
			return nil, err
		}
		p.bases = append(p.bases, b)
	}
	return p, nil
}

// negatives audits the real commits.
func (p *project) negatives() ([]outcome, error) {
	var out []outcome
	for _, c := range p.commits {
		files, err := p.repo.Load(c)
		if err != nil {
			return nil, err
		}
		o := outcome{Repo: p.name, Commit: c.ID, Subject: c.Subject}
		o.audit(files, p.repo.Before(c.ID), nil)
		out = append(out, o)
	}
	return out, nil
}

// tries is how often a test is drawn until a mutator fits.
const tries = 60

// positives makes and audits the mutants of one mutator and variant, at most the
// number of samples.
func (p *project) positives(m mutate.Mutator, v mutate.Variant, set settings, chk *checker) []outcome {
	var out []outcome
	for round := range set.samples {
		if o, ok := p.positive(m, v, round, set.seed, chk); ok {
			out = append(out, o)
		}
	}
	return out
}

// positive draws until a mutator applies, at most tries times.
func (p *project) positive(m mutate.Mutator, v mutate.Variant, round int, seed uint64, chk *checker) (outcome, bool) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d/%s/%d", p.name, m.ID, v.Key, round)
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	for range tries {
		if len(p.bases) == 0 {
			break
		}
		if o, ok := p.mutant(m, v, rng, chk); ok {
			return o, true
		}
	}
	return outcome{}, false
}

// mutant draws one; false where it does not apply.
func (p *project) mutant(m mutate.Mutator, v mutate.Variant, rng *rand.Rand, chk *checker) (outcome, bool) {
	b := p.bases[rng.IntN(len(p.bases))]
	t := b.Draw(rng)
	if t == nil || m.RemovesFile && !corpus.IsTest(t.File) {
		return outcome{}, false
	}
	if dry := (&mutate.Subject{Base: b, Tree: b.Tree, Test: t, Rng: rng}); m.ID <= 32 && m.Make(dry) == nil {
		return outcome{}, false // cheaper to know before the other changes are made
	}
	s := &mutate.Subject{Base: b, Tree: b.Tree, Test: t, Rng: rng}
	if m.RemovesFile {
		s.Phrase = "whole"
	}
	other := v.Edits(b, s)
	s.Phrase = ""
	if other == nil {
		return outcome{}, false
	}
	if len(other) > 0 {
		s.Tree = b.Over(other)
		if s.Test = again(s.Tree, t); s.Test == nil {
			return outcome{}, false
		}
	}
	own := m.Make(s)
	from := b.Over(s.Plant)
	all := append(append([]corpus.Edit{}, other...), own...)
	if len(own) == 0 || !chk.keeps(from, all) {
		return outcome{}, false
	}
	blame := s.Blamed(own)
	o := outcome{
		Repo: p.name, Lang: t.Lang.Title(t.File), Mutator: m.ID, Variant: v.Key, Commit: b.ID,
		File: t.File, Test: t.Name, Phrase: s.Phrase,
	}
	files := corpus.Changed(from, all)
	if len(files) == 0 {
		return outcome{}, false
	}
	o.diff = shown(files, blame)
	o.audit(files, from.Before(), blame)
	return o, true
}

// shown is what was done to the files that are blamed.
func shown(files []integrity.File, blame map[string]bool) string {
	out := ""
	for _, f := range files {
		if blame[f.Path] {
			out += block(f.Before, f.After)
		}
	}
	return out
}

// again finds a test in a tree with other changes.
func again(t *corpus.Tree, old *corpus.TestCase) *corpus.TestCase {
	for _, n := range corpus.FindTests(old.File, t.Read(old.File)) {
		if n.Name == old.Name && n.Indent == old.Indent && len(n.Assertions()) > 0 {
			return n
		}
	}
	return nil
}

// controls are the variants without any cheating.
func (p *project) controls(v mutate.Variant, set settings, chk *checker) []outcome {
	quiet := mutate.Mutator{Make: func(s *mutate.Subject) []corpus.Edit {
		s.Blame = nil
		return []corpus.Edit{{Path: s.Test.File, After: s.Tree.Read(s.Test.File)}}
	}}
	out := p.positives(quiet, v, set, chk)
	for i := range out {
		out[i].Worst = 0
		for _, f := range out[i].Findings {
			out[i].Worst = max(out[i].Worst, f.Severity)
		}
	}
	return out
}
