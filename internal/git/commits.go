package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"signalbox/internal/git/gitcmd"
)

// Identity is a name and address in a commit.
type Identity struct {
	Name  string
	Email string
}

// Commit is one entry of a history. Author, Subject and Message (which begins with the subject) are
// untrusted text.
type Commit struct {
	ID      string
	Author  string
	Subject string
	Message string
}

// IsAncestor reports whether ancestor is commit or in its history.
func (r *Repo) IsAncestor(ctx context.Context, ancestor, commit string) (bool, error) {
	if err := checkIDs(ancestor, commit); err != nil {
		return false, fmt.Errorf("compare histories: %w", err)
	}
	switch {
	case r.isBehind(ctx, ancestor, commit):
		return true, nil
	case r.isBehind(ctx, commit, ancestor):
		return false, nil
	}
	_, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"merge-base", "--is-ancestor", ancestor, commit}})
	if gitcmd.Exited(err, 1) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("compare histories of %s and %s: %w", ancestor, commit, err)
	}
	return true, nil
}

// MergeBase returns the best common ancestor of two commits. ErrNotFound if their histories are unrelated.
func (r *Repo) MergeBase(ctx context.Context, one, other string) (string, error) {
	if err := checkIDs(one, other); err != nil {
		return "", fmt.Errorf("compare histories: %w", err)
	}
	switch {
	case r.isBehind(ctx, one, other):
		return one, nil
	case r.isBehind(ctx, other, one):
		return other, nil
	}
	return r.one(ctx, gitcmd.Call{Args: []string{"merge-base", one, other}}, "find common ancestor of "+one+" and "+other)
}

