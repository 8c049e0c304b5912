// Package login owns the loan of an agent's own login to an environment: a copy for the agent, and the return of renewed tokens and nothing else.
// It lets nothing inside write a file that the user's own sessions of the agent read, and trusts nothing it finds there.
package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/flock"
)

// Login is an agent's login in the user's HOME.
type Login struct {
	// Home is the user's home folder.
	Home string
	// Folder, below HOME, holds everything of the agent's own; File, below Folder, holds its tokens.
	Folder, File string
	// Settings are patterns below Folder for what also applies inside. Files are copied; folders are shown read-only. Conversations and everything
	// else in Folder stay outside.
	Settings []string
}

// Loan is a login lent to an environment. Between two loans the agent's conversations stay there, but no token does.
type Loan struct {
	login Login
	// keep belongs to the host alone; inside is the root of what the agent sees.
	keep   string
	inside *os.Root
	reads  map[string]string // folders of settings, by name below HOME
	unlock func()

	// at is the content of the user's file when both were last the same, and handed that of the copy.
	at, handed []byte
	end        context.CancelFunc
	ended      sync.WaitGroup
}

// insideFolder is the part of a loan's folder that the agent sees. It contains more than Login.Folder, because agents create locks beside that.
const insideFolder = "inside"

// Lend puts the login and its settings into an environment's folder, and exchanges tokens until Return. It first reclaims an interrupted loan there,
// which may be of one of the others.
func (l Login) Lend(ctx context.Context, keep string, others ...Login) (*Loan, error) {
	loan, err := l.lend(keep, append(others, l))
	if err != nil {
		return nil, fmt.Errorf("lend login ~/%s: %w", l.Folder, err)
	}
	ctx, loan.end = context.WithCancel(ctx)
	loan.ended.Go(func() {
		tick := time.NewTicker(exchangeEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = loan.exchange() // Return tries once more, and reports the error
			case <-ctx.Done():
				return
			}
		}
	})
	return loan, nil
}

// lend begins a loan. The caller holds no lock; on an error nothing is locked.
func (l Login) lend(keep string, known []Login) (_ *Loan, err error) {
	if keep == "" {
		return nil, errNowhere
	}
	if err := os.MkdirAll(filepath.Join(keep, insideFolder), 0o700); err != nil {
		return nil, err
	}
	loan := &Loan{login: l, keep: keep, reads: map[string]string{}}
	if loan.unlock, err = lock(keep); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			loan.close()
		}
	}()
	if err := reclaim(keep, known); err != nil {
		return nil, err
	}
	if loan.inside, err = openInside(keep); err != nil {
		return nil, err
	}
	if err := loan.copySettings(); err != nil {
		return nil, err
	}
	// Copy the login inside, after recording the loan.
	person, err := os.ReadFile(l.person())
	if errors.Is(err, fs.ErrNotExist) { // the agent may have another way to its model
		return loan, nil
	}
	if err == nil {
		err = loan.note(person)
	}
	if err == nil {
		err = loan.hand(person)
	}
	return loan, err
}

// Task adds the login to a task.
func (l *Loan) Task(t agent.Task) agent.Task {
	inside := filepath.Join(l.keep, insideFolder)
	t.Login = map[string]string{"~/" + l.login.Folder: filepath.Join(inside, l.login.Folder)}
	t.Writes = append(slices.Clone(t.Writes), inside)
	t.Reads = append(slices.Clone(t.Reads), slices.Sorted(maps.Values(l.reads))...)
	return t
}

// Return brings back the last renewed tokens and deletes the copy. Tokens that can't be brought back stay for Reclaim, and Return reports the error.
func (l *Loan) Return() error {
	defer l.close()
	l.end()
	l.ended.Wait()
	err := l.exchange()
	if err == nil {
		err = forget(l.keep, l.inside, l.login.tokens())
	}
	if err != nil {
		return fmt.Errorf("bring back login ~/%s: %w", l.login.Folder, err)
	}
	return nil
}

