package ledger

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"supervise/internal/regexp"
)

// Rank is how a candidate compares with the others.
type Rank struct {
	Candidate int      `json:"candidate"`
	LoopID    string   `json:"candidate_loop"`
	Agent     []string `json:"agent"`
	Reason    string   `json:"reason"`    // why its loop ended
	Text      string   `json:"text"`      // the same for people
	Iteration int      `json:"iteration"` // that its loop selected; 0: none
	Eligible  bool     `json:"eligible"`  // it did the task, and was measured to have done it
	Chosen    bool     `json:"chosen,omitempty"`

	// OwnTests is how many tests it added. Of these, Before pass over the baseline already, and
	// Disputed fail over most of the others: those count against nobody.
	OwnTests         int `json:"own_tests"`
	OwnPassingBefore int `json:"own_tests_passing_before"`
	OwnDisputed      int `json:"own_tests_disputed"`
	// Agreement is the share, in [0,1], of the tests of others that pass over it, each other
	// candidate counting the same; nil where no test of others could be run over it. Failed
	// are those that do not, by candidate.
	Agreement *float64         `json:"agreement"`
	Failed    map[int][]string `json:"failed_tests_of_others,omitempty"`
	// MutationScore is the share, in [0,1], of changed product lines that its tests notice; nil
	// where that was not measured.
	MutationScore *float64 `json:"power"`
	Score         float64  `json:"quality_score"` // in [0,1]
	Lines         int      `json:"changed_lines"` // added and removed
	CostUSD       *float64 `json:"cost_usd"`
	Tokens        *int64   `json:"tokens"`
	Why           string   `json:"why"` // it has this place
}

// CandidateHome is the folder of what a candidate of a loop below home keeps; number 0 is
// that of the baseline.
func CandidateHome(home, loopID string, n int) string {
	return filepath.Join(candidatesOf(LoopDir(home, loopID)), strconv.Itoa(n))
}

// CandidateLoops are the folders of the loops that are candidates of the loop in dir, by
// number, without those that have not begun.
func CandidateLoops(dir string, s State) map[int]string {
	out := map[int]string{}
	for n := 1; n <= s.Config.MaxIterations; n++ {
		of := LoopDir(CandidateHome(filepath.Dir(filepath.Dir(dir)), s.LoopID, n), CandidateID(s.LoopID, n))
		if _, err := os.Stat(of); err == nil {
			out[n] = of
		}
	}
	return out
}

// CandidateID is the name of a candidate's loop.
func CandidateID(loopID string, n int) string { return loopID + "-c" + strconv.Itoa(n) }

var candidateID = regexp.MustCompile(`^(.*-[0-9a-f]{8})-c([0-9]+)$`)

// ParseCandidateName returns the loop and the number of a candidate that a name like LOOP/3, or
// that of its own loop, stands for; "" for other names.
func ParseCandidateName(name string) (loop, number string) {
	if m := candidateID.FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	if loop, number, ok := strings.Cut(name, "/"); ok {
		return cmp.Or(loop, "latest"), number
	}
	return "", ""
}

const rankingName = "candidates.json"

// WriteRanking keeps how the candidates compare, the best first.
func (l *Ledger) WriteRanking(list []Rank) error {
	return WriteJSON(filepath.Join(l.dir, rankingName), list)
}

// ReadRanking reads how the candidates of the loop in dir compare; none where they were
// not compared yet.
func ReadRanking(dir string) (list []Rank, err error) {
	err = readJSON(filepath.Join(dir, rankingName), &list)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return list, err
}
