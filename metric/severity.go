package metric

// Severity is that of a finding. Severities are ordered: a more severe one is
// greater. The zero value is not a severity.
type Severity uint8

// The severities, in ascending order.
const (
	Info Severity = iota + 1
	Low
	Medium
	High
	Critical
)

var severityNames = Names{Info: "INFO", Low: "LOW", Medium: "MEDIUM", High: "HIGH", Critical: "CRITICAL"}

// String returns the severity in capitals, as reports write it.
func (s Severity) String() string { return severityNames.Name(int(s)) }

// MarshalText writes the severity by name; it never fails.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a severity by its name in capitals. An unknown name is a
// [UnknownNameError].
func (s *Severity) UnmarshalText(text []byte) error {
	return severityNames.Parse("severity", text, (*uint8)(s))
}
