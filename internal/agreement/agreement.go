// Package agreement records what the user agreed to on this machine: one small file per agreement, in the user's state folder and never in a
// repository, where untrusted people could write it. An agreement covers exactly one content, named by its fingerprint, in exactly one project,
// named by its absolute root. The package does not know what the content means, and asks no one.
package agreement

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Kind is the subject of an agreement.
type Kind string

// The kinds of agreement.
const (
	// Configuration: what a project's committed configuration may do to this machine.
	Configuration Kind = "configuration"
	// SetUp: setup commands that a model wrote, before their tests count.
	SetUp Kind = "set-up"
)

// Agreement is one record as it is on disk.
type Agreement struct {
	Version int `json:"version"`
	// Project is the absolute root of the project's main work tree.
	Project string `json:"project"`
	Kind    Kind   `json:"kind"`
	// Fingerprint is made by the function of that name: 64 hexadecimal digits.
	Fingerprint string `json:"fingerprint"`
	// Items are the parts of the content, as the calling package words them.
	Items []string `json:"items,omitempty"`
	// How records how the user agreed, for people who read the file: asked, written or option.
	How      string    `json:"how"`
	AgreedAt time.Time `json:"agreed_at"`
}

const version = 1

// Fingerprint returns a stable name for the content made of these parts. It depends on where one part ends and the next begins.
func Fingerprint(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(sum, "%d\n%s\n", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
