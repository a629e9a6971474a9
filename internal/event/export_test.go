package event

// Reasons are all reasons to end, by exit status.
func Reasons() []Reason {
	out := make([]Reason, len(outcomes))
	for i, row := range outcomes {
		out[i] = row.reason
	}
	return out
}
