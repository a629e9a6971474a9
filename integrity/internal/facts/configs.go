package facts

import (
	"supervise/integrity/internal/configtext"
)

// ConfigFile is a changed configuration file as it was read.
type ConfigFile struct {
	*ChangedFile
	OldConfig, NewConfig           configtext.Reading
	OldCalls, NewCalls             []configtext.Call
	AddedSettings, RemovedSettings []configtext.Setting // see news
}

// ConfigFiles are the configuration files of the change.
var ConfigFiles = Define(func(c *Change) []*ConfigFile {
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
			cf.OldConfig, wasWell = configtext.Read(was, f.Before().Path, f.Before().Text)
		}
		if f.After().Exists() {
			cf.NewConfig, isWell = configtext.Read(is, f.After().Path, f.After().Text)
		}
		if !wasWell || !isWell { // the keys must be the same on both sides
			cf.OldConfig, cf.NewConfig = configtext.ReadLines(f.Before().Text), configtext.ReadLines(f.After().Text)
		}
		cf.OldCalls, cf.NewCalls = configtext.FindCalls(&cf.OldConfig), configtext.FindCalls(&cf.NewConfig)
		out = append(out, cf)
	}
	compareSettings(out)
	return out
})

// compareSettings sets, for each file, the settings that occur more often after the change than
// before, and the other way round: what moved, even to another file, is in neither.
func compareSettings(files []*ConfigFile) {
	before, after := map[string]int{}, map[string]int{}
	for _, f := range files {
		countSettings(before, f.OldConfig.Settings, lastKeyAndValue)
		countSettings(after, f.NewConfig.Settings, lastKeyAndValue)
	}
	for _, f := range files {
		f.AddedSettings = surplusSettings(f.OldConfig.Settings, f.NewConfig.Settings, func(s configtext.Setting) bool { return after[lastKeyAndValue(s)] > before[lastKeyAndValue(s)] })
		f.RemovedSettings = surplusSettings(f.NewConfig.Settings, f.OldConfig.Settings, func(s configtext.Setting) bool { return before[lastKeyAndValue(s)] > after[lastKeyAndValue(s)] })
	}
}

// lastKeyAndValue and keyValue identify settings by the end of their key, or all of it.
func lastKeyAndValue(s configtext.Setting) string {
	return configtext.LastKey(s.Key) + "\x00" + s.Value
}

func keyAndValue(s configtext.Setting) string { return s.Key + "\x00" + s.Value }

func countSettings(count map[string]int, list []configtext.Setting, name func(configtext.Setting) string) {
	for _, s := range list {
		count[name(s)]++
	}
}

// surplusSettings returns what is more often in b than in a and satisfies a condition.
func surplusSettings(a, b []configtext.Setting, ok func(configtext.Setting) bool) []configtext.Setting {
	own := make(map[string]int, len(a))
	countSettings(own, a, keyAndValue)
	var out []configtext.Setting
	for _, s := range b {
		if own[keyAndValue(s)]--; own[keyAndValue(s)] < 0 && ok(s) {
			out = append(out, s)
		}
	}
	return out
}
