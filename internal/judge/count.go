package judge

import "context"

// Count counts the lines of the change. It reads the diff between the start and the end
// of the iteration, and adds the numbers of lines to the section of the set about code.
type Count struct{}

// About describes the stage.
func (Count) About() About {
	return About{"count", "the diff of the iteration", "how many lines were added and deleted"}
}

// Apply applies the stage.
func (s Count) Apply(_ context.Context, c Case, v Verdict) (Verdict, error) {
	if c.Tree.Lines == nil || v.Set.Code == nil {
		return v, nil
	}
	return v.withSet(s, c.Tree.Lines.AddTo(v.Set), "the lines of the diff are counted"), nil
}
