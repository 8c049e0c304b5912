package budget_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/flock"
	"signalbox/internal/forge"
	"signalbox/internal/forge/budget"
)

// server is a server in this process, and its clock.
type server struct {
	mu     sync.Mutex
	now    time.Time
	answer func(*http.Request) *http.Response
	sent   int
}

func newServer() *server {
	s := &server{now: time.Date(2026, 11, 25, 12, 10, 0, 0, time.UTC)}
	s.answer = func(*http.Request) *http.Response { return answer(http.StatusOK, `{"n":1}`, "ETag", `"1"`) }
	return s
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent++
	a := s.answer(r)
	if a == nil {
		return nil, errors.New("the connection was cut")
	}
	a.Header.Set("Date", s.now.Format(http.TimeFormat))
	if tag := a.Header.Get("ETag"); tag != "" && tag == r.Header.Get("If-None-Match") || a.Header.Get("Last-Modified") != "" && a.Header.Get("Last-Modified") == r.Header.Get("If-Modified-Since") {
		a.StatusCode, a.Body = http.StatusNotModified, http.NoBody
	}
	return a, nil
}

func (s *server) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *server) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func answer(status int, body string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// process is one of those that share a folder.
func (s *server) process(folder string) *budget.Transport {
	return budget.New(budget.Config{Base: s, Folder: folder, Kind: func(r *http.Request) string { return r.Method + " " + r.URL.Path }, FreeUnchanged: true, Now: s.clock,
		Limit: func(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, "/") }})
}

func call(t *testing.T, over *budget.Transport, method, path string) (status int, text string, after time.Duration) {
	t.Helper()
	return callAs(t, over, method, path, "token-of-ada")
}

func callAs(t *testing.T, over *budget.Transport, method, path, token string) (status int, text string, after time.Duration) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "https://forge.example.org"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/json")
	resp, err := over.RoundTrip(req)
	if held := (*forge.Failure)(nil); errors.As(err, &held) && held.Kind == forge.Limited {
		return http.StatusTooManyRequests, err.Error(), held.RetryAfter
	}
	if err != nil {
		return 0, err.Error(), 0
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body), 0
}

func folder(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "signalbox", "forge")
}

func TestWhatOneProcessReadIsFreeForTheNext(t *testing.T) {
	t.Parallel()
	s, at := newServer(), folder(t)
	for range 3 {
		if status, body, _ := call(t, s.process(at), "GET", "/core"); status != http.StatusOK || body != `{"n":1}` {
			t.Fatalf("answered %d %s", status, body)
		}
	}
	s.answer = func(*http.Request) *http.Response { return answer(http.StatusOK, `{"n":2}`, "ETag", `"2"`) }
	last := s.process(at)
	if _, body, _ := call(t, last, "GET", "/core"); body != `{"n":2}` {
		t.Errorf("what changed is read as %s", body)
	}
	if _, body, _ := callAs(t, last, "GET", "/core", "token-of-eve"); body != `{"n":2}` {
		t.Errorf("another credential reads %s", body)
	}
	for _, use := range last.Use() {
		want := budget.Count{Paid: 2, Unchanged: 2}
		if use.Day.Sent == 1 { // eve's: nothing of ada's is shown to her
			want = budget.Count{Paid: 1}
		}
		if use.Host != "forge.example.org" || use.Day.Paid != want.Paid || use.Day.Unchanged != want.Unchanged {
			t.Errorf("counted are %+v", use)
		}
	}
	// A list with a full page grows by a page, and only a header says so.
	s.answer = func(*http.Request) *http.Response {
		return answer(http.StatusOK, ``, "ETag", `"2"`, "Link", `<https://forge.example.org/core?page=2>; rel="next"`)
	}
	for range 2 {
		req, _ := http.NewRequestWithContext(t.Context(), "GET", "https://forge.example.org/core", nil)
		req.Header = http.Header{"Authorization": {"Bearer token-of-ada"}, "Accept": {"application/json"}}
		resp, err := s.process(at).RoundTrip(req)
		if err != nil || resp.Header.Get("Link") == "" || resp.StatusCode != http.StatusOK {
			t.Fatalf("the next page is missing: %v", err)
		}
		s.answer = func(*http.Request) *http.Response { return answer(http.StatusOK, ``, "ETag", `"2"`) }
	}
}

