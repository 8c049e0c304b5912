package gateway

import "bytes"

// scrubber replaces the API key in passing data: a server named by a person may echo what it was sent. It holds back only bytes that may begin the
// key.
type scrubber struct {
	key  []byte
	held []byte
}

var masked = []byte("[key]")

// pass returns the bytes of p, and those held back before, that may go on. The result is valid until the next call.
func (s *scrubber) pass(p []byte) []byte {
	if len(s.key) == 0 {
		return p
	}
	if len(s.held) > 0 {
		p = append(s.held, p...)
	}
	if bytes.Contains(p, s.key) {
		p = bytes.ReplaceAll(p, s.key, masked)
	}
	keep := s.begun(p)
	s.held = bytes.Clone(p[len(p)-keep:])
	return p[:len(p)-keep]
}

// rest returns the bytes that were held back and turned out to be no key.
func (s *scrubber) rest() []byte { return s.held }

// begun returns how many bytes at the end of p may begin the key.
func (s *scrubber) begun(p []byte) int {
	for n := min(len(s.key)-1, len(p)); n > 0; n-- {
		if bytes.HasSuffix(p, s.key[:n]) {
			return n
		}
	}
	return 0
}
