package gateway

import "bytes"

// scrubber replaces the API key in what passes: a server that a person named may answer with
// what it was sent. It holds back nothing but what may be the beginning of the key.
type scrubber struct {
	key  []byte
	held []byte
}

var masked = []byte("[key]")

// pass returns what may go on of p and what was held back. The result is valid until the next call.
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

// rest is what was held back and turned out to be no key.
func (s *scrubber) rest() []byte { return s.held }

// begun is how many bytes at the end of p the key may begin with.
func (s *scrubber) begun(p []byte) int {
	for n := min(len(s.key)-1, len(p)); n > 0; n-- {
		if bytes.HasSuffix(p, s.key[:n]) {
			return n
		}
	}
	return 0
}