func TestALastModifiedCountsOnceItCannotChangeUnseen(t *testing.T) {
	t.Parallel()
	s, at := newServer(), folder(t)
	modified := s.now.Add(-30 * time.Second).Format(http.TimeFormat)
	s.answer = func(*http.Request) *http.Response { return answer(http.StatusOK, `{}`, "Last-Modified", modified) }
	for _, want := range []int{1, 2, 2, 2} { // paid so far
		p := s.process(at)
		call(t, p, "GET", "/core")
		if paid := p.Use()[0].Day.Paid; paid != want {
			t.Errorf("%d calls were paid, want %d", paid, want)
		}
		s.pass(31 * time.Second)
	}
}

func TestNoProcessCallsBeforeTheServerAllowsIt(t *testing.T) {
	t.Parallel()
	reset := func(s *server, after time.Duration) string { return strconv.FormatInt(s.now.Add(after).Unix(), 10) }
	for name, c := range map[string]struct {
		answer func(*server) *http.Response
		wait   time.Duration
		all    bool // calls that count against another limit wait too
	}{
		"the last call": {answer: func(s *server) *http.Response {
			return answer(200, `{}`, "X-RateLimit-Limit", "60", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset(s, 20*time.Minute), "X-RateLimit-Resource", "core")
		}, wait: 20 * time.Minute},
		"403 primary": {answer: func(s *server) *http.Response {
			return answer(403, `{}`, "X-RateLimit-Limit", "60", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset(s, 40*time.Minute), "X-RateLimit-Resource", "core")
		}, wait: 40 * time.Minute},
		"403 secondary": {answer: func(*server) *http.Response { return answer(403, `{}`, "Retry-After", "120") }, wait: 2 * time.Minute, all: true},
		"403 by text": {answer: func(*server) *http.Response {
			return answer(403, `{"message":"You have exceeded a secondary rate limit."}`)
		}, wait: time.Minute, all: true},
		"429 at a date": {answer: func(s *server) *http.Response {
			return answer(429, `{}`, "Retry-After", s.now.Add(90*time.Second).Format(http.TimeFormat))
		}, wait: 90 * time.Second, all: true},
		"429 alone":      {answer: func(*server) *http.Response { return answer(429, `{}`) }, wait: time.Minute, all: true},
		"429 for ever":   {answer: func(*server) *http.Response { return answer(429, `{}`, "Retry-After", "99999999999") }, wait: 24 * time.Hour, all: true},
		"403 for rights": {answer: func(*server) *http.Response { return answer(403, `{"message":"Resource not accessible"}`) }},
		"503":            {answer: func(*server) *http.Response { return answer(503, `{}`, "Retry-After", "30") }},
		"no answer":      {answer: func(*server) *http.Response { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, at := newServer(), folder(t)
			usual := s.answer
			s.answer = func(*http.Request) *http.Response { return c.answer(s) }
			call(t, s.process(at), "POST", "/core")
			s.answer = usual
			other := s.process(at)
			held := c.wait > 0
			if status, _, after := call(t, other, "GET", "/core"); held != (status == 429) || held && (after < c.wait || after > c.wait+31*time.Second) {
				t.Errorf("another process is answered %d, after %s", status, after)
			}
			if status, _, _ := call(t, other, "GET", "/graphql"); (held && c.all) != (status == 429) {
				t.Errorf("a call against another limit is answered %d", status)
			}
			if status, _, _ := callAs(t, other, "GET", "/core", "token-of-eve"); status != 200 {
				t.Errorf("another credential's call is answered %d", status)
			}
			s.pass(c.wait)
			if status, _, _ := call(t, s.process(at), "GET", "/core"); status != 200 {
				t.Errorf("after the wait it is answered %d", status)
			}
		})
	}
}

func TestALimitWithoutATimeIsWaitedOutLongerEachTime(t *testing.T) {
	t.Parallel()
	s, at := newServer(), folder(t)
	usual := s.answer
	s.answer = func(*http.Request) *http.Response { return answer(429, `{}`) }
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		p := s.process(at)
		call(t, p, "GET", "/core")
		if until := p.Use()[0].HeldUntil; until.Sub(s.now) != want*time.Minute {
			t.Errorf("held for %s, want %d minutes", until.Sub(s.now), want)
		}
		s.pass(want * time.Minute)
	}
	s.answer = usual
	call(t, s.process(at), "GET", "/core")
	s.answer = func(*http.Request) *http.Response { return answer(429, `{}`) }
	p := s.process(at)
	call(t, p, "GET", "/core")
	if until := p.Use()[0].HeldUntil; until.Sub(s.now) != time.Minute {
		t.Errorf("after a success, held for %s", until.Sub(s.now))
	}
}

