package integrity

// eachWord calls use with each word of a text: letters, digits and _ of ASCII.
func eachWord(text string, use func(string)) {
	for i := 0; i < len(text); i++ {
		if !isWordByte(text[i]) {
			continue
		}
		from := i
		for i < len(text) && isWordByte(text[i]) {
			i++
		}
		use(text[from:i])
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}
