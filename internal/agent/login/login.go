// Package login owns an agent's own login while it is lent to an environment:
// a copy that the agent works with, and what comes back of it, which is renewed
// tokens and nothing else. It refuses to let the inside write anything that a
// person's own sessions of the agent would read, and trusts nothing it finds there.
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

	"signalbox/internal/agent"
	"signalbox/internal/flock"
)

// Login is an agent's own as it lies in a person's HOME.
type Login struct {
	// Home is the person's.
	Home string
	// Folder, below HOME, is where the agent keeps all that is its own, File, below Folder, its tokens.
	Folder, File string
	// Settings, patterns below Folder, are what counts inside as well. Files are copied and folders shown
	// as they are, which the inside cannot write. Conversations and whatever else lies there stay outside.
	Settings []string
}

// Loan is a login in an environment. Between two loans the agent's conversations stay there, and no token.
type Loan struct {
	login Login
	// keep is the host's alone, inside the root of what the agent sees.
	keep   string
	inside *os.Root
	reads  map[string]string // by name below HOME, folders of settings
	unlock func()

	// at is what the person's file held when both were last the same, and handed what the copy did.
	at, handed []byte
	end        context.CancelFunc
	ended      sync.WaitGroup
}

// insideFolder is what the agent sees of the folder that a loan has. It is more than Login.Folder, since
// agents lay locks beside that.
const insideFolder = "inside"

// Lend lays the login and its settings into a folder that goes with an environment, and exchanges
// tokens until Return. What a loan that was cut off left there is settled before; it may be one of others.
func (l Login) Lend(ctx context.Context, keep string, others ...Login) (*Loan, error) {
	loan, err := l.lend(keep, append(others, l))
	if err != nil {
		return nil, fmt.Errorf("lend login ~/%s: %w", l.Folder, err)
	}
	ctx, loan.end = context.WithCancel(ctx)
	loan.ended.Go(func() { loan.exchanging(ctx) })
	return loan, nil
}

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
	if err := settle(keep, known); err != nil {
		return nil, err
	}
	if loan.inside, err = openInside(keep); err != nil {
		return nil, err
	}
	if err := loan.lay(); err != nil {
		return nil, err
	}
	return loan, loan.begin()
}

// Task shows the login to a task.
func (l *Loan) Task(t agent.Task) agent.Task {
	inside := filepath.Join(l.keep, insideFolder)
	t.Login = map[string]string{"~/" + l.login.Folder: filepath.Join(inside, l.login.Folder)}
	t.Writes = append(slices.Clone(t.Writes), inside)
	t.Reads = append(slices.Clone(t.Reads), slices.Sorted(maps.Values(l.reads))...)
	return t
}

// Return brings back what was renewed last, and takes the copy away. What cannot be brought back stays
// for Settle, and is an error.
func (l *Loan) Return() error {
	defer l.close()
	l.end()
	l.ended.Wait()
	err := l.exchange()
	if err == nil {
		err = forget(l.keep, l.inside, l.tokens())
	}
	if err != nil {
		return fmt.Errorf("bring back login ~/%s: %w", l.login.Folder, err)
	}
	return nil
}

func (l *Loan) close() {
	if l.inside != nil {
		_ = l.inside.Close()
	}
	l.unlock()
}

// tokens returns where the copy lies, below inside.
func (l *Loan) tokens() string { return l.login.tokens() }

func (l Login) tokens() string { return filepath.Join(l.Folder, l.File) }

// openInside opens what the agent sees. A repository may bring a link in its place, by which what is removed
// there would be a person's.
func openInside(keep string) (*os.Root, error) {
	path := filepath.Join(keep, insideFolder)
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return nil, errors.Join(err, fmt.Errorf("%s is no folder", path))
	}
	return os.OpenRoot(path)
}

// lock holds a loan's folder for this process.
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

// errNowhere: there is no environment that it could be lent to.
var errNowhere = errors.New("there is no folder to keep it in")

// errLent: another call of the same environment works with the login.
var errLent = errors.New("it is lent to another call in this environment")

// record is what Settle must know of a loan. It lies where nothing inside can write.
type record struct {
	// Person is the person's file, Copy that below the inside folder.
	Person string `json:"person"`
	Copy   string `json:"copy"`
	// At is a digest of what the person's file held when both were last the same.
	At string `json:"at"`
}

const recordFile = "loan.json"

func (l *Loan) note(at []byte) error {
	text, err := json.Marshal(record{Person: l.person(), Copy: l.tokens(), At: digest(at)})
	if err != nil {
		return err
	}
	return replace(filepath.Join(l.keep, recordFile), text)
}

// forget takes a copy away, and the word of it.
func forget(keep string, inside *os.Root, tokens string) error {
	err := makeFolder(inside, filepath.Dir(tokens)) // or it cannot be said what lies there
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

// Settle ends the loans in these folders whose process was killed: it returns renewed tokens to the files of known logins and to no others, because
// a repository may contain the record of a loan that never existed. It leaves active loans, and folders without one, as they are.
func Settle(known []Login, keeps ...string) (err error) {
	for _, keep := range keeps {
		unlock, errLock := lock(keep)
		if errLock != nil {
			continue
		}
		err = errors.Join(err, settle(keep, known))
		unlock()
	}
	return err
}

func settle(keep string, known []Login) error {
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
		return fmt.Errorf("%s tells of a login at %q, where no known agent has one; if none is missing to you, remove that file", filepath.Join(keep, recordFile), r.Person)
	}
	inside, err := openInside(keep)
	if err != nil {
		return err
	}
	defer func() { _ = inside.Close() }()
	person, errPerson := os.ReadFile(r.Person) // which may be gone
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
