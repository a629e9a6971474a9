package main

// row is a repository and what was measured.
type row struct {
	repo *repo
	*result
}

func (t *table) report(f *flags) error { return nil }
