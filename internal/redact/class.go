package redact

// class is a set of bytes.
type class [256]bool

func newClass(members string) *class {
	var c class
	for i := range len(members) {
		c[members[i]] = true
	}
	return &c
}

func (c *class) has(b byte) bool { return c[b] }

// and returns the bytes of both.
func (c *class) and(other *class) *class {
	both := *c
	for b, member := range other {
		both[b] = both[b] || member
	}
	return &both
}

// not returns all other bytes.
func (c *class) not() *class {
	var others class
	for b, member := range c {
		others[b] = !member
	}
	return &others
}

// count returns how many bytes of the class text starts with.
func (c *class) count(text []byte) int {
	for i, b := range text {
		if !c[b] {
			return i
		}
	}
	return len(text)
}

// upper returns the capital of an ASCII letter, and every other byte as it is.
func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}

// wordBytes are those of words, in any writing.
var wordBytes = func() *class {
	all := *alphanumeric
	for b := 0x80; b <= 0xff; b++ {
		all[b] = true
	}
	return &all
}()
