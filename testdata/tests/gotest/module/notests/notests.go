package notests

// Zero has no test.
func Zero() int {
	if false {
		return 1
	}
	return 0
}
