package loop

import (
	"os"
	"testing"

	"supervise/runner"
)

func TestMain(m *testing.M) {
	runner.ShimMain()
	os.Exit(m.Run())
}
