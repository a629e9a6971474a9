package mainfails

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	m.Run()
	fmt.Println("teardown: the server did not stop")
	os.Exit(1)
}

func TestFine(t *testing.T) {}
