package report

import (
	"strings"

	"supervise/internal/document"
	"supervise/internal/ledger"
)

// ProofRows returns what the verification of the selected tree showed, as pairs of a label and a
// text. The end of a run, explain and the reports print them; every further result of a
// verification is a row here.
func ProofRows(p *ledger.Proof) (rows [][2]string) {
	if p == nil {
		return nil
	}
	for _, r := range []struct {
		label string
		list  []string
	}{
		{"proven", p.Proven},
		{"on trust", p.Trusted},
	} {
		if len(r.list) > 0 {
			rows = append(rows, [2]string{r.label, strings.Join(r.list, ", ")})
		}
	}
	return rows
}

// addProof adds the rows of a proof to a document.
func addProof(d *document.Document, p *ledger.Proof) {
	for _, r := range ProofRows(p) {
		d.Item("%s: %s", strings.ToUpper(r[0][:1])+r[0][1:], r[1])
	}
}
