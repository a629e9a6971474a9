package broken

func f() int {
	return missing
}
