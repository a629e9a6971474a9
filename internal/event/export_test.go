package event

// Reasons are all reasons to end, by exit status.
func Reasons() []Reason {
	out := make([]Reason, len(reasons))
	for i, row := range reasons {
		out[i] = row.reason
	}
	return out
}
