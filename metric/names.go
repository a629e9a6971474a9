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

// Parse sets value to the one with that name. It returns an [UnknownNameError] of the kind for an
// unknown name, and leaves the value as it is.
func (n Names) Parse(kind string, name []byte, value *uint8) error {
	i := slices.Index(n, string(name))
	if i <= 0 {
		return &UnknownNameError{Kind: kind, Name: string(name)}
	}
	*value = uint8(i) //nolint:gosec // enumerations have few values
	return nil
}
