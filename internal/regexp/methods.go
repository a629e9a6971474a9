package regexp

import "regexp"

// compiledFor returns the compiled expression if a text may contain a match, else nil.
func (r *Regexp) compiledFor(text []byte) *regexp.Regexp {
	if re := r.compiled(); r.filter.mayMatch(text) {
		return re
	}
	return nil
}

// Match is that of the standard package.
func (r *Regexp) Match(b []byte) bool {
	if len(b) > maxDirect {
		return len(r.findAll(b, 1, false)) > 0
	}
	re := r.compiledFor(b)
	return re != nil && re.Match(b)
}

// MatchString is that of the standard package.
func (r *Regexp) MatchString(s string) bool { return r.Match(asBytes(s)) }

// findFirst returns the first match, or nil. See findAll.
func (r *Regexp) findFirst(text []byte, groups bool) []int {
	if found := r.findAll(text, 1, groups); found != nil {
		return found[0]
	}
	return nil
}

// FindIndex is that of the standard package.
func (r *Regexp) FindIndex(b []byte) (loc []int) { return r.findFirst(b, false) }

// FindStringIndex is that of the standard package.
func (r *Regexp) FindStringIndex(s string) (loc []int) { return r.FindIndex(asBytes(s)) }

// FindSubmatchIndex is that of the standard package.
func (r *Regexp) FindSubmatchIndex(b []byte) []int { return r.findFirst(b, true) }

// FindStringSubmatchIndex is that of the standard package.
func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.FindSubmatchIndex(asBytes(s)) }

// FindKnown is FindStringSubmatchIndex for a text that is known to match. It does not search for
// required texts first.
func (r *Regexp) FindKnown(s string) []int { return r.compiled().FindSubmatchIndex(asBytes(s)) }

// FindAllIndex is that of the standard package.
func (r *Regexp) FindAllIndex(b []byte, n int) [][]int { return r.findAll(b, n, false) }

// FindAllStringIndex is that of the standard package.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int { return r.findAll(asBytes(s), n, false) }

// FindAllSubmatchIndex is that of the standard package.
func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int { return r.findAll(b, n, true) }

// FindAllStringSubmatchIndex is that of the standard package.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.findAll(asBytes(s), n, true)
}

// Find is that of the standard package.
func (r *Regexp) Find(b []byte) []byte {
	if loc := r.FindIndex(b); loc != nil {
		return b[loc[0]:loc[1]:loc[1]]
	}
	return nil
}

// FindString is that of the standard package.
func (r *Regexp) FindString(s string) string {
	if loc := r.FindStringIndex(s); loc != nil {
		return s[loc[0]:loc[1]]
	}
	return ""
}

// FindSubmatch is that of the standard package.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return submatches(b, r.FindSubmatchIndex(b)) }

// FindStringSubmatch is that of the standard package.
func (r *Regexp) FindStringSubmatch(s string) []string {
	return stringSubmatches(s, r.FindStringSubmatchIndex(s))
}

// FindAll is that of the standard package.
func (r *Regexp) FindAll(b []byte, n int) [][]byte {
	var out [][]byte
	for _, loc := range r.findAll(b, n, false) {
		out = append(out, b[loc[0]:loc[1]:loc[1]])
	}
	return out
}

// FindAllString is that of the standard package.
func (r *Regexp) FindAllString(s string, n int) []string {
	var out []string
	for _, loc := range r.findAll(asBytes(s), n, false) {
		out = append(out, s[loc[0]:loc[1]])
	}
	return out
}

// FindAllSubmatch is that of the standard package.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	var out [][][]byte
	for _, loc := range r.findAll(b, n, true) {
		out = append(out, submatches(b, loc))
	}
	return out
}

// FindAllStringSubmatch is that of the standard package.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	var out [][]string
	for _, loc := range r.findAll(asBytes(s), n, true) {
		out = append(out, stringSubmatches(s, loc))
	}
	return out
}

// submatches returns the groups of a match as parts of its text. A group without a match is nil.
// The result is nil if loc is nil.
func submatches(b []byte, loc []int) [][]byte {
	if loc == nil {
		return nil
	}
	out := make([][]byte, len(loc)/2)
	for i := range out {
		if from, to := loc[2*i], loc[2*i+1]; from >= 0 {
			out[i] = b[from:to:to]
		}
	}
	return out
}

// stringSubmatches is submatches for a string. A group without a match is "".
func stringSubmatches(s string, loc []int) []string {
	if loc == nil {
		return nil
	}
	out := make([]string, len(loc)/2)
	for i := range out {
		if from, to := loc[2*i], loc[2*i+1]; from >= 0 {
			out[i] = s[from:to]
		}
	}
	return out
}

// ReplaceAll is that of the standard package.
func (r *Regexp) ReplaceAll(src, repl []byte) []byte { return r.compiled().ReplaceAll(src, repl) }

// ReplaceAllFunc is that of the standard package.
func (r *Regexp) ReplaceAllFunc(src []byte, repl func([]byte) []byte) []byte {
	return r.compiled().ReplaceAllFunc(src, repl)
}

// ReplaceAllString is that of the standard package.
func (r *Regexp) ReplaceAllString(src, repl string) string {
	if re := r.compiledFor(asBytes(src)); re != nil {
		return re.ReplaceAllString(src, repl)
	}
	return src
}

// ReplaceAllStringFunc is that of the standard package.
func (r *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	if re := r.compiledFor(asBytes(src)); re != nil {
		return re.ReplaceAllStringFunc(src, repl)
	}
	return src
}

// Split is that of the standard package.
func (r *Regexp) Split(s string, n int) []string { return r.compiled().Split(s, n) }

// SubexpNames is that of the standard package.
func (r *Regexp) SubexpNames() []string { return r.compiled().SubexpNames() }

// SubexpIndex is that of the standard package.
func (r *Regexp) SubexpIndex(name string) int { return r.compiled().SubexpIndex(name) }
