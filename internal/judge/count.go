package judge

import "context"

// countLines counts the lines of the change. It reads the diff between the start and the end
// of the iteration, and adds the numbers of lines to the section of the set about code.
func countLines(_ context.Context, c Case, v Verdict) (Verdict, error) {
	if c.Tree.Lines == nil || v.Set.Code == nil {
		return v, nil
	}
	return v.withSet(countStage, c.Tree.Lines.AddTo(v.Set), "the lines of the diff are counted"), nil
}
