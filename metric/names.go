package metric

import "slices"

// Names are the names of an enumeration, whose zero value has none.
type Names []string

// Name returns the name of the value i, "unknown" if there is none.
func (n Names) Name(i int) string {
	if i == 0 || i >= len(n) {
		return "unknown"
	}
	return n[i]
}

// Index returns the value of a name. An unknown name is an [UnknownNameError] of the kind.
func (n Names) Index(kind string, name []byte) (int, error) {
	i := slices.Index(n, string(name))
	if i <= 0 {
		return 0, &UnknownNameError{Kind: kind, Name: string(name)}
	}
	return i, nil
}