// Answers arrive in any order, and of what they say the newest counts.
func TestTheNewestReportOfALimitCounts(t *testing.T) {
	t.Parallel()
	s, at := newServer(), folder(t)
	report := func(remaining string, reset time.Duration) {
		s.answer = func(*http.Request) *http.Response {
			return answer(200, `{}`, "RateLimit-Limit", "60", "RateLimit-Remaining", remaining, "RateLimit-Reset", strconv.FormatInt(s.now.Add(reset).Unix(), 10), "RateLimit-Name", "core")
		}
		call(t, s.process(at), "POST", "/other")
	}
	for _, step := range []struct {
		remaining string
		reset     time.Duration
		want      int
	}{{"40", time.Hour, 40}, {"39", time.Hour, 39}, {"41", time.Hour + time.Second, 39}, {"3", -time.Hour, 39}, {"59", 2 * time.Hour, 59}, {"12", time.Hour, 59}} {
		report(step.remaining, step.reset)
		p := s.process(at)
		call(t, p, "POST", "/other")
		if l := p.Use()[0].Limits["core"]; l.Remaining != step.want || l.Limit != 60 {
			t.Errorf("after %s the limit is %+v", step.remaining, l)
		}
	}
}

func TestARecentAnswerIsTakenOnlyByWhoWantsOne(t *testing.T) {
	t.Parallel()
	s, at := newServer(), folder(t)
	s.answer = func(*http.Request) *http.Response { return answer(http.StatusOK, `{"n":1}`) } // no ETag: a server such as Gitea
	get := func(age time.Duration) {
		t.Helper()
		req, _ := http.NewRequestWithContext(forge.Recent(t.Context(), age), "GET", "https://forge.example.org/core", nil)
		req.Header = http.Header{"Authorization": {"Bearer x"}, "Accept": {"application/json"}}
		if resp, err := s.process(at).RoundTrip(req); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		age, pass time.Duration
		sent      int
	}{{time.Minute, 0, 1}, {time.Minute, 59 * time.Second, 1}, {time.Minute, 2 * time.Second, 2}, {0, 0, 3}} {
		s.pass(step.pass)
		if get(step.age); s.sent != step.sent {
			t.Errorf("%d calls were sent, want %d", s.sent, step.sent)
		}
	}
}

// A POST may be a query, and only if both its driver and its caller say so is it answered from memory.
func TestWhatIsPostedIsSentUnlessItIsAQuery(t *testing.T) {
	t.Parallel()
	s, at := newServer(), folder(t)
	s.answer = func(*http.Request) *http.Response { return answer(http.StatusOK, `{}`) }
	queries := budget.New(budget.Config{Base: s, Folder: at, Kind: func(*http.Request) string { return "POST" }, Now: s.clock,
		Query: func(r *http.Request) bool { return r.URL.Path == "/graphql" }})
	for _, step := range []struct {
		path, body string
		age        time.Duration
		sent       bool
	}{
		{"/graphql", "viewer", time.Minute, true}, {"/graphql", "viewer", time.Minute, false}, {"/graphql", "other", time.Minute, true}, {"/graphql", "viewer", 0, true},
		{"/token", "viewer", time.Minute, true}, {"/token", "viewer", time.Minute, true},
	} {
		before := s.sent
		req, _ := http.NewRequestWithContext(forge.Recent(t.Context(), step.age), "POST", "https://forge.example.org"+step.path, strings.NewReader(step.body))
		req.Header = http.Header{"Authorization": {"Bearer x"}, "Accept": {"application/json"}}
		resp, err := queries.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); (s.sent > before) != step.sent {
			t.Errorf("%+v: %d calls were sent", step, s.sent-before)
		}
	}
}

