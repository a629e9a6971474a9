package facts

import (
	"supervise/integrity/internal/configtext"
)

// ConfigFile is a changed configuration file as it was read.
type ConfigFile struct {
	*ChangedFile
	Was, Is           configtext.Reading
	CallsWas, CallsIs []configtext.Call
	Came, Gone        []configtext.Setting // see news
}

// ConfigFiles are the configuration files of the change.
var ConfigFiles = Define(func(c *Set) []*ConfigFile {
	var out []*ConfigFile
	for _, f := range c.Files {
		was := f.Before().ConfigKind()
		is := f.After().ConfigKind()
		if was == configtext.None && is == configtext.None || len(f.AddedLines())+len(f.RemovedLines()) == 0 && was == is && f.OldPath == "" {
			continue
		}
		cf := &ConfigFile{ChangedFile: f}
		wasWell, isWell := true, true
		if f.Before().Exists() {
			cf.Was, wasWell = configtext.Read(was, f.Before().Path, f.Before().Text)
		}
		if f.After().Exists() {
			cf.Is, isWell = configtext.Read(is, f.After().Path, f.After().Text)
		}
		if !wasWell || !isWell { // the keys must be the same on both sides
			cf.Was, cf.Is = configtext.ReadLines(f.Before().Text), configtext.ReadLines(f.After().Text)
		}
		cf.CallsWas, cf.CallsIs = configtext.CallsOf(&cf.Was), configtext.CallsOf(&cf.Is)
		out = append(out, cf)
	}
	news(out)
	return out
})

// news sets, for each file, the settings that occur more often after the change than
// before, and the other way round: what moved, even to another file, is in neither.
func news(files []*ConfigFile) {
	was, is := map[string]int{}, map[string]int{}
	for _, f := range files {
		tally(was, f.Was.Settings, leafOf)
		tally(is, f.Is.Settings, leafOf)
	}
	for _, f := range files {
		f.Came = more(f.Was.Settings, f.Is.Settings, func(s configtext.Setting) bool { return is[leafOf(s)] > was[leafOf(s)] })
		f.Gone = more(f.Is.Settings, f.Was.Settings, func(s configtext.Setting) bool { return was[leafOf(s)] > is[leafOf(s)] })
	}
}

// leafOf and keyValue identify settings by the end of their key, or all of it.
func leafOf(s configtext.Setting) string { return configtext.LastKey(s.Key) + "\x00" + s.Value }

func keyValue(s configtext.Setting) string { return s.Key + "\x00" + s.Value }

func tally(count map[string]int, list []configtext.Setting, name func(configtext.Setting) string) {
	for _, s := range list {
		count[name(s)]++
	}
}

// more returns what is more often in b than in a and satisfies a condition.
func more(a, b []configtext.Setting, ok func(configtext.Setting) bool) []configtext.Setting {
	own := make(map[string]int, len(a))
	tally(own, a, keyValue)
	var out []configtext.Setting
	for _, s := range b {
		if own[keyValue(s)]--; own[keyValue(s)] < 0 && ok(s) {
			out = append(out, s)
		}
	}
	return out
}
