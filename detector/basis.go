package detector

// Basis is the kind of evidence for a finding.
type Basis string

// The bases, strongest first.
const (
	Executed Basis = "executed" // a run proved it
	Measured Basis = "measured" // numbers and identities of the checks
	Text     Basis = "text"     // a rule applied to the changed texts
)

// Proven reports whether the basis is more than a text.
func (b Basis) Proven() bool { return b == Executed || b == Measured }
