package lex

import (
	"testing"

	"supervise/source/internal/language"
)

func TestEachLanguageHasComments(t *testing.T) {
	for i := 1; i < language.Count; i++ {
		if len(grammars[i].lineComments) == 0 {
			t.Errorf("%v has no comments", language.Language(i))
		}
	}
}
