package hosted

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/store"
)

// remarks are our comments on an issue or a pull request, by key, and what else was announced there.
type remarks struct {
	Remarks map[string]remark `json:"remarks"`
	// Asked are the reviewers who were asked.
	Asked []string `json:"asked,omitempty"`
	// Label is the state label that the issue was given last.
	Label forge.StateLabel `json:"label,omitempty"`
	// Published are our verdicts on Commit, by name.
	Commit    string            `json:"commit,omitempty"`
	Published map[string]string `json:"published,omitempty"`
}

// remark is one comment as this machine wrote it last.
type remark struct {
	ID int64 `json:"id"`
	// Sum is the SHA-256 of the text, so that writing it again costs no call.
	Sum string `json:"sum"`
	// Call: it asks for a person. Settled: none is needed any more, and the comment is hidden if the server can.
	Call    bool `json:"call,omitempty"`
	Settled bool `json:"settled,omitempty"`
}

// Comment writes a comment on the request, or edits the one with this key in place.
func (f *Forge) Comment(ctx context.Context, request forge.Request, key, body string) error {
	if key == "" {
		return fmt.Errorf("comment on issue %d: the comment has no key", request.Number)
	}
	if err := f.remark(ctx, forge.OnIssue(request.Number), key, body); err != nil {
		return fmt.Errorf("comment on issue %d: %w", request.Number, err)
	}
	return nil
}

// recordOf names the record of our comments. It keeps issue 5 and pull request 5 apart, which are two things on GitLab.
func recordOf(on forge.Subject) string {
	if on.Pull {
		return "pull-" + strconv.Itoa(on.Number)
	}
	return strconv.Itoa(on.Number)
}

func (f *Forge) remark(ctx context.Context, on forge.Subject, key, body string) error {
	mark := mark("comment", key)
	return f.keep(ctx, on, key, mark, marked(mark, body), remark{})
}

func (f *Forge) record(on forge.Subject) *store.Document[remarks] {
	return store.Record[remarks](f.Store, issuesKind, recordOf(on))
}

// keep writes the comment with this key, or edits it if its text is another one.
func (f *Forge) keep(ctx context.Context, on forge.Subject, key, mark, text string, now remark) error {
	sum := sha256.Sum256([]byte(text))
	now.Sum = hex.EncodeToString(sum[:])
	record := f.record(on)
	all, err := record.Load(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known, edit := all.Remarks[key]
	if edit && known.Sum == now.Sum {
		return nil
	}
	if edit {
		now.ID, err = known.ID, f.Server.EditRemark(ctx, on, known.ID, text)
		edit = !errors.Is(err, forge.ErrNotFound) // or a person deleted it
	}
	if edit && err != nil {
		return err
	}
	return record.Update(ctx, func(all *remarks) (err error) {
		if !edit {
			now.ID, err = f.write(ctx, on, mark, text)
		}
		if all.Remarks == nil {
			all.Remarks = map[string]remark{}
		}
		all.Remarks[key] = now
		return err
	})
}

// write edits our comment that begins with the marker, or writes it. The caller's lock keeps processes of this machine from writing two.
func (f *Forge) write(ctx context.Context, on forge.Subject, mark, text string) (int64, error) {
	me, err := f.account(ctx)
	if err != nil {
		return 0, err
	}
	there, err := f.Server.Remarks(ctx, on)
	if err != nil {
		return 0, err
	}
	for _, r := range there {
		if r.Author != me.Name || !strings.HasPrefix(r.Body, mark) {
			continue
		}
		if r.Body == text {
			return r.ID, nil
		}
		return r.ID, f.Server.EditRemark(ctx, on, r.ID, text)
	}
	written, err := f.Server.CreateRemark(ctx, on, text)
	return written.ID, err
}
