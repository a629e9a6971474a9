package regexp

// Match is that of the standard package.
func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }

// MatchString is that of the standard package.
func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

// Find is that of the standard package.
func (r *Regexp) Find(b []byte) []byte { return r.get().Find(b) }

// FindIndex is that of the standard package.
func (r *Regexp) FindIndex(b []byte) (loc []int) { return r.get().FindIndex(b) }

// FindString is that of the standard package.
func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

// FindStringIndex is that of the standard package.
func (r *Regexp) FindStringIndex(s string) (loc []int) { return r.get().FindStringIndex(s) }

// FindSubmatch is that of the standard package.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.get().FindSubmatch(b) }

// FindSubmatchIndex is that of the standard package.
func (r *Regexp) FindSubmatchIndex(b []byte) []int { return r.get().FindSubmatchIndex(b) }

// FindStringSubmatch is that of the standard package.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

// FindStringSubmatchIndex is that of the standard package.
func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.get().FindStringSubmatchIndex(s) }

// FindAll is that of the standard package.
func (r *Regexp) FindAll(b []byte, n int) [][]byte { return r.get().FindAll(b, n) }

// FindAllIndex is that of the standard package.
func (r *Regexp) FindAllIndex(b []byte, n int) [][]int { return r.get().FindAllIndex(b, n) }

// FindAllString is that of the standard package.
func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }

// FindAllStringIndex is that of the standard package.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int { return r.get().FindAllStringIndex(s, n) }

// FindAllSubmatch is that of the standard package.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte { return r.get().FindAllSubmatch(b, n) }

// FindAllSubmatchIndex is that of the standard package.
func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return r.get().FindAllSubmatchIndex(b, n)
}

// FindAllStringSubmatch is that of the standard package.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is that of the standard package.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAll is that of the standard package.
func (r *Regexp) ReplaceAll(src, repl []byte) []byte { return r.get().ReplaceAll(src, repl) }

// ReplaceAllFunc is that of the standard package.
func (r *Regexp) ReplaceAllFunc(src []byte, repl func([]byte) []byte) []byte {
	return r.get().ReplaceAllFunc(src, repl)
}

// ReplaceAllString is that of the standard package.
func (r *Regexp) ReplaceAllString(src, repl string) string {
	return r.get().ReplaceAllString(src, repl)
}

// ReplaceAllStringFunc is that of the standard package.
func (r *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return r.get().ReplaceAllStringFunc(src, repl)
}

// ReplaceAllLiteralString is that of the standard package.
func (r *Regexp) ReplaceAllLiteralString(src, repl string) string {
	return r.get().ReplaceAllLiteralString(src, repl)
}

// Split is that of the standard package.
func (r *Regexp) Split(s string, n int) []string { return r.get().Split(s, n) }

// SubexpNames is that of the standard package.
func (r *Regexp) SubexpNames() []string { return r.get().SubexpNames() }

// SubexpIndex is that of the standard package.
func (r *Regexp) SubexpIndex(name string) int { return r.get().SubexpIndex(name) }

// NumSubexp is that of the standard package.
func (r *Regexp) NumSubexp() int { return r.get().NumSubexp() }

// ExpandString is that of the standard package.
func (r *Regexp) ExpandString(dst []byte, template string, src string, match []int) []byte {
	return r.get().ExpandString(dst, template, src, match)
}
