package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"signalbox/internal/commandline"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// lookAtRequests reports the prompts and the requests among the project's files.
func (p *examination) lookAtRequests(ctx context.Context, add func(Finding)) {
	if own, err := p.Prompts(); err != nil {
		add(Finding{"prompts", VerdictMissing, err.Error(), "fix the file below " + wire.PromptsDir})
	} else if len(own) > 0 {
		add(Finding{What: "prompts", Verdict: VerdictOK, Says: commandline.Count(len(own), "prompt") + " of the project's own in " + wire.PromptsDir})
	}
	requests, err := p.Forge.Requests(ctx)
	for _, err := range each(err) {
		add(findingOf("requests", wire.Explained(err)))
	}
	add(Finding{What: "requests", Verdict: VerdictOK, Says: fmt.Sprintf("%d in requests/", len(requests))})
	for _, r := range requests {
		if !r.Closed {
			p.lookAtRequest(ctx, r, requests, add)
		}
	}
	var base *problem.Error
	if errors.As(p.MayMergeInto(ctx, p.Config.Base, forge.Request{}), &base) && p.Config.Base != "" && base.Hint != wire.FirstCommit { // lookAtRepository reports that one
		add(Finding{"base", VerdictMissing, base.Error(), base.Hint})
	}
}

// each returns the errors that errors.Join put together.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // only what was joined here
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// lookAtDocuments reports the folders of documents that can't be written, and the documents of the whole project that can't be read.
func (p *examination) lookAtDocuments(ctx context.Context, add func(Finding)) {
	for _, name := range []string{".", ".signalbox", ".worktrees", "runs"} {
		if err := unix.Access(p.Root+"/"+name+"/.", unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			add(findingOf("files", wire.Explained(&fs.PathError{Op: "write to", Path: name, Err: err})))
		}
	}
	_, environments := p.Store.Environments().Load(ctx)
	_, health := p.Store.Health().Load(ctx)
	for _, err := range []error{environments, health} {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			add(findingOf("document", wire.Explained(err)))
		}
	}
}

func (p *examination) lookAtRuns(ctx context.Context, add func(Finding)) {
	runs, err := p.Latest(ctx)
	if err != nil {
		add(findingOf("runs", err))
		return
	}
	for _, r := range runs {
		if r.Err != nil {
			add(Finding{"run", VerdictMissing, r.Err.Error(), "the file is kept as it is: fix it by hand, or move its folder away"})
			continue
		}
		_, held, err := p.Held(ctx, r.Ref.RequestID)
		if err == nil && !held && (r.Run.State == workflow.Running || r.Run.State == workflow.Queued) {
			add(Finding{"run " + r.Run.Ref(), VerdictWarning, "no process runs it: it was cut off", "signalbox resume " + r.Run.Ref()})
		}
	}
}

// lookAtMounts reports the environments' folders that are mounted: until they are unmounted, the project's folder can't be deleted.
func (p *examination) lookAtMounts(add func(Finding)) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return // this system has no such table
	}
	var found []string // below the project's folder, in the format of mountinfo
	plain := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(table)) {
		before, after, _ := strings.Cut(line, " - ")
		place, kind := strings.Fields(before), strings.Fields(after)
		if len(place) < 5 || len(kind) < 2 || kind[0] != "overlay" || kind[1] != "signalbox" {
			continue
		}
		if below, ok := strings.CutPrefix(plain.Replace(place[4]), p.Root+"/"); ok {
			found = append(found, below)
		}
	}
	if len(found) > 0 {
		add(Finding{"mounts", VerdictOK, fmt.Sprintf("%s mounted here: %s", commandline.Count(len(found), "folder"), strings.Join(found, ", ")),
			"before you delete the project's folder: signalbox env remove --all"})
	}
}
