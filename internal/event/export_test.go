package event

// Reasons are all reasons to end, by exit status.
func Reasons() []Reason {
	var out []Reason
	for _, row := range outcomes {
		out = append(out, row.reasons...)
	}
	return out
}
