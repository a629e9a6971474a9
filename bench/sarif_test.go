package bench

import (
	"encoding/json"
	"io"
	"testing"
)

// BenchmarkSARIF reads 50 MB of results.
func BenchmarkSARIF(b *testing.B) {
	compare(b, sarifOf(50<<20), ours("sarif"), reader{"encoding-json", readSARIF})
}

// sarifLog is the least of SARIF that findings need.
type sarifLog struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Name  string
				Rules []struct {
					ID                   string
					DefaultConfiguration struct{ Level string }
				}
			}
		}
		Results []struct {
			RuleID, Level string
			RuleIndex     int
			Message       struct{ Text string }
			Locations     []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI, URIBaseID string }
					Region           struct {
						StartLine, StartColumn int
						Snippet                struct{ Text string }
					}
				}
			}
			Suppressions []struct{ Status string }
		}
	}
}

func readSARIF(r io.Reader) (any, error) {
	var log sarifLog
	err := json.NewDecoder(r).Decode(&log)
	return log, err
}
