package configuration

import (
	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
)

// Exclusions are the lines of settings and commands that take code out of the coverage
// since the change, as far as their rules are on.
func Exclusions(c *facts.Set, on map[string]bool) []facts.Place {
	var out []facts.Place
	if on["coverage_excluded"] {
		out = excludingSettings(c)
	}
	if on["coverage_excluded_by_command"] {
		for _, f := range traitRule(configtext.HidesCode)(c) {
			out = append(out, facts.Place{Path: f.File, Line: f.Line, After: true})
		}
	}
	return out
}

// excludingSettings are the settings that were added or removed, and take code out
// of the coverage by that.
func excludingSettings(c *facts.Set) []facts.Place {
	var out []facts.Place
	for _, f := range facts.ConfigFiles.Of(c) {
		tool := configtext.ToolOf(f.Path)
		for i := range settingTable {
			r := &settingTable[i]
			if r.ID != "TP-27" || !r.files.MatchString(tool) {
				continue
			}
			for _, found := range r.findings(c, f) {
				out = append(out, facts.Place{Path: f.Path, Line: found.Line, After: !r.gone})
			}
		}
	}
	return out
}
