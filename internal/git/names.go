package git

import (
	"fmt"
	"strings"

	"signalbox/internal/lazy"
)

var (
	idPattern     = lazy.Pattern(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	branchPattern = lazy.Pattern(`^signalbox/[0-9]+-[a-z0-9-]{1,40}$`)
	remotePattern = lazy.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	// An address, a subset of what git takes: it starts no program, and holds no password. ssh is the only protocol that names a user.
	addressPattern = lazy.Pattern(`^(?:https?://[\w.:\[\]-]+/[\w.~/%+-]+|ssh://(?:[\w.-]+@)?[\w.\[\]-][\w.:\[\]-]*/[\w.~/%+-]+|(?:[\w.-]+@)?\w[\w.-]*:/?[\w.~][\w.~/+-]*|/[^\x00-\x1f]+)$`)
	// A full ref, a subset of what git allows: no component starts with a dot or a dash, and a
	// shell, a pattern or a revision expression takes it for nothing but a name.
	refPattern = lazy.Pattern(`^refs(?:/[\pL\pN_+=@#%,][\pL\pN._+=@#%,!-]*)+$`)
)

// ValidID reports whether id is a full object id, SHA-1 or SHA-256.
func ValidID(id string) bool { return idPattern().MatchString(id) }

// ValidBranch reports whether name is a branch that Signalbox makes: signalbox/42-fix-parser.
func ValidBranch(name string) bool { return branchPattern().MatchString(name) }

// BranchRef returns the full ref of a branch, the user's or Signalbox's. ErrInvalid if its name isn't safe.
func BranchRef(name string) (string, error) {
	ref := "refs/heads/" + name
	return ref, checkRef(ref)
}

func checkRef(ref string) error {
	if !refPattern().MatchString(ref) || strings.Contains(ref, "..") || strings.Contains(ref, "@{") ||
		strings.HasSuffix(ref, ".") || strings.HasSuffix(ref, ".lock") || strings.Contains(ref, ".lock/") || len(ref) > 250 {
		return fmt.Errorf("%w ref %q", ErrInvalid, ref)
	}
	return nil
}

func checkIDs(ids ...string) error {
	for _, id := range ids {
		if !ValidID(id) || isZero(id) {
			return fmt.Errorf("%w object id %q", ErrInvalid, id)
		}
	}
	return nil
}

func checkRemote(name string) error {
	if !remotePattern().MatchString(name) {
		return fmt.Errorf("%w remote name %q", ErrInvalid, name)
	}
	return nil
}

// checkDestination takes a remote's name, or an address.
func checkDestination(remote string) error {
	if addressPattern().MatchString(remote) {
		return nil
	}
	return checkRemote(remote)
}

// isZero reports whether id is of no object: git writes zeros for a missing ref.
func isZero(id string) bool { return strings.Trim(id, "0") == "" }

// maxSlug keeps branch names easy to read in lists and to type.
const maxSlug = 40

// Slug makes the readable end of a branch name from a title: its ASCII words in lower case, joined by
// dashes, at most 40 characters; "change" if none is left.
func Slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	slug := ""
	for _, word := range words {
		joined := strings.TrimPrefix(slug+"-"+word, "-")
		if len(joined) > maxSlug {
			break
		}
		slug = joined
	}
	if slug == "" && len(words) > 0 {
		return words[0][:maxSlug]
	}
	if slug == "" {
		return "change"
	}
	return slug
}
