package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/report"
)

// marks is what a terminal shows of a loop outside of its screen, and how it treats
// lines that have become too long.
type marks struct {
	titles  bool
	bar     bool // progress in the taskbar or tab (ConEmu's OSC 9;4)
	reflows bool
}

// Terminals by their variables. An unknown one gets nothing that it may print as text,
// or show as a message: OSC 9 is a notification in many.
var (
	// titled are the beginnings of TERM of terminals that know xterm's titles.
	titled = []string{"xterm", "screen", "tmux", "rxvt", "alacritty", "foot", "vte", "konsole", "wezterm", "ghostty", "contour", "st-"}
	// barred show OSC 9;4: the variable, and its value, "" for any.
	barred = [][2]string{{"WT_SESSION", ""}, {"ConEmuANSI", "ON"}, {"TERM_PROGRAM", "ghostty"}, {"TERM_PROGRAM", "WezTerm"}}
	// reflowing wrap lines anew when they become narrower.
	reflowing = [][2]string{
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

func marksOf(env func(string) string) marks {
	is := func(row [2]string) bool { return env(row[0]) != "" && (row[1] == "" || env(row[0]) == row[1]) }
	inside := env("TMUX") != "" // the variables of the terminal around it say nothing
	return marks{
		titles:  slices.ContainsFunc(titled, func(begin string) bool { return strings.HasPrefix(env("TERM"), begin) }),
		bar:     !inside && slices.ContainsFunc(barred, is),
		reflows: slices.ContainsFunc(reflowing, is),
	}
}

// begin keeps the title, and end puts it back.
func (m marks) begin() string {
	if m.titles {
		return report.SaveTitle
	}
	return ""
}

func (m marks) end() string {
	text := m.progress(State{}, time.Time{})
	if m.titles {
		text += report.RestoreTitle
	}
	return text
}

// title says which iteration it is, and what is done.
func (m marks) title(s State) string {
	if !m.titles || s.IsOver() || s.LoopID == "" {
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

// progress says how much is done: 0 takes the bar away, 1 shows a share, 3 that it is
// not known.
func (m marks) progress(s State, now time.Time) string {
	if !m.bar {
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
