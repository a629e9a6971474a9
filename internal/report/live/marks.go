package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/report"
)

// terminalMarks are what a terminal shows of a loop outside of its screen, and whether it
// reflows long lines.
type terminalMarks struct {
	hasTitles      bool
	hasProgressBar bool // progress in the taskbar or tab (ConEmu's OSC 9;4)
	reflowsLines   bool
}

// Terminals by their variables. An unknown terminal gets no sequence that it may
// print as text or show as a message: many show OSC 9 as a notification.
var (
	// titlePrefixes are the prefixes of TERM for terminals that support xterm titles.
	titlePrefixes = []string{"xterm", "screen", "tmux", "rxvt", "alacritty", "foot", "vte", "konsole", "wezterm", "ghostty", "contour", "st-"}
	// progressBarVariables mark terminals that support OSC 9;4: the variable and its value, "" for any.
	progressBarVariables = [][2]string{{"WT_SESSION", ""}, {"ConEmuANSI", "ON"}, {"TERM_PROGRAM", "ghostty"}, {"TERM_PROGRAM", "WezTerm"}}
	// reflowVariables wrap lines again when they become narrower.
	reflowVariables = [][2]string{
		{"TMUX", ""},
		{"VTE_VERSION", ""},
		{"KITTY_WINDOW_ID", ""},
		{"WT_SESSION", ""},
		{"KONSOLE_VERSION", ""},
		{"ALACRITTY_WINDOW_ID", ""},
		{"TERM_PROGRAM", "ghostty"},
		{"TERM_PROGRAM", "WezTerm"},
		{"TERM_PROGRAM", "iTerm.app"},
		{"TERM_PROGRAM", "vscode"},
		{"TERM_PROGRAM", "Apple_Terminal"},
	}
)

func detectMarks(env func(string) string) terminalMarks {
	is := func(row [2]string) bool { return env(row[0]) != "" && (row[1] == "" || env(row[0]) == row[1]) }
	inside := env("TMUX") != "" // the variables are those of the outer terminal
	return terminalMarks{
		hasTitles:      slices.ContainsFunc(titlePrefixes, func(begin string) bool { return strings.HasPrefix(env("TERM"), begin) }),
		hasProgressBar: !inside && slices.ContainsFunc(progressBarVariables, is),
		reflowsLines:   slices.ContainsFunc(reflowVariables, is),
	}
}

// startSequence saves the title; endSequence restores it.
func (m terminalMarks) startSequence() string {
	if m.hasTitles {
		return report.SaveTitle
	}
	return ""
}

func (m terminalMarks) endSequence() string {
	text := m.progressSequence(State{}, time.Time{})
	if m.hasTitles {
		text += report.RestoreTitle
	}
	return text
}

// titleSequence sets the title to the iteration and the activity.
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

// progressSequence sets the progress bar. State 0 removes it, 1 shows a percentage, and 3
// means that the progress is unknown.
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
