package bundle

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
)

// ErrSeal: nothing proves that someone with the key made the bundle.
var ErrSeal = errors.New("it is not sealed with this key")

// MinKey is the length of the shortest key, in bytes.
const MinKey = 32

// sealOf is the HMAC-SHA256 of all files but the seal itself, in their order, each with the lengths of its path and content before it.
func sealOf(files []File, key string) string {
	mac := hmac.New(sha256.New, []byte(key))
	part := func(text []byte) {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		mac.Write(text)
	}
	part([]byte("signalbox state " + version))
	for _, f := range files {
		part([]byte(f.Path))
		part(f.Content)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

func checkSeal(files []File, key string) error {
	var given string
	sealed := make([]File, 0, len(files))
	for _, f := range files {
		if f.Path == sealFile {
			given = strings.TrimSpace(string(f.Content))
			continue
		}
		sealed = append(sealed, f)
	}
	slices.SortFunc(sealed, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if given == "" || !hmac.Equal([]byte(given), []byte(sealOf(sealed, key))) {
		return ErrSeal
	}
	return nil
}
