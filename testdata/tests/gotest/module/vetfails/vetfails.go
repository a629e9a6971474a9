package vetfails

import "fmt"

func Print() { fmt.Printf("%d\n", "text") }
