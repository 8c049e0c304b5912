package forge

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Wake is all that a webhook is believed: there may be news, so they are read from the server. Beside that, only Texts are used, to refuse or accept
// what is read.
type Wake struct {
	// Event is the vendor's name of what happened, Delivery its id of this message; a repeated message has the same. Both are for the log.
	Event, Delivery string
	// Numbers are the issues and pull requests to look at. On says which of both they are, if the server counts them apart; it is empty otherwise.
	Numbers []int
	On      []Subject
	// Commit is what something was reported about. Pull requests with this head are looked at. It is empty for other events.
	Commit string
	// MayStart: a person wrote a comment or set a label, which may be an order. Every other event only wakes runs that wait.
	MayStart bool
	// Texts are the sums of the issue's text when comments were written there, by the comments' ids: nil unless the server dates no edits.
	Texts map[int64]TextSum
}

// TextSum identifies the title and body of an issue; empty if they are not known.
type TextSum string

// Sum returns that of an issue.
func (i Issue) Sum() TextSum {
	sum := sha256.Sum256([]byte(i.Title + "\x00" + i.Body))
	return TextSum(hex.EncodeToString(sum[:]))
}

// Nothing reports whether there is nothing to look at.
func (w Wake) Nothing() bool { return len(w.Numbers) == 0 && w.Commit == "" }

// Hooked reads webhooks.
type Hooked interface {
	// Webhook checks that the message is signed with the secret and about this repository. It returns ErrForged or ErrForeign
	// if it is not, and a Wake with Nothing for an event that concerns no issue or pull request. It reads a bounded part of body.
	Webhook(header http.Header, body io.Reader, secret string) (Wake, error)
}

var (
	// ErrForged: the message is not signed with the secret, or no secret is configured.
	ErrForged = errors.New("the webhook is not signed with the configured secret")
	// ErrForeign: the message is about another repository.
	ErrForeign = errors.New("the webhook is about another repository")
)

// maxWebhook bounds what anyone can make us read before the signature is checked.
const maxWebhook = 10 << 20

// ReadSigned decodes a webhook into message if signature, in hexadecimal, is the HMAC-SHA256 of its bytes with the secret, and returns ErrForged
// otherwise. Without a secret nothing is signed.
func ReadSigned(body io.Reader, signature, secret string, message any) error {
	return ReadChecked(body, func(raw []byte) bool {
		given, err := hex.DecodeString(signature)
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(raw)
		return err == nil && secret != "" && hmac.Equal(given, mac.Sum(nil))
	}, message)
}

// ReadChecked decodes a webhook into message if its bytes are genuine, and returns ErrForged otherwise.
func ReadChecked(body io.Reader, genuine func([]byte) bool, message any) error {
	raw, err := io.ReadAll(io.LimitReader(body, maxWebhook+1))
	if err != nil {
		return fmt.Errorf("read the webhook: %w", err)
	}
	if len(raw) > maxWebhook {
		return fmt.Errorf("read the webhook: it is larger than %d MB", maxWebhook>>20)
	}
	if !genuine(raw) {
		return ErrForged
	}
	if err := json.Unmarshal(raw, message); err != nil {
		return errors.New("read the webhook: it is not JSON as the forge sends it; its content type must be application/json")
	}
	return nil
}