func TestEveryServerAndCredentialIsListedWithoutACall(t *testing.T) {
	t.Parallel()
	s, at := newServer(), folder(t)
	reset := strconv.FormatInt(s.now.Add(time.Hour).Unix(), 10)
	s.answer = func(r *http.Request) *http.Response {
		remaining := map[string]string{"forge.example.org": "41", "other.example.org": "42"}[r.URL.Host]
		return answer(200, `{}`, "X-RateLimit-Limit", "60", "X-RateLimit-Remaining", remaining, "X-RateLimit-Reset", reset, "X-RateLimit-Resource", "core")
	}
	call(t, s.process(at), "POST", "/core")
	app := budget.New(budget.Config{Base: s, Folder: at, Kind: func(*http.Request) string { return "GET x" }, Now: s.clock,
		Credential: func(r *http.Request) string { return "App 7 in " + strings.TrimPrefix(r.URL.Path, "/") }})
	for _, installation := range []string{"ada", "grace"} {
		for token := range 2 { // one that is renewed
			req, _ := http.NewRequestWithContext(t.Context(), "GET", "https://other.example.org/"+installation, nil)
			req.Header.Set("Authorization", fmt.Sprint("Bearer ", token))
			resp, err := app.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
		}
	}
	sent := s.sent
	all, err := budget.All(at, s.clock)
	var listed []string
	for _, use := range all {
		name, _, _ := strings.Cut(use.Name, " ")
		if name != "token" {
			name = use.Name
		}
		listed = append(listed, fmt.Sprintf("%s %s: %d sent, %d left", use.Host, name, use.Day.Sent, use.Limits["core"].Remaining))
	}
	want := []string{"forge.example.org token: 1 sent, 41 left", "other.example.org App 7 in ada: 2 sent, 42 left", "other.example.org App 7 in grace: 2 sent, 42 left"}
	if err != nil || !slices.Equal(listed, want) || s.sent != sent {
		t.Errorf("listed are %q, %v, after %d calls", listed, err, s.sent-sent)
	}
	if all, err := budget.All(filepath.Join(at, "none"), s.clock); err != nil || len(all) > 0 {
		t.Errorf("a missing folder has %v, %v", all, err)
	}
}

func TestADamagedFolderBeginsAnew(t *testing.T) {
	t.Parallel()
	s, at := newServer(), folder(t)
	call(t, s.process(at), "GET", "/core")
	damage := func(text string) {
		err := filepath.WalkDir(at, func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				err = os.WriteFile(path, []byte(text), 0o600)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"", "{", `{"version":99}`, `{"version":1,"pauses":{"":{"until":"2999-01-01T00:00:00Z"}},"hours":[{"begin":"2999-01-01T00:00:00Z"}]}`, strings.Repeat("x", 3<<20)} {
		damage(text)
		p := s.process(at)
		if status, body, _ := call(t, p, "GET", "/core"); status != http.StatusOK || body != `{"n":1}` {
			t.Errorf("after %.40q it is answered %d %s", text, status, body)
		}
		if day := p.Use()[0].Day; len(text) < 1<<20 && day.Paid != 1 {
			t.Errorf("after %.40q it counts %+v", text, day)
		}
	}
}

func TestAFolderThatCannotBeTrustedIsNotUsed(t *testing.T) {
	t.Parallel()
	s := newServer()
	open := folder(t)
	if err := errors.Join(os.MkdirAll(open, 0o700), os.Chmod(open, 0o777)); err != nil { //nolint:gosec // that is the point
		t.Fatal(err)
	}
	linked := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(open, linked); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{open, linked, filepath.Join(file, "below")} {
		p := s.process(at)
		call(t, p, "GET", "/core")
		if status, _, _ := call(t, p, "GET", "/core"); status != http.StatusOK || p.Use()[0].Day.Unchanged != 1 {
			t.Errorf("%s: answered %d, counted %+v", at, status, p.Use()[0].Day)
		}
	}
	if entries, err := os.ReadDir(open); err != nil || len(entries) > 0 {
		t.Errorf("it wrote %v, %v", entries, err)
	}
	for project, want := range map[string]string{"/home/ada/work": "/home/ada/.cache/signalbox/forge", "/home/ada": "", "/": "", "/home/ada/.cache/signalbox/forge": "", "/home/ad": "/home/ada/.cache/signalbox/forge"} {
		if got := budget.Folder(project, func(name string) string {
			return map[string]string{"HOME": "/home/ada", "XDG_CACHE_HOME": "relative"}[name]
		}); got != want {
			t.Errorf("for %s the folder is %q, want %q", project, got, want)
		}
	}
}

func TestFilesAreFewSmallAndOursAlone(t *testing.T) {
	t.Parallel()
	s, at := newServer(), folder(t)
	big := `"` + strings.Repeat("x", 1<<20) + `"`
	s.answer = func(*http.Request) *http.Response {
		return answer(http.StatusOK, big, "ETag", `"1"`, "Set-Cookie", "session=of-ada")
	}
	p := s.process(at)
	for i := range 40 { // 40 MB
		call(t, p, "GET", fmt.Sprintf("/core?page=%d", i))
		s.pass(time.Second)
	}
	for i := range 150 {
		call(t, p, "POST", fmt.Sprintf("/kind-%d", i))
	}
	if use := p.Use()[0]; len(use.Hour.Calls) > 101 || use.Day.Sent != 190 {
		t.Errorf("%d calls are counted, of %d kinds", use.Day.Sent, len(use.Hour.Calls))
	}
	s.pass(8 * 24 * time.Hour) // then all but the newest is old
	for i := range 32 {
		call(t, p, "GET", fmt.Sprintf("/core?fresh=%d", i))
	}
	size, answers := int64(0), 0
	err := filepath.WalkDir(at, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s, %v", path, info.Mode(), err)
		}
		if entry.IsDir() {
			return nil
		}
		size, answers = size+info.Size(), answers+1
		text, err := os.ReadFile(path)
		if strings.Contains(path+string(text), "of-ada") {
			t.Errorf("%s holds a credential", path)
		}
		return err
	})
	if err != nil || size > 34<<20 || answers > 36 {
		t.Errorf("there are %d files of %d bytes, %v", answers, size, err)
	}
	s.pass(31 * 24 * time.Hour)
	s.process(at)
	if left, err := os.ReadDir(at); err != nil || len(left) != 1 {
		t.Errorf("of a credential that is not used are left %v, %v", left, err)
	}
}

