// Package agreement owns what a person agreed to on this machine: one small file for each thing, in the user's
// state folder and never in a repository, where a stranger could write it. An agreement is to exactly one content,
// named by its fingerprint, in exactly one project, named by its absolute root. The package refuses to know what is
// agreed to, and asks no one.
package agreement

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Kind is what an agreement is about.
type Kind string

// The kinds there are.
const (
	// Configuration is what a project's committed configuration may do to this machine.
	Configuration Kind = "configuration"
	// SetUp is the set-up commands that a model wrote, after which tests count.
	SetUp Kind = "set-up"
)

// Agreement is one agreement, as it is on disk.
type Agreement struct {
	Version int `json:"version"`
	// Project is the absolute root of the project's main work tree.
	Project string `json:"project"`
	Kind    Kind   `json:"kind"`
	// Fingerprint names the content that was agreed to: 64 hexadecimal digits, as Fingerprint makes them.
	Fingerprint string `json:"fingerprint"`
	// Items are the parts of the content, in the words of the package that asked.
	Items []string `json:"items,omitempty"`
	// How says how the person agreed, for people who look at the file: asked, written, option.
	How      string    `json:"how"`
	AgreedAt time.Time `json:"agreed_at"`
}

const version = 1

// Fingerprint returns a stable name for content that consists of parts. Where one part ends and the next begins counts.
func Fingerprint(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(sum, "%d\n%s\n", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
