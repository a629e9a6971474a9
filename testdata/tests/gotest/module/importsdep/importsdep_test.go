package importsdep

import (
	"testing"

	"example.com/sample/dep"
)

func TestDep(t *testing.T) { dep.Broken() }