// TestKilled kills a process that calls, at any instant, and lets the next one go on.
func TestKilled(t *testing.T) {
	t.Parallel()
	s := newServer()
	if at := os.Getenv("BUDGET_FOLDER"); at != "" {
		for i := 0; ; i++ {
			call(t, s.process(at), "GET", fmt.Sprintf("/core?page=%d", i%7))
			fmt.Println("called")
		}
	}
	at := folder(t)
	counted := 0
	for round := range 8 {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
		child.Env = append(os.Environ(), "BUDGET_FOLDER="+at)
		out, err := child.StdoutPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 5 + round {
			lines.Scan()
			counted++
		}
		_ = child.Process.Kill()
		for lines.Scan() { // what it had done before the kill
			counted++
		}
		_ = child.Wait()
	}
	p := s.process(at)
	if status, body, _ := call(t, p, "GET", "/core?page=1"); status != http.StatusOK || body != `{"n":1}` {
		t.Errorf("answered %d %s", status, body)
	}
	// A call that was cut off may be counted, or not.
	if day := p.Use()[0].Day; day.Sent < counted+1 || day.Sent > counted+9 || day.Paid > 7+8 {
		t.Errorf("%d calls returned, and counted are %+v", counted+1, day)
	}
}

// TestAStoppedProcessStopsNoOther: a process that was stopped while it held the lock costs the others a moment, and not their calls.
func TestAStoppedProcessStopsNoOther(t *testing.T) {
	t.Parallel()
	s, at := newServer(), folder(t)
	call(t, s.process(at), "GET", "/core")
	lock, err := os.OpenFile(filepath.Join(at, "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := flock.Wait(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	p := s.process(at)
	if status, _, _ := call(t, p, "GET", "/core"); status != http.StatusOK {
		t.Errorf("answered %d", status)
	}
	if err := flock.Release(lock); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkCall(b *testing.B) {
	s := newServer()
	p := s.process(filepath.Join(b.TempDir(), "forge"))
	for b.Loop() {
		req, _ := http.NewRequestWithContext(b.Context(), "GET", "https://forge.example.org/core", nil)
		req.Header = http.Header{"Authorization": {"Bearer x"}, "Accept": {"application/json"}}
		if _, err := p.RoundTrip(req); err != nil {
			b.Fatal(err)
		}
	}
}