// TreeOf returns the tree of a commit. ErrNotFound if there is no such commit.
func (r *Repo) TreeOf(ctx context.Context, commit string) (string, error) {
	if err := checkIDs(commit); err != nil {
		return "", fmt.Errorf("find tree: %w", err)
	}
	if o, err := r.info(ctx, commit+"^{tree}"); err == nil && o.Type == "tree" {
		return o.ID, nil
	}
	c := gitcmd.Call{Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", commit + "^{tree}"}}
	return r.one(ctx, c, "find tree of "+commit)
}

// CommitTree writes a commit object and returns its id, which depends only on the arguments, so a
// second call returns the same. It doesn't sign; the time zone is UTC.
func (r *Repo) CommitTree(ctx context.Context, tree string, parents []string, message string, who Identity, when time.Time) (string, error) {
	return r.commitTree(ctx, tree, parents, message, User{who, who}, when, false)
}

func (r *Repo) commitTree(ctx context.Context, tree string, parents []string, message string, user User, when time.Time, signs bool) (string, error) {
	if err := checkIDs(append([]string{tree}, parents...)...); err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	who, committer := user.Author, user.Committer
	if who.Name == "" || who.Email == "" || strings.TrimSpace(message) == "" || strings.Contains(message, "\x00") {
		return "", fmt.Errorf("commit: %w: name, email and a message without NUL are needed", ErrInvalid)
	}
	args := []string{"commit-tree", "--no-gpg-sign"}
	if signs {
		args = []string{"commit-tree", "-S"}
	}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	date := fmt.Sprintf("@%d +0000", when.Unix())
	c := gitcmd.Call{
		Args: append(args, "-F", "-", tree), Input: strings.ToValidUTF8(message, "\uFFFD"),
		Config: []string{"i18n.commitEncoding=utf-8"},
		Env: []string{
			"GIT_AUTHOR_NAME=" + who.Name, "GIT_AUTHOR_EMAIL=" + who.Email, "GIT_AUTHOR_DATE=" + date,
			"GIT_COMMITTER_NAME=" + committer.Name, "GIT_COMMITTER_EMAIL=" + committer.Email, "GIT_COMMITTER_DATE=" + date,
		},
	}
	if signs {
		c.User, c.Dir, c.Limit = true, r.git.Root, signPatience
		c.Env = append(c.Env, gitcmd.Inherited(signingVariables...)...)
	}
	out, err := r.git.Run(ctx, c)
	if err != nil {
		return "", fmt.Errorf("commit tree %s: %w", tree, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// MergeTree merges two commits without touching a checkout and returns the resulting tree. With
// conflicts, it returns the files' names and a tree that holds conflict markers.
func (r *Repo) MergeTree(ctx context.Context, base, head string) (tree string, conflicts []string, err error) {
	if err := checkIDs(base, head); err != nil {
		return "", nil, fmt.Errorf("merge: %w", err)
	}
	for _, pair := range [][2]string{{base, head}, {head, base}} {
		if r.isBehind(ctx, pair[0], pair[1]) { // only one side changed anything
			tree, err := r.TreeOf(ctx, pair[1])
			return tree, nil, err
		}
	}
	env, err := r.withoutMergeDrivers(ctx)
	if err != nil {
		return "", nil, err
	}
	args := []string{"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", base, head}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: args, Env: env, Limit: gitcmd.Slow})
	if err != nil && !gitcmd.Exited(err, 1) {
		return "", nil, fmt.Errorf("merge %s into %s: %w", head, base, err)
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if !ValidID(fields[0]) {
		return "", nil, fmt.Errorf("merge %s into %s: git printed no tree", head, base)
	}
	if err == nil {
		return fields[0], nil, nil
	}
	return fields[0], fields[1:], nil
}

// withoutMergeDrivers returns variables of a configuration in which every merge driver fails. A driver
// is a program that would run here on untrusted content; a file that wants one becomes a conflict.
func (r *Repo) withoutMergeDrivers(ctx context.Context) ([]string, error) {
	settings, err := r.configured(ctx)
	if err != nil {
		return nil, fmt.Errorf("list merge drivers: %w", err)
	}
	var names []string
	for _, s := range settings {
		if strings.HasPrefix(s.key, "merge.") && strings.HasSuffix(s.key, ".driver") {
			names = append(names, s.key)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	env := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(names))}
	for i, name := range names {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, name), fmt.Sprintf("GIT_CONFIG_VALUE_%d=false", i))
	}
	return env, nil
}

// Log lists at most limit commits that are in to but not in from, newest first. An empty from means the
// whole history.
func (r *Repo) Log(ctx context.Context, from, to string, limit int) ([]Commit, error) {
	args := []string{"rev-list", "--no-commit-header", "--format=%H%x09%an%x09%s%n%B%x00", fmt.Sprintf("--max-count=%d", limit), to}
	err := checkIDs(to)
	if from != "" {
		err = errors.Join(err, checkIDs(from))
		args = append(args, "^"+from)
	}
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: append(args, "--"), Config: []string{"i18n.logOutputEncoding=utf-8"}})
	if err != nil {
		return nil, fmt.Errorf("list commits of %s: %w", to, err)
	}
	var commits []Commit
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00\n"), "\x00\n") {
		line, message, ok := strings.Cut(entry, "\n")
		if !ok {
			continue
		}
		id, rest, _ := strings.Cut(line, "\t")
		author, subject, _ := strings.Cut(rest, "\t")
		commits = append(commits, Commit{ID: id, Author: author, Subject: subject, Message: message})
	}
	return commits, nil
}

// MergeWithSecondParent finds the commit that brought head into the branch at base: a merge in base's
// first-parent history whose second parent is head. ErrNotFound if there is none.
func (r *Repo) MergeWithSecondParent(ctx context.Context, base, head string) (string, error) {
	if err := checkIDs(base, head); err != nil {
		return "", fmt.Errorf("find merge: %w", err)
	}
	args := []string{"rev-list", "--first-parent", "--min-parents=2", "--parents", base, "^" + head, "--"}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: args})
	if err != nil {
		return "", fmt.Errorf("find merge of %s: %w", head, err)
	}
	for line := range strings.Lines(string(out)) {
		if ids := strings.Fields(line); len(ids) > 2 && ids[2] == head {
			return ids[0], nil
		}
	}
	return "", fmt.Errorf("find merge of %s: %w", head, ErrNotFound)
}
