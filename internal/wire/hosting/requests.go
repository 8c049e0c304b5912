package hosting

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

var (
	issueNumber = lazy.Pattern(`^#?([1-9]\d{0,8})$`)
	pullPath    = lazy.Pattern(`^/(?:-/)?(?:pulls?|merge_requests)/[1-9]\d{0,8}(?:/.*)?$`)
	issuePath   = lazy.Pattern(`^/(?:-/)?(?:issues|work_items)/([1-9]\d{0,8})/?$`)
)

// issueOf returns the number of the issue that ref names, 0 if it names a file. It is an error if ref is the address of something else.
func (f *Forge) issueOf(ctx context.Context, ref string) (int, error) {
	if found := issueNumber().FindStringSubmatch(ref); found != nil {
		return strconv.Atoi(found[1])
	}
	u, err := url.Parse(ref)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return 0, nil //nolint:nilerr // the name of a file, then
	}
	b, err := f.open(ctx)
	if err != nil {
		return 0, err
	}
	page := u.Scheme + "://" + u.Host + u.Path
	if own := b.address.page(); len(page) > len(own) && strings.EqualFold(page[:len(own)], own) {
		if found := issuePath().FindStringSubmatch(page[len(own):]); found != nil {
			return strconv.Atoi(found[1])
		}
		if pullPath().MatchString(page[len(own):]) {
			return 0, &problem.Error{Err: fmt.Errorf("%s: %w", redact.Line(page, maxShown), errPull), Code: problem.NotFound,
				Hint: "name the issue that it closes: " + own + "/issues/NUMBER"}
		}
	}
	return 0, &problem.Error{Err: fmt.Errorf("%s: %w", redact.Line(page, maxShown), errNotHere), Code: problem.NotFound,
		Hint: "want " + b.address.page() + "/issues/NUMBER; for another repository, go to a clone of it"}
}

const maxShown = 200

var errPull = errors.New("it is a pull request, and an issue is wanted")

var errNotHere = errors.New("it is not an issue of this project's repository")

// Request returns the issue with this number or address, or the file with this id or path.
func (f *Forge) Request(ctx context.Context, ref string) (forge.Request, error) {
	number, err := f.issueOf(ctx, ref)
	if err != nil {
		return forge.Request{}, err
	}
	if number == 0 {
		return f.file(ctx, ref)
	}
	b, err := f.open(ctx)
	if err != nil {
		return forge.Request{}, err
	}
	request, err := b.forge.Request(ctx, strconv.Itoa(number))
	if errors.Is(err, forge.ErrPull) {
		return request, &problem.Error{Err: fmt.Errorf("%d: %w", number, errPull), Code: problem.NotFound, Hint: "name the issue that it closes, such as signalbox run 42; see which there are: signalbox list --forge"}
	}
	if errors.Is(err, forge.ErrNotFound) {
		err = &problem.Error{Err: err, Code: problem.NotFound, Hint: "see which issues there are: signalbox list --forge"}
	}
	return request, b.explained(err, readIssues)
}

// file returns a request file. Numbers in what it depends on are those of files: they become ids, which mean nothing else.
func (f *Forge) file(ctx context.Context, ref string) (forge.Request, error) {
	request, err := f.config.Files.Request(ctx, ref)
	for i, needed := range request.DependsOn {
		if other, absent := f.config.Files.Request(ctx, needed); absent == nil {
			request.DependsOn[i] = other.ID
		}
	}
	return request, err
}

// Find returns what a person names. A number that an open file and the forge both may mean is refused.
func (f *Forge) Find(ctx context.Context, refs ...string) ([]forge.Request, error) {
	var found []forge.Request
	for _, ref := range refs {
		if issueNumber().MatchString(ref) {
			if err := f.meansOneThing(ctx, strings.TrimPrefix(ref, "#")); err != nil {
				return nil, err
			}
		}
		request, err := f.Request(ctx, ref)
		if err != nil {
			return nil, err
		}
		found = append(found, f.pinned(ctx, request))
	}
	return found, nil
}

func (f *Forge) meansOneThing(ctx context.Context, number string) error {
	file, err := f.config.Files.Request(ctx, number)
	if errors.Is(err, forge.ErrNotFound) || err == nil && file.Closed {
		return nil
	}
	if err != nil {
		return err
	}
	b, err := f.open(ctx)
	if err != nil {
		return err
	}
	return &problem.Error{Err: fmt.Errorf("%s is the number of %s, and may be that of an issue on the forge", number, redact.Line(file.Path, maxShown)), Code: problem.Usage,
		Hint: fmt.Sprintf("name the file: %s; or the issue: %s/issues/%s", file.ID, b.address.page(), number)}
}

// Requests returns the request files: the forge may have thousands of issues, and Issues selects among them.
func (f *Forge) Requests(ctx context.Context) ([]forge.Request, error) {
	return f.config.Files.Requests(ctx)
}

// maxListed is how many issues are listed at most.
const maxListed = 500

// Issues returns the issues that match, newest first. Their texts are cleaned, and their bodies left out.
func (f *Forge) Issues(ctx context.Context, q forge.Query) ([]forge.Issue, error) {
	b, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	issues, err := b.server.Issues(ctx, q, maxListed)
	if err != nil {
		return nil, b.explained(err, readIssues)
	}
	for i := range issues {
		issue := &issues[i]
		issue.Title, issue.Body, issue.Author, issue.Page = redact.Line(issue.Title, maxShown), "", redact.Line(issue.Author, maxShown), redact.Line(issue.Page, maxShown)
		for n, label := range issue.Labels {
			issue.Labels[n] = redact.Line(label, maxShown)
		}
	}
	return issues, nil
}

// OpenRequest opens an issue on the forge.
func (f *Forge) OpenRequest(ctx context.Context, key, title, body string) (forge.Request, error) {
	b, err := f.open(ctx)
	if err != nil {
		return forge.Request{}, err
	}
	request, err := b.forge.OpenRequest(ctx, key, title, body)
	return request, b.explained(err, writeIssues)
}

// Comment writes on the issue, or in the notes of a file.
func (f *Forge) Comment(ctx context.Context, request forge.Request, key, body string) error {
	if request.Path != "" {
		return f.config.Files.Comment(ctx, request, key, body)
	}
	b, err := f.open(ctx)
	if err == nil {
		err = b.explained(b.forge.Comment(ctx, request, key, body), writeIssues)
	}
	return err
}

// CloseRequest closes the issue, or marks the file as done.
func (f *Forge) CloseRequest(ctx context.Context, request forge.Request, mergeCommit string) error {
	if request.Path != "" {
		return f.config.Files.CloseRequest(ctx, request, mergeCommit)
	}
	b, err := f.open(ctx)
	if err == nil {
		err = b.explained(b.forge.CloseRequest(ctx, request, mergeCommit), writeIssues)
	}
	return err
}
