package source

import "testing"

func TestEachLanguageHasComments(t *testing.T) {
	for i := 1; i < languageCount; i++ {
		if len(grammars[i].lines) == 0 {
			t.Errorf("%v has no comments", Language(i))
		}
	}
}
