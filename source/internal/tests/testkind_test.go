package tests

import (
	"encoding/json"
	"testing"
)

// Recorded evidence has the names of kinds, which stay when a kind is added.
func TestKindsAreStoredByName(t *testing.T) {
	for k := Test; k <= Example; k++ {
		text, err := json.Marshal(k)
		var back TestKind
		if err != nil || string(text) != `"`+k.String()+`"` || json.Unmarshal(text, &back) != nil || back != k {
			t.Errorf("%v is stored as %s (%v) and read as %v", k, text, err, back)
		}
	}
	if err := json.Unmarshal([]byte(`"nothing"`), new(TestKind)); err == nil {
		t.Error("an unknown kind was read")
	}
}
