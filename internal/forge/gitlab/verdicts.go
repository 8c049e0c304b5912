package gitlab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
	"signalbox/internal/lazy"
)

// pipelineName is the verdict of the pipeline as a whole, which a project can require.
const pipelineName = "GitLab pipeline"

var commitID = lazy.Expression{Text: `^[0-9a-f]{40}([0-9a-f]{24})?$`}

// Verdicts returns the statuses and jobs of a commit, the newest of each name, and the pipeline that GitLab itself looks at before a merge.
func (s *Server) Verdicts(ctx context.Context, commit string) ([]forge.Verdict, error) {
	if !commitID.Regexp().MatchString(commit) { // GitLab would take a branch
		return nil, fmt.Errorf("read the statuses of %q: it is no full id", s.transport.Clean(commit))
	}
	all, err := s.statuses(ctx, commit, "repository/commits/%s/statuses", commit)
	if errors.Is(err, forge.ErrNotFound) { // the pushed commit does not show yet
		return nil, nil
	}
	var head *pipeline
	if err == nil {
		head, err = s.headPipeline(ctx, commit)
	}
	if err == nil && head != nil && head.SHA != commit { // one of the commit merged with its base, so its jobs are not the commit's
		var merged []commitStatus
		merged, err = s.statuses(ctx, head.SHA, "pipelines/%d/jobs", head.ID)
		all = append(all, merged...)
	}
	if err != nil {
		return nil, s.wrap(err, "read the statuses of %s", commit)
	}
	verdicts := newest(all, s.page+"/"+s.path+"/-/jobs/")
	if head == nil {
		return verdicts, nil
	}
	whole, counts, err := s.whole(ctx, head, verdicts)
	if counts {
		verdicts = append(verdicts, whole)
	}
	return verdicts, s.wrap(err, "read what the pipeline of %s comes to", commit)
}

// statuses reads a list of statuses or jobs. sha is the commit that they are of.
func (s *Server) statuses(ctx context.Context, sha, path string, args ...any) (all []commitStatus, err error) {
	err = rest.Pages(func(page url.Values) ([]commitStatus, *http.Response, error) {
		return rest.Get[[]commitStatus](ctx, s.transport, page, path, args...)
	}, func(c commitStatus) bool {
		if c.SHA == sha || c.SHA == "" {
			all = append(all, c)
		}
		return true
	})
	return all, err
}

// newest keeps the newest of each name: a job that is run again has a larger number.
func newest(all []commitStatus, jobs string) (verdicts []forge.Verdict) {
	slices.SortFunc(all, func(a, b commitStatus) int { return cmp.Compare(b.ID, a.ID) })
	seen := map[string]bool{}
	for _, c := range all {
		if !seen[c.Name] {
			seen[c.Name] = true
			verdicts = append(verdicts, c.convert(jobs))
		}
	}
	slices.Reverse(verdicts)
	return verdicts
}

// maxMerges is how many pipelines of merges with the base are looked at for one of the head.
const maxMerges = 3

// headPipeline is the newest pipeline of the open merge request with this head, if it ran on exactly the commit, or on its merge with the base;
// nil if there is none. One of statuses alone is taken only if there is no other: GitLab itself shows it first as soon as anyone reports a status.
func (s *Server) headPipeline(ctx context.Context, commit string) (external *pipeline, err error) {
	found, _, err := rest.Get[[]mergeRequest](ctx, s.transport, nil, "repository/commits/%s/merge_requests", commit)
	i := slices.IndexFunc(found, func(m mergeRequest) bool { return m.Head == commit && m.State == "opened" })
	if err != nil || i < 0 {
		return nil, err
	}
	all, _, err := rest.Get[[]pipeline](ctx, s.transport, nil, "merge_requests/%d/pipelines", found[i].IID)
	slices.SortFunc(all, func(a, b pipeline) int { return cmp.Compare(b.ID, a.ID) })
	merges := 0
	for _, p := range all {
		of := p.SHA == commit
		if !of && strings.HasSuffix(p.Ref, "/merge") && merges < maxMerges {
			merges++
			of, err = s.merges(ctx, p.SHA, commit)
		}
		switch {
		case err != nil:
			return nil, err
		case of && p.Source != "external":
			return &p, nil
		case of && external == nil:
			external = &p
		}
	}
	return external, err
}

// merges reports whether a commit is a merge of another one. GitLab's own merges with the base are on no branch.
func (s *Server) merges(ctx context.Context, merge, commit string) (bool, error) {
	m, _, err := rest.Get[struct {
		Parents []string `json:"parent_ids"`
	}](ctx, s.transport, nil, "repository/commits/%s", merge)
	if errors.Is(err, forge.ErrNotFound) {
		return false, nil
	}
	return slices.Contains(m.Parents, commit), err
}

