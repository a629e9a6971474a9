package detector

// Basis is what a finding rests on.
type Basis string

// The bases, the strongest first.
const (
	Executed Basis = "executed" // a run proved it
	Measured Basis = "measured" // numbers and identities of the checks
	Text     Basis = "text"     // a rule over the changed texts
)

// Proven reports whether more than a text says so.
func (b Basis) Proven() bool { return b == Executed || b == Measured }
