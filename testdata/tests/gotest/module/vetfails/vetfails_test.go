package vetfails

import "testing"

func TestPrint(t *testing.T) { Print() }
