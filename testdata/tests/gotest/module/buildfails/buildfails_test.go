package buildfails

import "testing"

func TestTwo(t *testing.T) { Two() }
