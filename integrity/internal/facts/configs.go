package facts

import (
	"supervise/integrity/internal/configtext"
)

// ConfigFile is a changed configuration file, parsed. The fields with Old are from before the
// change, those with New from after it.
type ConfigFile struct {
	*ChangedFile
	OldConfig, NewConfig configtext.Reading
	OldCalls, NewCalls   []configtext.Call

	// AddedSettings and RemovedSettings are the settings that only one side has. Settings that
	// moved, also to another file, are left out.
	AddedSettings, RemovedSettings []configtext.Setting
}

// ConfigFiles are the configuration files of the change.
var ConfigFiles = Define(func(c *Change) []*ConfigFile {
	var out []*ConfigFile
	for _, f := range c.Files {
		oldKind, newKind := f.Before().ConfigKind(), f.After().ConfigKind()
		isConfig := oldKind != configtext.None || newKind != configtext.None
		isChanged := f.HasChangedLines() || oldKind != newKind || f.OldPath != ""
		if isConfig && isChanged {
			out = append(out, readConfig(f))
		}
	}
	compareSettings(out)
	return out
})

// readConfig parses both sides of a configuration file. If one of them has a syntax error, both are
// read line by line instead, so that their keys can be compared.
func readConfig(f *ChangedFile) *ConfigFile {
	out := &ConfigFile{ChangedFile: f}
	validBefore, validAfter := true, true
	if s := f.Before(); s.Exists() {
		out.OldConfig, validBefore = configtext.Read(s.ConfigKind(), s.Path, s.Text)
	}
	if s := f.After(); s.Exists() {
		out.NewConfig, validAfter = configtext.Read(s.ConfigKind(), s.Path, s.Text)
	}
	if !validBefore || !validAfter {
		out.OldConfig, out.NewConfig = configtext.ReadLines(f.Before().Text), configtext.ReadLines(f.After().Text)
	}
	out.OldCalls, out.NewCalls = configtext.FindCalls(&out.OldConfig), configtext.FindCalls(&out.NewConfig)
	return out
}

// compareSettings fills in the added and removed settings of each file. A setting counts only if
// all files together have it more often, or less often, than before.
func compareSettings(files []*ConfigFile) {
	surplus := map[string]int{}
	for _, f := range files {
		for _, s := range f.NewConfig.Settings {
			surplus[lastKeyAndValue(s)]++
		}
		for _, s := range f.OldConfig.Settings {
			surplus[lastKeyAndValue(s)]--
		}
	}
	keyAndValue := func(s configtext.Setting) [2]string { return [2]string{s.Key, s.Value} }
	for _, f := range files {
		f.AddedSettings = Filter(Surplus(f.NewConfig.Settings, f.OldConfig.Settings, keyAndValue), func(s configtext.Setting) bool { return surplus[lastKeyAndValue(s)] > 0 })
		f.RemovedSettings = Filter(Surplus(f.OldConfig.Settings, f.NewConfig.Settings, keyAndValue), func(s configtext.Setting) bool { return surplus[lastKeyAndValue(s)] < 0 })
	}
}

// lastKeyAndValue returns a key for a setting in any file: the last part of its name, and the
// value.
func lastKeyAndValue(s configtext.Setting) string {
	return configtext.LastKey(s.Key) + "\x00" + s.Value
}
