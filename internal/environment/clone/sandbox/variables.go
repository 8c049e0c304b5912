package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// LastOfEach drops an assignment that a later one replaces.
func LastOfEach(list []string) (kept []string) {
	seen := map[string]bool{}
	for _, entry := range slices.Backward(list) {
		name, _, _ := strings.Cut(entry, "=")
		if !seen[name] {
			seen[name] = true
			kept = append(kept, entry)
		}
	}
	slices.Reverse(kept)
	return kept
}

// MarkOf is a variable that stands for a folder of this machine. Where that is, is nothing that a
// command could use, or should know.
func MarkOf(name, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return name + "=" + hex.EncodeToString(sum[:16])
}

// Value is the last value of name in a list of KEY=value.
func Value(list []string, name, fallback string) string {
	for _, entry := range list {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			fallback = value
		}
	}
	return fallback
}
