package integrity

import "testing"

// FuzzReadConfig checks that nothing an agent writes stops the audit.
func FuzzReadConfig(f *testing.F) {
	for _, list := range [][]caseOf{settingCases, harnessCases, environmentCases} {
		for _, c := range list {
			f.Add(c.after)
		}
	}
	f.Add(workflow)
	f.Add("a: &x [*x, \"")
	f.Fuzz(func(t *testing.T, text string) {
		for kind := noConfig; kind <= codeConfig; kind++ {
			r, ok := readConfig(kind, ".rspec", []byte(text))
			if !ok {
				r = readLines([]byte(text))
			}
			for _, c := range callsOf(&r) {
				if c.head == "" {
					t.Errorf("a call without a program: %+v", c)
				}
			}
		}
	})
}
