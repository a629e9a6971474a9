package bad

import (
	"fmt"
	"os"
	"strings"
)

func unused() {}

// Deprecated: use Print.
func Old() {}

func Print(s string) error {
	if s == "" == true {
		return fmt.Errorf("Nothing to print.")
	}
	x := 1
	x = 2
	fmt.Println(fmt.Sprintf("%d", "<é & \"quoted\">"), x)
	for true {
		strings.Replace(s, "a", "b", -1)
	}
	os.Remove(s)
	return nil
}
