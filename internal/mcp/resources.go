package mcp

import (
	"context"
	"fmt"
	"io"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"signalbox/internal/lazy"
	"signalbox/internal/redact"
	"signalbox/internal/redact/visible"
)

// documents are the files of a run that are resources, with their media types.
var documents = []struct{ name, media, about string }{
	{"stage.json", "application/json", "Where the run is: its whole document."},
	{"planning.json", "application/json", "The plan that was accepted."},
	{"events.jsonl", "application/jsonl", "Every transition, one a line."},
	{"report.md", "text/markdown", "What was done, for people."},
}

// uri matches the address of a document; the first group is the request's number, the second the document.
var uri = lazy.Expression{Text: `^signalbox://runs/([1-9][0-9]{0,8})/([a-z]+\.[a-z]+)$`}

func uriOf(number int, document string) string {
	return fmt.Sprintf("signalbox://runs/%d/%s", number, document)
}

// maxSubscriptions bounds what one server watches at a time.
const maxSubscriptions = 100

func (s *server) addResources() {
	for _, d := range documents {
		s.AddResourceTemplate(&sdk.ResourceTemplate{Name: d.name, Title: d.name + " of a run", Description: d.about, MIMEType: d.media,
			URITemplate: "signalbox://runs/{number}/" + d.name}, s.read)
	}
}

// named returns what an address names: a request's number, and the document with its media type, which is empty if it names nothing.
func named(address string) (ref, name, media string) {
	m := uri.Regexp().FindStringSubmatch(address)
	for _, d := range documents {
		if m != nil && d.name == m[2] {
			return m[1], m[2], d.media
		}
	}
	return "", "", ""
}

// read returns a document of the latest run of a request.
func (s *server) read(ctx context.Context, request *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	missing := sdk.ResourceNotFoundError(redact.Line(request.Params.URI, 200))
	ref, name, media := named(request.Params.URI)
	if media == "" {
		return nil, missing
	}
	ctx, p, closeProject, err := s.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer closeProject()
	found, err := p.Find(ctx, ref)
	if err != nil {
		return nil, missing
	}
	file, err := p.Document(found.Ref, name)
	if err != nil {
		return nil, missing
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxOut+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxOut {
		return nil, fmt.Errorf("%s has more than %d bytes: use get_run, get_log and get_diff", name, maxOut)
	}
	if media == "application/json" {
		data, err = visible.JSON(data, p.Redact)
	} else {
		data = []byte(redact.Clean(p.Redact.String(string(data))))
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: request.Params.URI, MIMEType: media, Text: string(data)}}}, err
}

// followed are the documents that a client subscribed to.
type followed struct {
	ctx context.Context
	mu  sync.Mutex
	by  map[string]*following
}

// following is one of them.
type following struct{ stop context.CancelFunc }

// subscribe tells the client of each change of the run that a document belongs to.
func (s *server) subscribe(ctx context.Context, request *sdk.SubscribeRequest) error {
	address := request.Params.URI
	ref, _, media := named(address)
	if media == "" {
		return sdk.ResourceNotFoundError(redact.Line(address, 200))
	}
	ctx, p, closeProject, err := s.Open(ctx)
	if err != nil {
		return err
	}
	found, err := p.Find(ctx, ref)
	closeProject()
	if err != nil { // there would never be news
		return sdk.ResourceNotFoundError(redact.Line(address, 200))
	}
	f := &s.followed
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, already := f.by[address]; already {
		return nil
	}
	if len(f.by) == maxSubscriptions {
		return fmt.Errorf("at most %d documents are watched at a time", maxSubscriptions)
	}
	following := &following{}
	ctx, following.stop = context.WithCancel(f.ctx)
	f.by[address] = following
	go func() {
		defer f.ended(address, following)
		if err := s.follow(ctx, address, ref, found.Run.Details.Transition); err != nil && ctx.Err() == nil {
			s.Logger.Warn("follow a run for a client", "uri", address, "err", err)
		}
	}()
	return nil
}

// ended makes room for another one, or for the same again.
func (f *followed) ended(address string, x *following) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x.stop()
	if f.by[address] == x {
		delete(f.by, address)
	}
}

func (s *server) unsubscribe(_ context.Context, request *sdk.UnsubscribeRequest) error {
	f := &s.followed
	f.mu.Lock()
	x := f.by[request.Params.URI]
	f.mu.Unlock()
	if x != nil {
		f.ended(request.Params.URI, x)
	}
	return nil
}

// follow reports each change of a run after a transition until ctx ends. A run that ended may begin to move again.
func (s *server) follow(ctx context.Context, address, ref string, seen int) error {
	ctx, p, closeProject, err := s.Open(ctx)
	if err != nil {
		return err
	}
	defer closeProject()
	for {
		if seen, err = p.Next(ctx, ref, seen); err != nil || ctx.Err() != nil {
			return err
		}
		if err := s.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: address}); err != nil {
			return err
		}
	}
}
