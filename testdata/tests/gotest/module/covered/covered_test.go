package covered

import "testing"

func TestSign(t *testing.T) {
	if Sign(-5) != -1 || Sign(0) != 0 {
		t.Error("wrong sign")
	}
}
