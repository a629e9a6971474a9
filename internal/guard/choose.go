package guard

import (
	"context"
	"fmt"
	"slices"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/mutantrun"
	"supervise/internal/mutation"
	"supervise/metric"
	"supervise/source"
)

// fewLines is the number of lines with a mutant below which a line gets several, up to as many in all, to
// find out whether tests notice anything: crashes are no answer, and the others shall suffice for one.
const fewLines = 2 * MinMutants

// chooseMutants returns the mutants to run, in the order in which they run. A change with fewer than
// [fewLines] lines that can have one gets several per line.
func (t Trial) chooseMutants(ctx context.Context) ([]*mutant, error) {
	files, err := t.Store.Files(t.Current)
	if err != nil || len(t.Lines) == 0 {
		return nil, err
	}
	var chosen, all []mutation.Mutant
	sources := map[string]mutantrun.Mutant{}
	for _, f := range files {
		lines := t.Lines[f.Path]
		if lines == "" || !f.Mode.IsRegular() || f.Size > evidence.MaxText {
			continue
		}
		text, err := t.Store.ReadFile(ctx, t.Current, f.Path)
		if err != nil {
			return nil, fmt.Errorf("read changed code: %w", err)
		}
		one, several := mutantsOf(f.Path, text, lines)
		chosen, all = append(chosen, one...), append(all, several...)
		sources[f.Path] = mutantrun.Mutant{Source: text, Executable: f.Mode&0o100 != 0}
	}
	isChosen := map[mutation.Mutant]bool{}
	for _, m := range chosen {
		isChosen[m] = true
	}
	list := mutation.Sample(chosen, t.limit())
	if len(list) < fewLines {
		others := slices.DeleteFunc(all, func(m mutation.Mutant) bool { return isChosen[m] })
		list = append(list, mutation.Sample(others, min(fewLines, t.limit())-len(list))...)
	}
	var out []*mutant
	for _, m := range list {
		x := sources[m.File]
		x.Mutant = m
		out = append(out, &mutant{Mutant: x, extra: !isChosen[m]})
	}
	return out, nil
}

// MutantsOf returns the mutants of some lines of a file, at most one per line and none in arid code.
func MutantsOf(path string, text []byte, lines metric.LineSet) []mutation.Mutant {
	chosen, _ := mutantsOf(path, text, lines)
	return chosen
}

// mutantsOf returns the mutants of some lines that are not arid: at most one per line, and all.
func mutantsOf(path string, text []byte, lines metric.LineSet) (chosen, all []mutation.Mutant) {
	lang := source.DetectLanguage(path, text[:min(len(text), 512)])
	byLine := map[int][]mutation.Mutant{}
	for _, m := range mutation.MutantsOf(path, text) {
		if !isArid(lang, m, lineOf(text, m.Line)) {
			byLine[m.Line] = append(byLine[m.Line], m)
		}
	}
	for _, s := range lines.Spans() {
		for n := s.First; n <= s.Last; n++ {
			if list := byLine[n]; len(list) > 0 {
				chosen, all = append(chosen, choose(list)), append(all, list...)
			}
		}
	}
	return chosen, all
}

// choose returns one of the mutants of a line. Constants are changed only if the line has nothing else
// to change. Which of the others is chosen depends on the text of the line alone, so that the same
// line has the same mutant wherever it is.
func choose(list []mutation.Mutant) mutation.Mutant {
	better := slices.DeleteFunc(slices.Clone(list), func(m mutation.Mutant) bool { return m.Operator == mutation.ChangeConstant })
	if len(better) > 0 {
		list = better
	}
	sum := 0
	for _, c := range []byte(list[0].Original) {
		sum += int(c)
	}
	return list[sum%len(list)]
}

// Lines returns the changed lines that may have mutants: those that tests run, or all if that is
// unknown. A line that is no statement belongs to the one before it.
func Lines(c detector.ChangedLines) metric.LineSet {
	if c.Unknown != "" {
		return c.Changed
	}
	untested := numbers(c.Untested())
	executable := numbers(c.Lines)
	var out []metric.Span
	for _, s := range c.Changed.Spans() {
		isTested := true
		for n := s.First; n <= s.Last; n++ {
			if executable[n] {
				isTested = !untested[n]
			}
			if isTested {
				out = append(out, metric.Span{First: n, Last: n})
			}
		}
	}
	return metric.NewLineSet(metric.UnionSpans(nil, out))
}

// numbers returns the numbers of lines.
func numbers(lines metric.LineSet) map[int]bool {
	out := map[int]bool{}
	for _, s := range lines.Spans() {
		for n := s.First; n <= s.Last; n++ {
			out[n] = true
		}
	}
	return out
}
