package ledger

import (
	"cmp"
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
	Eligible  bool     `json:"eligible"`  // it completed the task, as measured
	Chosen    bool     `json:"chosen,omitempty"`

	// OwnTests is the number of tests it added. OwnPassingBefore of them already pass on the
	// baseline. OwnDisputed of them fail on most other candidates and are not counted.
	OwnTests         int `json:"own_tests"`
	OwnPassingBefore int `json:"own_tests_passing_before"`
	OwnDisputed      int `json:"own_tests_disputed"`
	// Agreement is the share, in [0,1], of the tests of other candidates that pass on it,
	// averaged over the candidates; nil if none of their tests could be run. Failed lists
	// the failing ones by candidate.
	Agreement *float64         `json:"agreement"`
	Failed    map[int][]string `json:"failed_tests_of_others,omitempty"`
	// MutationScore is the share, in [0,1], of mutants in changed product lines that its
	// tests kill; nil if it was not measured.
	MutationScore *float64 `json:"power"`
	// MutantsNoticed is the share, in [0,1], of mutants of all changed lines that its tests notice; nil if
	// none were run.
	MutantsNoticed *float64 `json:"mutants_noticed"`
	Score          float64  `json:"quality_score"` // in [0,1]
	Lines          int      `json:"changed_lines"` // added and removed
	CostUSD        *float64 `json:"cost_usd"`
	Tokens         *int64   `json:"tokens"`
	Why            string   `json:"why"` // why it has this rank
}

// CandidateHome returns the folder of candidate n of a loop below home; number 0 is the
// baseline.
func CandidateHome(home, loopID string, n int) string {
	return filepath.Join(candidatesDir(LoopDir(home, loopID)), strconv.Itoa(n))
}

// CandidateLoops returns the folders of the candidate loops of the loop in dir, by number.
// Candidates that have not started are omitted.
func CandidateLoops(dir string, s State) map[int]string {
	out := map[int]string{}
	for n := 1; n <= s.Config.MaxIterations; n++ {
		loopDir := LoopDir(CandidateHome(filepath.Dir(filepath.Dir(dir)), s.LoopID, n), CandidateID(s.LoopID, n))
		if _, err := os.Stat(loopDir); err == nil {
			out[n] = loopDir
		}
	}
	return out
}

// CandidateID returns the name of the loop of a candidate.
func CandidateID(loopID string, n int) string { return loopID + "-c" + strconv.Itoa(n) }

// candidateIDPattern matches the full name of a candidate's loop, and captures the name of the loop
// of candidates and the number: ralph-fix-0a1b2c3d and 2 of "ralph-fix-0a1b2c3d-c2".
var candidateIDPattern = regexp.MustCompile(`^(.*-[0-9a-f]{8})-c([0-9]+)$`)

// ParseCandidateName splits the name of a candidate, LOOP/3 or the ID of its loop, into loop
// and number. It returns "" for other names.
func ParseCandidateName(name string) (loop, number string) {
	if m := candidateIDPattern.FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	if loop, number, ok := strings.Cut(name, "/"); ok {
		return cmp.Or(loop, "latest"), number
	}
	return "", ""
}

// rankingName is the name of the file with the ranking.
const rankingName = "candidates.json"

// WriteRanking saves the ranking of the candidates, the best first.
func (l *Ledger) WriteRanking(list []Rank) error {
	return WriteJSON(filepath.Join(l.dir, rankingName), list)
}

// ReadRanking reads the ranking of the candidates of the loop in dir; it is empty before they
// are compared.
func ReadRanking(dir string) (list []Rank, err error) {
	_, err = readOptionalJSON(filepath.Join(dir, rankingName), &list)
	return list, err
}