// whole is the verdict of a pipeline, and whether it counts. One that was skipped, as a commit's message can have it, tested nothing: it has passed
// only if the project says so. GitLab puts our own verdicts into the pipeline, and makes one of them alone if there is none: then the others say what
// it comes to.
func (s *Server) whole(ctx context.Context, head *pipeline, of []forge.Verdict) (v forge.Verdict, counts bool, err error) {
	v = forge.Verdict{Name: pipelineName, State: forge.Pending, Page: head.Page, At: head.UpdatedAt}
	if state, known := states[head.Status]; known {
		v.State = state
	}
	ours := func(v forge.Verdict) bool { return slices.Contains(forge.OwnVerdicts, v.Name) }
	if slices.ContainsFunc(of, ours) {
		others := slices.DeleteFunc(slices.Clone(of), ours)
		v.State = worst(others)
		return v, len(others) > 0, nil
	}
	if head.Status == "skipped" {
		p, problem := s.project(ctx)
		if err = problem; !p.SkippedPasses {
			v.State, v.Summary = forge.Failed, "the pipeline was skipped, so it tested nothing"
		}
	}
	return v, true, err
}

// worst is what several verdicts come to.
func worst(of []forge.Verdict) forge.VerdictState {
	state := forge.Passed
	for _, v := range of {
		if v.State == forge.Failed {
			return forge.Failed
		}
		if v.State != forge.Passed {
			state = forge.Pending
		}
	}
	return state
}

// Required reads what the project and the branch's protection ask for. Plans without rules of approval answer 403 or 404 to that.
func (s *Server) Required(ctx context.Context, name string) (asked forge.Requirements, err error) {
	b, _, err := rest.Get[branch](ctx, s.transport, nil, "repository/branches/%s", name)
	var p project
	if err == nil {
		p, err = s.project(ctx)
	}
	var rules []rule
	if err == nil {
		rules, err = s.rules(ctx)
		f, forbidden := status(err, http.StatusForbidden)
		switch {
		case forbidden && f.Kind == forge.Forbidden:
			asked.Unknown, err = p.Approvals != nil, nil
		case errors.Is(err, forge.ErrNotFound):
			err = nil
		}
	}
	if err != nil {
		return forge.Requirements{}, s.wrap(err, "read the protection of branch %q", name)
	}
	asked.PushRefused, asked.Queue = !b.CanPush, p.Trains
	if p.NeedsPipeline {
		asked.Verdicts = []string{pipelineName}
	}
	for _, r := range rules {
		if r.concerns(name, b.Protected) {
			asked.Approvals = max(asked.Approvals, r.Required)
		}
	}
	return asked, nil
}

// rule is one of approval. Without branches it is for all.
type rule struct {
	Required     int  `json:"approvals_required"`
	AllProtected bool `json:"applies_to_all_protected_branches"`
	Branches     []struct {
		Name string `json:"name"`
	} `json:"protected_branches"`
}

// concerns reports whether a rule is for a branch. A rule's branches can be patterns, which count as fitting: to ask too much is safe.
func (r rule) concerns(name string, protected bool) bool {
	if r.AllProtected {
		return protected
	}
	for _, b := range r.Branches {
		if b.Name == name || strings.Contains(b.Name, "*") {
			return true
		}
	}
	return len(r.Branches) == 0
}

func (s *Server) rules(ctx context.Context) (all []rule, err error) {
	err = rest.Pages(func(page url.Values) ([]rule, *http.Response, error) {
		return rest.Get[[]rule](ctx, s.transport, page, "approval_rules")
	}, func(r rule) bool {
		all = append(all, r)
		return true
	})
	return all, err
}

// Publish reports a commit status. GitLab refuses to report a state again that is there already.
func (s *Server) Publish(ctx context.Context, commit string, v forge.Verdict) error {
	in := map[string]string{"state": map[forge.VerdictState]string{forge.Pending: "running", forge.Passed: "success", forge.Failed: "failed"}[v.State], "name": v.Name}
	if v.Summary != "" {
		in["description"] = v.Summary
	}
	if v.Page != "" {
		in["target_url"] = v.Page
	}
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: "statuses/%s", Args: []any{commit}, In: in})
	if f, refused := status(err, http.StatusBadRequest); refused && strings.Contains(f.Message, "Cannot transition status") {
		return nil
	}
	return s.wrap(err, "report %q on %s", v.Name, commit)
}
