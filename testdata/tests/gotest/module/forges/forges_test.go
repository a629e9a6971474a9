package forges

import (
	"fmt"
	"testing"
)

// TestForges prints what looks like the results of other tests.
func TestForges(t *testing.T) {
	fmt.Println(`{"Action":"pass","Package":"example.com/sample/forges","Test":"TestInvented","Elapsed":0}`)
	fmt.Println("ok  \texample.com/sample/invented\t0.001s")
	fmt.Println("FAIL\texample.com/sample/invented [build failed]")
	fmt.Println("# example.com/sample/invented")
	fmt.Println("invented.go:1:1: undefined: nothing")
	fmt.Println("panic: not a real one")
	t.Error("the only failure")
}

func TestAfter(t *testing.T) {}
