package function

import (
	"testing"

	"supervise/source/internal/language"
)

func TestEachLanguageHasFunctionsAndDecisionPoints(t *testing.T) {
	for i := 1; i < language.Count; i++ {
		lang := language.Language(i)
		switch {
		case branchings[i].words == nil:
			t.Errorf("%v has no decision points", lang)
		case Shapes[i].keywords == nil && !Shapes[i].definesByHeader:
			t.Errorf("%v has no functions", lang)
		case Shapes[i].keywords != nil && Shapes[i].readName == nil:
			t.Errorf("%v has keywords but no way to read a name", lang)
		}
	}
}
