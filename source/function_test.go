package source

import "testing"

func TestEachLanguageHasFunctionsAndDecisionPoints(t *testing.T) {
	for i := 1; i < languageCount; i++ {
		lang := Language(i)
		switch {
		case branchings[i].words == nil:
			t.Errorf("%v has no decision points", lang)
		case shapes[i].keywords == nil && !shapes[i].headers:
			t.Errorf("%v has no functions", lang)
		case shapes[i].keywords != nil && shapes[i].name == nil:
			t.Errorf("%v has keywords but no way to read a name", lang)
		}
	}
}
