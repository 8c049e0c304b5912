package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/git"
	"signalbox/internal/process"
)

// Record implements environment.Environment. The clock dates the commit, but recording the same content on the same parent
// again returns the first commit.
func (e *Environment) Record(ctx context.Context, parent, message string) (change environment.Change, err error) {
	defer func() {
		if err != nil {
			change, err = environment.Change{}, fmt.Errorf("record environment %s: %w", e.spec.ID, err)
		}
	}()
	m, err := e.marker()
	if err != nil {
		return environment.Change{}, err
	}
	before, err := e.driver.config.Repo.TreeOf(ctx, parent)
	if err != nil {
		return environment.Change{}, err
	}
	tree, err := e.tree(ctx, parent, listScript)
	if err != nil {
		return environment.Change{}, err
	}
	change = environment.Change{Commit: parent, Tree: tree, Changed: tree != before}
	if change.Changed {
		if err := e.commit(ctx, m, tree, parent, message); err != nil {
			return environment.Change{}, err
		}
		change.Commit = m.Recorded.Commit
	}
	m.Head = change.Commit
	return change, errors.Join(e.restoreSubmodules(ctx, m), e.layout.save(m))
}

// restoreSubmodules undoes changes to files of submodules. No commit contains them, and the tests must test the commit. If the
// submodules of a new commit are missing, the next call that needs the environment at that commit reports it.
func (e *Environment) restoreSubmodules(ctx context.Context, m *made) error {
	if len(m.Submodules) == 0 {
		return nil
	}
	submodules, err := e.wanted(ctx, m.Head)
	if missing := (*environment.SubmoduleError)(nil); errors.As(err, &missing) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := e.place(ctx, m, e.layout.work, submodules); err == nil || ctx.Err() != nil {
		return err
	}
	return e.rebuild(ctx, m) // a command may have removed our right to write there
}

// marker returns the environment's marker, which exists once Make has returned.
func (e *Environment) marker() (*made, error) {
	m, err := e.layout.load()
	if err == nil && m == nil {
		err = fmt.Errorf("read environment marker %s: %w", e.layout.marker, fs.ErrNotExist)
	}
	return m, err
}

// commit brings a tree into the project's repository. It notes the commit first, so that a repetition after a crash imports the
// same one.
func (e *Environment) commit(ctx context.Context, m *made, tree, parent, message string) error {
	if r := m.Recorded; r.Parent == parent && r.Tree == tree && r.Message == message && e.importCommit(ctx, r.Commit, parent) == nil {
		return nil
	}
	id, err := e.commitTree(ctx, tree, message, parent)
	if err != nil {
		return err
	}
	repo := e.driver.config.Repo
	switch signs, err := repo.Signs(ctx, e.driver.config.Sign); {
	case err != nil:
		return err
	case signs: // the project's own repository knows how, and needs the checked objects of the unsigned commit first
		if err := e.importCommit(ctx, id, parent); err != nil {
			return err
		}
		if id, err = repo.CommitAs(ctx, tree, []string{parent}, message, e.driver.config.Clock(), git.SignAlways); err != nil {
			return err
		}
	}
	m.Recorded = recorded{Parent: parent, Tree: tree, Message: message, Commit: id}
	if err := e.layout.save(m); err != nil {
		return err
	}
	return e.importCommit(ctx, id, parent)
}

// commitTree makes a commit in the import repository.
func (e *Environment) commitTree(ctx context.Context, tree, message string, parents ...string) (string, error) {
	args := []string{"commit-tree", "--no-gpg-sign", "-F", "-"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	who, err := e.driver.user(ctx)
	if err != nil {
		return "", err
	}
	date := fmt.Sprintf("@%d +0000", e.driver.config.Clock().Unix())
	id, err := e.driver.git.Run(ctx, process.Command{
		Args: append(args, tree), Stdin: strings.NewReader(message), Env: []string{
			"GIT_DIR=" + e.layout.importGit,
			"GIT_AUTHOR_NAME=" + who.Author.Name, "GIT_AUTHOR_EMAIL=" + who.Author.Email, "GIT_AUTHOR_DATE=" + date,
			"GIT_COMMITTER_NAME=" + who.Committer.Name, "GIT_COMMITTER_EMAIL=" + who.Committer.Email, "GIT_COMMITTER_DATE=" + date,
		}})
	if err != nil {
		return "", fmt.Errorf("commit tree %s: %w", tree, err)
	}
	return objectID(id)
}

// user returns the author and committer of recorded commits.
func (d *Driver) user(ctx context.Context) (git.User, error) {
	if who := d.config.Identity; who != (git.Identity{}) {
		return git.User{Author: who, Committer: who}, nil
	}
	user, err := d.config.Repo.User(ctx)
	if errors.Is(err, git.ErrNoIdentity) {
		return git.User{Author: DefaultIdentity, Committer: DefaultIdentity}, nil
	}
	return user, err
}

// importCommit fetches a commit, its objects checked, and keeps it on the environment's ref.
func (e *Environment) importCommit(ctx context.Context, id string, parents ...string) error {
	return e.driver.config.Repo.FetchObjects(ctx, e.layout.importGit, id, importRefs+e.spec.ID, parents...)
}

// importRefs begins the name of the ref that points at the commit last imported from an environment.
const importRefs = "refs/signalbox/environments/"