// close releases the folder for the next loan.
func (l *Loan) close() {
	if l.inside != nil {
		_ = l.inside.Close()
	}
	l.unlock()
}

// tokens returns the path of the tokens below HOME, and of their copy below inside.
func (l Login) tokens() string { return filepath.Join(l.Folder, l.File) }

// openInside opens the part that the agent sees. A repository may contain a link in its place, through which a deletion would hit the user's files.
func openInside(keep string) (*os.Root, error) {
	path := filepath.Join(keep, insideFolder)
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return nil, errors.Join(err, fmt.Errorf("%s is no folder", path))
	}
	return os.OpenRoot(path)
}

// lock locks a loan's folder for this process.
func lock(keep string) (unlock func(), err error) {
	f, err := os.Open(keep)
	if err != nil {
		return nil, err
	}
	got, err := flock.Try(f)
	if err == nil && !got {
		err = errLent
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = flock.Release(f) }, nil
}

// errNowhere: there is no environment to lend it to.
var errNowhere = errors.New("there is no folder to keep it in")

// errLent: another call of the same environment uses the login.
var errLent = errors.New("it is lent to another call in this environment")

// record is what Reclaim has to know about a loan. Nothing inside can write to it.
type record struct {
	// Person is the path of the user's file, and Copy that of the copy, below the inside folder.
	Person string `json:"person"`
	Copy   string `json:"copy"`
	// At is a digest of the content of the user's file when both were last the same.
	At string `json:"at"`
}

// recordFile is beside the part that the agent sees.
const recordFile = "loan.json"

// note records the loan, with the content that the user's file has now.
func (l *Loan) note(at []byte) error {
	text, err := json.Marshal(record{Person: l.login.person(), Copy: l.login.tokens(), At: digest(at)})
	if err != nil {
		return err
	}
	return replace(filepath.Join(l.keep, recordFile), text)
}

// forget deletes a copy and its record.
func forget(keep string, inside *os.Root, tokens string) error {
	err := makeFolder(inside, filepath.Dir(tokens)) // otherwise what is there can't be known
	if err == nil {
		err = inside.RemoveAll(tokens)
	}
	if err == nil {
		err = os.Remove(filepath.Join(keep, recordFile))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Reclaim ends the loans in these folders whose process was killed: it returns renewed tokens to the files of known logins and to no others, because
// a repository may contain the record of a loan that never existed. It leaves active loans, and folders without one, as they are.
func Reclaim(known []Login, keeps ...string) (err error) {
	for _, keep := range keeps {
		unlock, errLock := lock(keep)
		if errLock != nil {
			continue
		}
		err = errors.Join(err, reclaim(keep, known))
		unlock()
	}
	return err
}

// reclaim ends one such loan. The caller holds the folder's lock.
func reclaim(keep string, known []Login) error {
	text, err := os.ReadFile(filepath.Join(keep, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var r record
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return fmt.Errorf("read what was lent: %w", err)
	}
	if !slices.ContainsFunc(known, func(l Login) bool { return l.person() == r.Person && l.tokens() == r.Copy }) {
		return fmt.Errorf("%s records a login at %q, where no known agent has one; if you miss none, remove that file", filepath.Join(keep, recordFile), r.Person)
	}
	inside, err := openInside(keep)
	if err != nil {
		return err
	}
	defer func() { _ = inside.Close() }()
	person, errPerson := os.ReadFile(r.Person) // it may be gone
	back, errBack := readInside(inside, r.Copy)
	if errPerson == nil && errBack == nil && digest(person) == r.At {
		if merged, changed := renewed(person, back); changed {
			if err := replace(r.Person, merged); err != nil {
				return fmt.Errorf("bring back login: %w", err)
			}
		}
	}
	return forget(keep, inside, r.Copy)
}
