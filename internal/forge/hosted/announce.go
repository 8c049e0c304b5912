package hosted

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"signalbox/internal/forge"
)

// Announce tells people on the server how a run stands. What was announced is recorded here, so that it costs a call only once; what the record
// lacks is found by its marker, or changes nothing if it is sent again.
func (f *Forge) Announce(ctx context.Context, request forge.Request, a forge.Announcement) error {
	on := forge.OnIssue(request.Number)
	var all error
	for _, announce := range []func(context.Context, forge.Subject, forge.Announcement) error{f.callPerson, f.showProgress, f.settle, f.label, f.publish} {
		err := announce(ctx, on, a)
		if err == nil {
			continue
		}
		all = errors.Join(all, err)
		if failed := (*forge.Failure)(nil); ctx.Err() != nil || errors.As(err, &failed) && !permanent(failed) {
			break // the next call would be refused, too
		}
	}
	if all != nil {
		return fmt.Errorf("announce run %s on %s: %w", a.Run, on, all)
	}
	return nil
}

// permanent reports whether the server would refuse the same again.
func permanent(f *forge.Failure) bool { return f.Kind == forge.Refused || f.Kind == forge.Forbidden }

// unlessRefused logs what the server refuses for good, so that it isn't asked again for the same.
func (f *Forge) unlessRefused(ctx context.Context, doing string, err error) error {
	if failed := (*forge.Failure)(nil); errors.As(err, &failed) && permanent(failed) {
		f.Logger.WarnContext(ctx, doing, "err", err)
		return nil
	}
	return err
}

// announced is what was announced on an issue as far as this machine knows.
func (f *Forge) announced(ctx context.Context, on forge.Subject) (remarks, error) {
	all, err := f.record(on).Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return all, err
}

// callPerson writes a comment of its own, once: what it was answered with may have changed the run since.
func (f *Forge) callPerson(ctx context.Context, on forge.Subject, a forge.Announcement) error {
	if a.Call == nil {
		return nil
	}
	all, err := f.announced(ctx, on)
	if _, known := all.Remarks[a.Call.Key]; known || err != nil {
		return err
	}
	mark := mark("comment", a.Call.Key)
	if err := f.keep(ctx, on, a.Call.Key, mark, marked(mark, a.Call.Body), remark{Call: true}); err != nil {
		return fmt.Errorf("call a person: %w", err)
	}
	return nil
}

// showProgress edits the progress comment. Its part for programs comes first, where no text that was cut can swallow it.
func (f *Forge) showProgress(ctx context.Context, on forge.Subject, a forge.Announcement) error {
	mark := mark("comment", forge.ProgressComment)
	if err := f.keep(ctx, on, forge.ProgressComment, mark, marked(mark+"\n"+dataMark(a.Data), a.Progress), remark{}); err != nil {
		return fmt.Errorf("show the progress: %w", err)
	}
	return nil
}

// settle hides the calls for a person that were answered: the run is elsewhere now.
func (f *Forge) settle(ctx context.Context, on forge.Subject, a forge.Announcement) error {
	all, err := f.announced(ctx, on)
	if err != nil {
		return err
	}
	hide := func(ctx context.Context, r forge.Remark) error { return f.fold(ctx, r, a.Answered) }
	if minimizer, can := f.Server.(forge.Minimizer); can {
		hide = minimizer.Minimize
	}
	for key, r := range all.Remarks {
		if !r.Call || r.Settled || a.Call != nil && a.Call.Key == key {
			continue
		}
		err := hide(ctx, forge.Remark{ID: r.ID, On: on})
		if errors.Is(err, forge.ErrNotFound) { // a person deleted it
			err = nil
		}
		if err = f.unlessRefused(ctx, "hide a comment that was answered", err); err != nil {
			return fmt.Errorf("hide comment %d: %w", r.ID, err)
		}
		r.Settled = true
		if err := f.record(on).Update(ctx, func(all *remarks) error { all.Remarks[key] = r; return nil }); err != nil {
			return err
		}
	}
	return nil
}

