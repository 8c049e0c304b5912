package detect

// withoutComments makes JSON of JSON with comments: comments, and commas before
// a closing bracket, become spaces.
func withoutComments(text []byte) []byte {
	out := make([]byte, 0, len(text))
	comma := -1 // where the last comma is that only space followed
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := stringEnd(text, i)
			out, i, comma = append(out, text[i:end]...), end, -1
		case c == '/' && i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '*'):
			out, i = append(out, ' '), commentEnd(text, i)
		default:
			if (c == ']' || c == '}') && comma >= 0 {
				out[comma] = ' '
			}
			if c == ',' {
				comma = len(out)
			} else if c > ' ' {
				comma = -1
			}
			out, i = append(out, c), i+1
		}
	}
	return out
}

// stringEnd returns the index after the string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// commentEnd returns the index after the comment that begins at i; a line's end is not part of it.
func commentEnd(text []byte, i int) int {
	block := text[i+1] == '*'
	for i += 2; i < len(text); i++ {
		if !block && text[i] == '\n' {
			return i
		}
		if block && text[i] == '/' && text[i-1] == '*' {
			return i + 1
		}
	}
	return len(text)
}
