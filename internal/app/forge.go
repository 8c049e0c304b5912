package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// ForgeIssue is one line of list --forge, and one object of its JSON.
type ForgeIssue struct {
	Number int      `json:"number"`
	Title  string   `json:"title"`
	Author string   `json:"author"`
	Labels []string `json:"labels"`
	URL    string   `json:"url"`
	// Priority and Size are what the labels say; empty if they don't.
	Priority string `json:"priority,omitempty"`
	Size     string `json:"size,omitempty"`
	// UpdatedAt is when anything about the issue changed.
	UpdatedAt time.Time `json:"updated_at"`
	// RunID and State are of its latest run here; empty if there is none.
	RunID string         `json:"run_id,omitempty"`
	State workflow.State `json:"state,omitempty"`
}

// ForgeIssues lists the open issues of the forge that match, newest first, with their runs here.
func (p *App) ForgeIssues(ctx context.Context, q forge.Query) ([]ForgeIssue, error) {
	if p.ConfigError != nil {
		return nil, p.ConfigError
	}
	if p.Hosted == nil {
		return nil, &problem.Error{Err: errors.New("requests are files here: no forge is configured"), Code: problem.Usage,
			Hint: `list them: signalbox list; or add "forge: {driver: github}" to ` + config.Name}
	}
	issues, err := p.Hosted.Issues(ctx, q)
	if err != nil {
		return nil, wire.Explained(err)
	}
	latest, err := p.Latest(ctx)
	if err != nil {
		return nil, err
	}
	runs := map[string]*workflow.Run{}
	for i := range latest {
		if latest[i].Err == nil {
			runs[latest[i].Ref.RequestID] = &latest[i].Run
		}
	}
	lines := make([]ForgeIssue, 0, len(issues))
	for _, issue := range issues {
		line := ForgeIssue{Number: issue.Number, Title: issue.Title, Author: issue.Author, Labels: append([]string{}, issue.Labels...), URL: issue.Page, UpdatedAt: issue.UpdatedAt,
			Priority: forge.PriorityOf(issue.Labels), Size: forge.SizeOf(issue.Labels)}
		if run := runs[fmt.Sprint(issue.Number)]; run != nil {
			line.RunID, line.State = run.RunID, run.State
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// soon is how long a person waits for a completion.
const soon = 2 * time.Second

// OpenIssues are the open issues of the forge, if it answers soon.
func (p *App) OpenIssues(ctx context.Context) (requests []forge.Request) {
	if p.Hosted == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	issues, err := p.Hosted.Issues(ctx, forge.Query{})
	if err != nil {
		return nil // list --forge says why
	}
	for _, issue := range issues {
		requests = append(requests, forge.Request{ID: fmt.Sprint(issue.Number), Number: issue.Number, Title: issue.Title})
	}
	return requests
}

// Named is the request that a person names by its number, its id, its file or its address.
func (p *App) Named(ctx context.Context, ref string) (forge.Request, error) {
	found, err := forge.Find(ctx, p.Forge, p.FromHere(ref))
	if err != nil {
		return forge.Request{}, err
	}
	return found[0], nil
}

// NameOf is what to type for a request. Beside the issues of a forge, the number of a file may be that of an issue.
func (p *App) NameOf(request forge.Request) string {
	if p.Hosted != nil && request.Path != "" {
		return request.ID
	}
	return fmt.Sprint(request.Number)
}

// numberIsFree refuses a request whose number carries the branches, environments and statuses of another one's run. Among files alone, no two
// have the same number.
func (p *App) numberIsFree(ctx context.Context, request forge.Request) error {
	if p.Hosted == nil {
		return nil
	}
	latest, err := p.Latest(ctx)
	if err != nil {
		return err
	}
	for i := range latest {
		other := &latest[i].Run
		if latest[i].Err == nil && other.Details.Number == request.Number && latest[i].Ref.RequestID != request.ID && !other.State.Final() {
			return &problem.Error{Err: fmt.Errorf("number %d belongs to the run of request %s, which is not finished", request.Number, latest[i].Ref.RequestID),
				Hint: "finish that one first: " + commandline.For(other, workflow.VerbStatus) + "; or give it up: " + commandline.Line(other.GiveUp(""))}
		}
	}
	return nil
}
