package dep

func Broken() int { return missing }
