package redact

import "encoding/binary"

// startLength is how many bytes tell that no secret starts.
const startLength = 4

// starts is a set of beginnings, of which it keeps only a hash: so it may hold more than was added.
type starts [1 << startBits / 64]uint64

// The set stays within the fastest memory of a processor.
const startBits = 17

func hashed(start uint32) uint32 { return start * 0x9e3779b1 >> (32 - startBits) }

// add adds what begins like text, which has at least three bytes.
func (s *starts) add(text string) {
	start := append([]byte(text[:min(len(text), startLength)]), 0)[:startLength]
	for next := range 256 {
		if len(text) < startLength {
			start[startLength-1] = byte(next)
		}
		h := hashed(binary.LittleEndian.Uint32(start))
		s[h/64] |= 1 << (h % 64)
		if len(text) >= startLength {
			return
		}
	}
}

// addFolded adds text whatever the case of its letters.
func (s *starts) addFolded(text string) {
	for capitals := range 1 << startLength {
		letters := []byte(text[:startLength])
		for i := range letters {
			if capitals>>i&1 == 1 {
				letters[i] = upper(letters[i])
			}
		}
		s.add(string(letters))
	}
}

func (s *starts) has(start uint32) bool {
	h := hashed(start)
	return s[h/64]>>(h%64)&1 != 0
}

// before returns how many bytes there are before the first that may start something, or before the last few.
func (s *starts) before(text []byte) int {
	i := 0
	for ; i+8 <= len(text); i += 5 { // eight bytes are five starts
		next := binary.LittleEndian.Uint64(text[i:])
		switch {
		case s.has(uint32(next)):
			return i
		case s.has(uint32(next >> 8)):
			return i + 1
		case s.has(uint32(next >> 16)):
			return i + 2
		case s.has(uint32(next >> 24)):
			return i + 3
		case s.has(uint32(next >> 32)):
			return i + 4
		}
	}
	for ; i+startLength <= len(text); i++ {
		if s.has(binary.LittleEndian.Uint32(text[i:])) {
			break
		}
	}
	return i
}
