package buildfails

func Two() (int, error) { return 1 }

var x int = "text"
