package environments

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/containeruse"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
)

// ContainerUse records in environments.json what an agent does with container-use. Signalbox can't delete its environments, so one that can't
// be recorded is named instead.
type ContainerUse struct {
	Opener *app.Opener
	// Issue is the issue of every environment that is created; with 0 the call's title, ref or explanation names it.
	Issue int
}

// creating is an environment that is being made: what is left if this program is killed before the answer comes.
type creating struct {
	Title string    `json:"title"`
	Issue int       `json:"issue_number"`
	Since time.Time `json:"since"`
}

// maxCreating bounds the calls that are remembered, the newest ones.
const maxCreating = 100

// wanted are the environments that are being made.
type wanted struct {
	Creating []creating `json:"creating,omitempty"`
}

func wantedOf(s *store.Store) *store.Document[wanted] {
	return store.Record[wanted](s, "environments", "container-use")
}

// Called records a call before the server gets it.
func (c ContainerUse) Called(ctx context.Context, call containeruse.Call) error {
	issue := c.issue(call.Issue)
	if !call.Creates() || issue == 0 {
		return nil
	}
	return c.withStore(ctx, func(s *store.Store) error {
		return wantedOf(s).Update(ctx, func(w *wanted) error {
			w.Creating = append(w.Creating, creating{call.Title, issue, c.Opener.Now().UTC()})
			w.Creating = w.Creating[max(0, len(w.Creating)-maxCreating):]
			return nil
		})
	})
}

// Answered records a call that was answered, before the agent sees the answer.
func (c ContainerUse) Answered(ctx context.Context, d containeruse.Done) error {
	if d.Failed && !d.Creates() || d.EnvID == "" && !d.Failed {
		return nil
	}
	return c.withStore(ctx, func(s *store.Store) error {
		issue := c.issue(d.Issue)
		if run, err := runOf(ctx, s, d.EnvID); err != nil || run != nil { // a run keeps its entry itself
			return err
		}
		if !d.Failed {
			if err := c.used(ctx, s, d, issue); err != nil {
				return err
			}
		}
		if !d.Creates() || issue == 0 {
			return nil
		}
		return forget(ctx, s, d.Title, issue)
	})
}

// used records that an environment was used, and adds its entry if it has none.
func (c ContainerUse) used(ctx context.Context, s *store.Store, d containeruse.Done, issue int) error {
	return s.Environments().Update(ctx, func(doc *registry.Environments) error {
		e, err := doc.Find(d.EnvID)
		if errors.Is(err, registry.ErrNoEnvironment) {
			if issue == 0 {
				return fmt.Errorf("environment %s isn't recorded, because nothing says which issue it is for; name it: signalbox env add %[1]s ISSUE %s TITLE",
					d.EnvID, containeruse.Branch(d.EnvID))
			}
			return register(doc, d.EnvID, d.Title, issue, c.Opener.Now())
		}
		if err == nil {
			e.Touch(c.Opener.Now())
		}
		return err
	})
}

func register(doc *registry.Environments, id, title string, issue int, now time.Time) error {
	if title = redact.Line(title, 200); title == "" {
		title = id
	}
	return doc.Register(registry.Environment{EnvID: id, IssueNumber: issue, Branch: containeruse.Branch(id), Title: title}, now)
}

// forget drops one call that made an environment, or failed to.
func forget(ctx context.Context, s *store.Store, title string, issue int) error {
	return wantedOf(s).Update(ctx, func(w *wanted) error {
		if i := slices.IndexFunc(w.Creating, func(x creating) bool { return x.Title == title && x.Issue == issue }); i >= 0 {
			w.Creating = slices.Delete(w.Creating, i, i+1)
		}
		return nil
	})
}

func (c ContainerUse) issue(named int) int {
	if c.Issue != 0 {
		return c.Issue
	}
	return named
}

func (c ContainerUse) withStore(ctx context.Context, do func(*store.Store) error) (err error) {
	s, err := c.Opener.OpenStore(ctx)
	if err != nil {
		return wire.Explained(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return wire.Explained(do(s))
}

// Synced is how environments.json compares with the environments of container-use.
type Synced struct {
	// Added were recorded now.
	Added []registry.Environment `json:"added"`
	// Unknown can't be recorded: nothing says which issue they are for.
	Unknown []containeruse.Environment `json:"unknown"`
	// Gone are recorded, and container-use has them no longer.
	Gone []registry.Environment `json:"gone"`
}

// SyncContainerUse records the environments of container-use that were made without Signalbox, or while it was killed.
func SyncContainerUse(ctx context.Context, p *app.App) (done Synced, err error) {
	done = Synced{[]registry.Environment{}, []containeruse.Environment{}, []registry.Environment{}}
	all, err := containeruse.List(ctx, p.Repo)
	if err != nil {
		return done, wire.Explained(err)
	}
	asked, err := wantedOf(p.Store).Load(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, wire.Explained(err)
	}
	there := map[string]bool{}
	for _, e := range all {
		there[e.ID] = true
	}
	err = p.Store.Environments().Update(ctx, func(doc *registry.Environments) error {
		done.Added, done.Unknown, done.Gone = done.Added[:0], done.Unknown[:0], done.Gone[:0]
		for _, e := range doc.Environments {
			if id := containeruse.EnvOf(e.Branch); id != "" && !there[id] {
				done.Gone = append(done.Gone, e)
			}
		}
		for _, e := range all {
			if _, err := doc.Find(e.ID); err == nil {
				continue
			}
			issue := containeruse.IssueIn(e.Title)
			if i := slices.IndexFunc(asked.Creating, func(x creating) bool { return x.Title == e.Title }); i >= 0 {
				issue = asked.Creating[i].Issue
			}
			if issue == 0 || register(doc, e.ID, e.Title, issue, p.Now()) != nil {
				done.Unknown = append(done.Unknown, e)
				continue
			}
			added := &doc.Environments[len(doc.Environments)-1]
			if !e.Created.IsZero() {
				added.CreatedAt, added.LastUsedAt = e.Created.UTC().Truncate(time.Second), e.Updated.UTC().Truncate(time.Second)
			}
			done.Added = append(done.Added, *added)
		}
		return nil
	})
	for _, e := range done.Added {
		err = errors.Join(err, forget(ctx, p.Store, e.Title, e.IssueNumber))
	}
	return done, wire.Explained(err)
}
