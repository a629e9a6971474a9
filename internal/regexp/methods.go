package regexp

import "regexp"

// on returns the compiled expression if a text may contain a match, else nil.
func (r *Regexp) on(text []byte) *regexp.Regexp {
	if re := r.get(); r.sieve.may(text) {
		return re
	}
	return nil
}

// Match is that of the standard package.
func (r *Regexp) Match(b []byte) bool {
	if len(b) > short {
		return len(r.all(b, 1, false)) > 0
	}
	re := r.on(b)
	return re != nil && re.Match(b)
}

// MatchString is that of the standard package.
func (r *Regexp) MatchString(s string) bool { return r.Match(view(s)) }

// FindIndex is that of the standard package.
func (r *Regexp) FindIndex(b []byte) (loc []int) {
	if found := r.all(b, 1, false); found != nil {
		return found[0]
	}
	return nil
}

// FindStringIndex is that of the standard package.
func (r *Regexp) FindStringIndex(s string) (loc []int) { return r.FindIndex(view(s)) }

// FindSubmatchIndex is that of the standard package.
func (r *Regexp) FindSubmatchIndex(b []byte) []int {
	if len(b) <= short {
		if re := r.on(b); re != nil {
			return re.FindSubmatchIndex(b)
		}
		return nil
	}
	if found := r.all(b, 1, true); found != nil {
		return found[0]
	}
	return nil
}

// FindStringSubmatchIndex is that of the standard package.
func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.FindSubmatchIndex(view(s)) }

// FindKnown is FindStringSubmatchIndex for a text that is known to match: what a match needs
// is not searched for first.
func (r *Regexp) FindKnown(s string) []int { return r.get().FindSubmatchIndex(view(s)) }

// FindAllIndex is that of the standard package.
func (r *Regexp) FindAllIndex(b []byte, n int) [][]int { return r.all(b, n, false) }

// FindAllStringIndex is that of the standard package.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int { return r.all(view(s), n, false) }

// FindAllSubmatchIndex is that of the standard package.
func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int { return r.all(b, n, true) }

// FindAllStringSubmatchIndex is that of the standard package.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int { return r.all(view(s), n, true) }

// Find is that of the standard package.
func (r *Regexp) Find(b []byte) []byte {
	if at := r.FindIndex(b); at != nil {
		return b[at[0]:at[1]:at[1]]
	}
	return nil
}

// FindString is that of the standard package.
func (r *Regexp) FindString(s string) string {
	if at := r.FindStringIndex(s); at != nil {
		return s[at[0]:at[1]]
	}
	return ""
}

// FindSubmatch is that of the standard package.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return parts(b, r.FindSubmatchIndex(b)) }

// FindStringSubmatch is that of the standard package.
func (r *Regexp) FindStringSubmatch(s string) []string {
	return stringParts(s, r.FindStringSubmatchIndex(s))
}

// FindAll is that of the standard package.
func (r *Regexp) FindAll(b []byte, n int) [][]byte {
	var out [][]byte
	for _, at := range r.all(b, n, false) {
		out = append(out, b[at[0]:at[1]:at[1]])
	}
	return out
}

// FindAllString is that of the standard package.
func (r *Regexp) FindAllString(s string, n int) []string {
	var out []string
	for _, at := range r.all(view(s), n, false) {
		out = append(out, s[at[0]:at[1]])
	}
	return out
}

// FindAllSubmatch is that of the standard package.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	var out [][][]byte
	for _, at := range r.all(b, n, true) {
		out = append(out, parts(b, at))
	}
	return out
}

// FindAllStringSubmatch is that of the standard package.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	var out [][]string
	for _, at := range r.all(view(s), n, true) {
		out = append(out, stringParts(s, at))
	}
	return out
}

// parts returns the groups of a match as parts of its text, nil for groups that did not
// take part.
func parts(b []byte, at []int) [][]byte {
	if at == nil {
		return nil
	}
	out := make([][]byte, len(at)/2)
	for i := range out {
		if from, to := at[2*i], at[2*i+1]; from >= 0 {
			out[i] = b[from:to:to]
		}
	}
	return out
}

func stringParts(s string, at []int) []string {
	if at == nil {
		return nil
	}
	out := make([]string, len(at)/2)
	for i := range out {
		if from, to := at[2*i], at[2*i+1]; from >= 0 {
			out[i] = s[from:to]
		}
	}
	return out
}

// ReplaceAll is that of the standard package.
func (r *Regexp) ReplaceAll(src, repl []byte) []byte { return r.get().ReplaceAll(src, repl) }

// ReplaceAllFunc is that of the standard package.
func (r *Regexp) ReplaceAllFunc(src []byte, repl func([]byte) []byte) []byte {
	return r.get().ReplaceAllFunc(src, repl)
}

// ReplaceAllString is that of the standard package.
func (r *Regexp) ReplaceAllString(src, repl string) string {
	if re := r.on(view(src)); re != nil {
		return re.ReplaceAllString(src, repl)
	}
	return src
}

// ReplaceAllStringFunc is that of the standard package.
func (r *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	if re := r.on(view(src)); re != nil {
		return re.ReplaceAllStringFunc(src, repl)
	}
	return src
}

// Split is that of the standard package.
func (r *Regexp) Split(s string, n int) []string { return r.get().Split(s, n) }

// SubexpNames is that of the standard package.
func (r *Regexp) SubexpNames() []string { return r.get().SubexpNames() }

// SubexpIndex is that of the standard package.
func (r *Regexp) SubexpIndex(name string) int { return r.get().SubexpIndex(name) }
