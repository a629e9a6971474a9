package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/report"
)

// terminalMarks says what a terminal can show of a loop outside of its screen, and whether it wraps
// long lines again after a change of its width.
type terminalMarks struct {
	hasTitles      bool // the title of its window can be set
	hasProgressBar bool // progress in the taskbar or tab, by the escape sequence OSC 9;4 of ConEmu
	reflowsLines   bool
}

// The terminals, by environment variables. An unknown terminal gets no escape sequence, because it
// could print it as text or show it as a message: many show OSC 9 as a notification.
var (
	// titlePrefixes are the prefixes of TERM for terminals that support xterm titles.
	titlePrefixes = []string{"xterm", "screen", "tmux", "rxvt", "alacritty", "foot", "vte", "konsole", "wezterm", "ghostty", "contour", "st-"}
	// progressBarVariables mark terminals that support OSC 9;4. Each is the name of a variable, or
	// a variable with its value.
	progressBarVariables = strings.Fields("WT_SESSION ConEmuANSI=ON TERM_PROGRAM=ghostty TERM_PROGRAM=WezTerm")
	// reflowVariables mark terminals that wrap lines again when they become narrower.
	reflowVariables = strings.Fields("TMUX VTE_VERSION KITTY_WINDOW_ID WT_SESSION KONSOLE_VERSION ALACRITTY_WINDOW_ID " +
		"TERM_PROGRAM=ghostty TERM_PROGRAM=WezTerm TERM_PROGRAM=iTerm.app TERM_PROGRAM=vscode TERM_PROGRAM=Apple_Terminal")
)

// detectMarks returns the marks of the terminal, given the environment.
func detectMarks(env func(string) string) terminalMarks {
	is := func(variable string) bool {
		name, value, hasValue := strings.Cut(variable, "=")
		return env(name) != "" && (!hasValue || env(name) == value)
	}
	inside := env("TMUX") != "" // the variables are those of the outer terminal
	return terminalMarks{
		hasTitles:      slices.ContainsFunc(titlePrefixes, func(begin string) bool { return strings.HasPrefix(env("TERM"), begin) }),
		hasProgressBar: !inside && slices.ContainsFunc(progressBarVariables, is),
		reflowsLines:   slices.ContainsFunc(reflowVariables, is),
	}
}

// endSequence returns the sequence that removes the progress bar and restores the title.
func (m terminalMarks) endSequence() string {
	return m.progressSequence(State{}, time.Time{}) + report.Either(m.hasTitles, report.RestoreTitle, "")
}

// titleSequence returns the sequence that sets the title, as in "supervise: iteration 2, measures".
func (m terminalMarks) titleSequence(s State) string {
	if !m.hasTitles || s.IsOver() || s.LoopID == "" {
		return ""
	}
	what := "baseline"
	switch {
	case s.Part == FinalSelection:
		what = "the end"
	case s.Iteration > 0:
		what = "iteration " + strconv.Itoa(s.Iteration)
	}
	return report.SetTitle("supervise: " + what + ", " + s.Activity)
}

// progressSequence returns the sequence that sets the progress bar, "" without one. Its state 0
// removes the bar, 1 shows a percentage, and 3 shows that the progress is unknown.
func (m terminalMarks) progressSequence(s State, now time.Time) string {
	if !m.hasProgressBar {
		return ""
	}
	state, share := 0, 0
	if !s.IsOver() {
		state = 3
		if done, known := s.PercentDone(now); known {
			state, share = 1, done
		}
	}
	return fmt.Sprintf("\x1b]9;4;%d;%d\x07", state, share)
}
