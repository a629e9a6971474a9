// Forgetful uses the runner without calling ShimMain.
package main

import (
	"context"
	"fmt"

	"supervise/runner"
)

func main() {
	_, err := runner.Run(context.Background(), runner.Command{Args: []string{"/bin/sh", "-c", "true"}})
	fmt.Println(err)
}
