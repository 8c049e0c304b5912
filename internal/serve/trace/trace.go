// Package trace tells an OpenTelemetry collector how runs went: one span for the run, each of its phases, and each action. It reads a run's
// events.jsonl, so a trace is whole whichever processes executed the run and whatever was killed. The ids are derived from the run: a span that is sent
// again is the same span.
package trace

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// Exporter sends spans by OTLP over HTTP, in JSON.
type Exporter struct {
	address, service string
	headers          http.Header
	client           *http.Client
}

// limit is the time budget of one request; maxEvents how much of a run's events is read, in bytes.
const (
	limit     = 10 * time.Second
	maxEvents = 32 << 20
)

// FromEnv returns the exporter that OpenTelemetry's own variables ask for; nil if they name no collector.
func FromEnv(env func(string) string) (*Exporter, error) {
	address := env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if address == "" {
		if address = env("OTEL_EXPORTER_OTLP_ENDPOINT"); address == "" {
			return nil, nil
		}
		address = strings.TrimSuffix(address, "/") + "/v1/traces"
	}
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the address in OTEL_EXPORTER_OTLP_ENDPOINT is not http or https")
	}
	if protocol := env("OTEL_EXPORTER_OTLP_PROTOCOL"); strings.HasPrefix(protocol, "grpc") {
		return nil, errors.New("OTEL_EXPORTER_OTLP_PROTOCOL is grpc: want http/json, which collectors take at port 4318")
	}
	e := &Exporter{address: address, service: env("OTEL_SERVICE_NAME"), headers: http.Header{"Content-Type": {"application/json"}}, client: &http.Client{Timeout: limit}}
	if e.service == "" {
		e.service = "signalbox"
	}
	for _, names := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		for pair := range strings.SplitSeq(env(names), ",") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				if plain, err := url.PathUnescape(strings.TrimSpace(value)); err == nil {
					e.headers.Set(strings.TrimSpace(name), plain)
				}
			}
		}
	}
	return e, nil
}

// sent says how far a run's spans were sent: up to this transition.
type sent struct {
	Transition int `json:"transition"`
}

// Send sends the spans of a run that ended since it was last called.
func (e *Exporter) Send(ctx context.Context, s *store.Store, project string, ref workflow.RunRef) error {
	record := store.Record[sent](s, "traces", ref.RunID)
	was, err := record.Load(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read what of run %s was sent: %w", ref.RunID, err)
	}
	file, err := s.OpenArtifact(store.RunDir(ref) + "/events.jsonl")
	if err != nil {
		return fmt.Errorf("read events of run %s: %w", ref.RunID, err)
	}
	defer func() { _ = file.Close() }()
	spans, last, err := read(io.LimitReader(file, maxEvents), ref.RunID, was.Transition)
	if err != nil || len(spans) == 0 {
		return err
	}
	if err := e.post(ctx, project, ref, spans); err != nil {
		return err
	}
	return record.Update(ctx, func(now *sent) error {
		now.Transition = max(now.Transition, last)
		return nil
	})
}

// span is one as OTLP has it in JSON.
type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Status     *status     `json:"status,omitempty"`
}

type attribute struct {
	Key   string `json:"key"`
	Value struct {
		Text string `json:"stringValue"`
	} `json:"value"`
}

type status struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitempty"`
}

const (
	internal  = 1
	errorCode = 2
)

func attributes(pairs ...string) (all []attribute) {
	for i := 0; i < len(pairs); i += 2 {
		a := attribute{Key: pairs[i]}
		a.Value.Text = pairs[i+1]
		all = append(all, a)
	}
	return all
}

func id(length int, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:length])
}

// open is a span that hasn't ended. An action's key is "007-run_tests".
type open struct {
	kind, key string
	from      store.Transition
}

// read returns the spans that ended after a transition, and the last transition.
func read(events io.Reader, run string, after int) (spans []span, last int, err error) {
	var phase, action *open
	var begun store.Transition
	whole := id(8, run, "run")
	ends := func(o **open, at store.Transition, parent string) {
		if *o != nil && at.Seq > after {
			spans = append(spans, (*o).span(run, at, parent))
		}
		*o = nil
	}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var at store.Transition
		if json.Unmarshal(bytes.TrimSpace(lines.Bytes()), &at) != nil {
			continue // a line lost to a power cut
		}
		if last = at.Seq; begun.At.IsZero() {
			begun = at
		}
		in := func(o *open) string {
			if o == nil {
				return whole
			}
			return o.id(run)
		}
		working, doing := at.State == workflow.Running, ""
		if working && len(at.Actions) > 0 {
			doing = at.Actions[0]
		}
		if action != nil && action.key != doing {
			ends(&action, at, in(phase))
		}
		if phase != nil && (!working || phase.from.Phase != at.Phase) {
			ends(&phase, at, whole)
		}
		if working && phase == nil {
			phase = &open{"phase", string(at.Phase.Step()), at}
		}
		if doing != "" && action == nil {
			action = &open{"action", doing, at}
		}
		if at.State.Final() || at.State == workflow.Failed {
			o := &open{"run", "run", begun}
			ends(&o, at, "")
		}
	}
	return spans, last, lines.Err()
}

func (o *open) id(run string) string {
	if o.kind == "run" {
		return id(8, run, "run")
	}
	return id(8, run, o.kind, strconv.Itoa(o.from.Seq))
}

func (o *open) span(run string, end store.Transition, parent string) span {
	name := o.key
	if _, short, numbered := strings.Cut(o.key, "-"); numbered && o.kind == "action" {
		name = short
	}
	s := span{TraceID: id(16, run), SpanID: o.id(run), Parent: parent, Name: name, Kind: internal, Start: nano(o.from.At), End: nano(end.At),
		Attributes: attributes("signalbox.run", run, "signalbox."+o.kind, o.key, "signalbox.ended_by", string(end.Event))}
	if end.State == workflow.Failed || strings.HasSuffix(string(end.Event), "Failed") {
		s.Status = &status{Code: errorCode, Message: string(end.Event)}
	}
	return s
}

func nano(at time.Time) string { return strconv.FormatInt(at.UnixNano(), 10) }

func (e *Exporter) post(ctx context.Context, project string, ref workflow.RunRef, spans []span) error {
	body, err := json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{
		"resource":   map[string]any{"attributes": attributes("service.name", e.service, "signalbox.project", project, "signalbox.request", ref.RequestID)},
		"scopeSpans": []any{map[string]any{"scope": map[string]any{"name": "signalbox"}, "spans": spans}},
	}}})
	if err != nil {
		return fmt.Errorf("write spans of run %s: %w", ref.RunID, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("send spans of run %s: the address is no URL", ref.RunID)
	}
	request.Header = e.headers
	response, err := e.client.Do(request)
	if err != nil {
		if at := (*url.Error)(nil); errors.As(err, &at) {
			err = at.Err // the address may have a secret
		}
		return fmt.Errorf("send spans of run %s: %w", ref.RunID, err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("send spans of run %s: the collector answers %s", ref.RunID, response.Status)
	}
	return nil
}
