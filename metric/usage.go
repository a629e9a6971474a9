package metric

// Usage is what a run of an agent consumed. Tokens are counted once: Input are those
// that were read from no cache. A number that was not reported is nil.
type Usage struct {
	Input      *int64   `json:"input_tokens,omitempty"`
	CacheRead  *int64   `json:"cache_read_tokens,omitempty"`
	CacheWrite *int64   `json:"cache_write_tokens,omitempty"`
	Output     *int64   `json:"output_tokens,omitempty"` // with those of reasoning
	CostUSD    *float64 `json:"cost_usd,omitempty"`
	Turns      *int64   `json:"turns,omitempty"` // calls of the model
	ToolCalls  *int64   `json:"tool_calls,omitempty"`
}

// Tokens returns the sum of all kinds, nil if none was reported.
func (u Usage) Tokens() *int64 {
	return addOptional(addOptional(u.Input, u.CacheRead), addOptional(u.CacheWrite, u.Output))
}

// IsZero reports whether nothing was reported.
func (u Usage) IsZero() bool { return u == Usage{} }

// Plus adds two usages. A number that neither reports stays nil.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input: addOptional(u.Input, v.Input), CacheRead: addOptional(u.CacheRead, v.CacheRead), CacheWrite: addOptional(u.CacheWrite, v.CacheWrite),
		Output: addOptional(u.Output, v.Output), CostUSD: addOptional(u.CostUSD, v.CostUSD), Turns: addOptional(u.Turns, v.Turns), ToolCalls: addOptional(u.ToolCalls, v.ToolCalls),
	}
}

// Since subtracts what a session had consumed before, for the numbers that grow over
// the entire session: tokens and cost. A number below the earlier one was counted from
// zero again and stays as it is.
func (u Usage) Since(before Usage) Usage {
	u.Input, u.CacheRead, u.CacheWrite = subtract(u.Input, before.Input), subtract(u.CacheRead, before.CacheRead), subtract(u.CacheWrite, before.CacheWrite)
	u.Output, u.CostUSD = subtract(u.Output, before.Output), subtract(u.CostUSD, before.CostUSD)
	return u
}

type number interface{ int64 | float64 }

func addOptional[T number](a, b *T) *T {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return new(*a + *b)
}

func subtract[T number](now, before *T) *T {
	if now == nil || before == nil || *now < *before {
		return now
	}
	return new(*now - *before)
}