// fold leaves only the title of a comment of ours to see, and the rest to open.
func (f *Forge) fold(ctx context.Context, call forge.Remark, title string) error {
	there, err := f.Server.Remarks(ctx, call.On)
	if err != nil {
		return err
	}
	for _, r := range there {
		mark, body, _ := strings.Cut(r.Body, "\n")
		opening := "<details><summary>" + title + "</summary>\n\n"
		if r.ID == call.ID && !strings.HasPrefix(strings.TrimSpace(body), opening) {
			return f.Server.EditRemark(ctx, call.On, call.ID, mark+"\n"+opening+strings.TrimSpace(body)+"\n\n</details>\n")
		}
	}
	return nil
}

// label gives the issue the one label that says how its run stands. A label that a person changed stays as it is until the run's state is another.
func (f *Forge) label(ctx context.Context, on forge.Subject, a forge.Announcement) error {
	labeler, can := f.Server.(forge.Labeler)
	if !can || !f.Labels {
		return nil
	}
	all, err := f.announced(ctx, on)
	if err != nil || all.Label == a.Label {
		return err
	}
	var add, remove []string
	for _, label := range forge.StateLabels {
		if label == a.Label {
			add = append(add, string(label))
		} else {
			remove = append(remove, string(label))
		}
	}
	if err := f.unlessRefused(ctx, "label the issue", labeler.Label(ctx, on, add, remove)); err != nil {
		return fmt.Errorf("label it %s: %w", a.Label, err)
	}
	return f.record(on).Update(ctx, func(all *remarks) error { all.Label = a.Label; return nil })
}

// publish writes our own verdicts on the head of the pull request, once it is pushed.
func (f *Forge) publish(ctx context.Context, on forge.Subject, a forge.Announcement) error {
	publisher, can := f.Server.(forge.Publisher)
	if !can || !f.Statuses || a.Pull == 0 || a.Head == "" {
		return nil
	}
	pr, err := f.Git.PullRequest(ctx, a.Pull)
	if err != nil || pr.Head != a.Head {
		return err
	}
	all, err := f.announced(ctx, on)
	if err != nil {
		return err
	}
	if all.Commit != a.Head {
		all.Published = nil
	}
	for _, v := range a.Verdicts {
		v.Page = pr.URL
		said := string(v.State) + " " + v.Summary
		if all.Published[v.Name] == said {
			continue
		}
		if err := f.unlessRefused(ctx, "publish a verdict", publisher.Publish(ctx, a.Head, v)); err != nil {
			return fmt.Errorf("publish %s: %w", v.Name, err)
		}
		err := f.record(on).Update(ctx, func(all *remarks) error {
			if all.Commit != a.Head || all.Published == nil {
				all.Commit, all.Published = a.Head, map[string]string{}
			}
			all.Published[v.Name] = said
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ofOthers returns what is required and what was reported, without our own verdicts: what we say ourselves is no news, and no sign that there is a
// CI. If we publish them, a protection that requires one is met by us. If we don't, the one that it requires is someone else's, and counts.
func (f *Forge) ofOthers(required []string, verdicts []forge.Verdict) ([]string, []forge.Verdict) {
	asksForOurs := func(name string) bool { return slices.Contains(forge.OwnVerdicts, name) || name == "signalbox/*" }
	ours := func(v forge.Verdict) bool { return slices.Contains(forge.OwnVerdicts, v.Name) }
	if f.Statuses {
		theirs := slices.DeleteFunc(slices.Clone(verdicts), ours)
		return slices.DeleteFunc(slices.Clone(required), func(name string) bool {
			return asksForOurs(name) && !slices.ContainsFunc(theirs, func(v forge.Verdict) bool { return matches(name, v.Name) })
		}), theirs
	}
	return required, slices.DeleteFunc(slices.Clone(verdicts), func(v forge.Verdict) bool {
		return ours(v) && !slices.ContainsFunc(required, func(name string) bool { return asksForOurs(name) && matches(name, v.Name) })
	})
}
