package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"signalbox/internal/git/gitcmd"
	"signalbox/internal/lazy"
)

var (
	// ErrNoIdentity: git does not know the user's name and address.
	ErrNoIdentity = errors.New("git does not know your name and email address")
	// ErrSigning: git could not sign a commit. A retry does not help.
	ErrSigning = errors.New("git could not sign the commit")
)

// User holds the author and committer that git would name in a commit of the user's own.
type User struct{ Author, Committer Identity }

// Signing says which of our commits the user's key signs.
type Signing string

const (
	SignAuto   Signing = "auto"   // like the user's own: if commit.gpgSign is set
	SignAlways Signing = "always" // every commit
	SignNever  Signing = "never"
)

// signPatience is how long a signature may take: a hardware key wants to be touched, and a program that
// asks for a passphrase out of sight waits forever.
const signPatience = time.Minute

// personal holds what the user's own configuration is asked only once.
type personal struct {
	mu   sync.Mutex
	user *User
}

// habits are how the user's git treats commits and files.
type habits struct {
	signs bool
	// required are the filters without which git doesn't write files.
	required []string
}

// User returns the user's identities, from variables and configuration as git reads them. It guesses
// nothing from the machine's name: ErrNoIdentity if none is configured.
func (r *Repo) User(ctx context.Context) (User, error) {
	r.personal.mu.Lock()
	defer r.personal.mu.Unlock()
	if r.personal.user != nil {
		return *r.personal.user, nil
	}
	if plain, ok := r.plainUser(ctx); ok {
		r.personal.user = &User{plain, plain}
		return *r.personal.user, nil
	}
	var found [2]Identity
	for i, which := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"var", which}, Config: []string{"user.useConfigOnly=true"}, Dir: r.git.Root, User: true, Person: true})
		if failed := (*gitcmd.Error)(nil); errors.As(err, &failed) && failed.Signal == "" {
			return User{}, fmt.Errorf("%w (%s)", ErrNoIdentity, failed.Message)
		}
		if err != nil {
			return User{}, fmt.Errorf("find out who you are: %w", err)
		}
		name, rest, _ := strings.Cut(string(out), " <")
		email, _, _ := strings.Cut(rest, ">")
		if name == "" || email == "" {
			return User{}, ErrNoIdentity
		}
		found[i] = Identity{Name: name, Email: email}
	}
	r.personal.user = &User{found[0], found[1]}
	return *r.personal.user, nil
}

// plainName and plainAddress match only what git leaves unchanged in a name or an address.
var (
	plainName    = lazy.Pattern(`^[\p{L}\p{N}](?:[\p{L}\p{N} -]*[\p{L}\p{N}])?$`)
	plainAddress = lazy.Pattern(`^[A-Za-z0-9](?:[A-Za-z0-9._+@-]*[A-Za-z0-9])?$`)
)

// plainUser returns the identity of both author and committer if only user.name and user.email decide
// it. ok is false if git must be asked.
func (r *Repo) plainUser(ctx context.Context) (who Identity, ok bool) {
	all, err := r.settings(ctx)
	if err != nil || len(gitcmd.Inherited("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")) > 0 {
		return who, false
	}
	for _, s := range all {
		switch {
		case s.key == "user.name":
			who.Name = s.value
		case s.key == "user.email":
			who.Email = s.value
		case strings.HasPrefix(s.key, "author."), strings.HasPrefix(s.key, "committer."), s.key == "i18n.commitencoding":
			return who, false
		}
	}
	return who, plainName().MatchString(who.Name) && plainAddress().MatchString(who.Email)
}

// Signs reports whether commits are signed.
func (r *Repo) Signs(ctx context.Context, s Signing) (bool, error) {
	if s == SignAlways || s == SignNever {
		return s == SignAlways, nil
	}
	h, err := r.habits(ctx)
	return h.signs, err
}

// habits reads the user's habits from the settings. The last setting of a name counts.
func (r *Repo) habits(ctx context.Context) (h habits, err error) {
	all, err := r.settings(ctx)
	if err != nil {
		return h, fmt.Errorf("find out how git signs and filters: %w", err)
	}
	required := map[string]bool{}
	for _, s := range all {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(s.key, "filter."), ".required"); ok && filterName().MatchString(name) {
			required[name] = isTrue(s.value)
		} else if s.key == "commit.gpgsign" {
			h.signs = isTrue(s.value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(required)) {
		if required[name] {
			h.required = append(h.required, name)
		}
	}
	return h, nil
}

// isTrue parses a boolean setting as git does.
func isTrue(value string) bool {
	n, err := strconv.Atoi(value)
	return err == nil && n != 0 || slices.Contains([]string{"true", "yes", "on"}, strings.ToLower(value))
}

// CommitAs writes a commit of the user, signed as s says. ErrNoIdentity and ErrSigning are for the user
// to fix.
func (r *Repo) CommitAs(ctx context.Context, tree string, parents []string, message string, when time.Time, s Signing) (string, error) {
	user, err := r.User(ctx)
	if err != nil {
		return "", err
	}
	signs, err := r.Signs(ctx, s)
	if err != nil {
		return "", err
	}
	id, err := r.commitTree(ctx, tree, parents, message, user, when, signs)
	if err == nil || !signs {
		return id, err
	}
	var failed *gitcmd.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Errorf("commit tree %s: %w: no signature within %s: does the key's passphrase have to be typed?", tree, ErrSigning, signPatience)
	case errors.As(err, &failed):
		said := gitcmd.Clean(strings.ReplaceAll(strings.TrimSpace(failed.Stderr), "\n", "; "))
		return "", fmt.Errorf("commit tree %s: %w: %s", tree, ErrSigning, said)
	}
	return "", err
}

// signingVariables are the variables that signing programs and their passphrase prompts need.
var signingVariables = []string{"GNUPGHOME", "GPG_TTY", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"}
