package githubtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/forge/standin"
)

// call is one request to the API and its answer.
type call struct {
	*Server
	st *State
	r  *http.Request
	// path is the description's template of the path.
	path string
	body []byte
	// account is who asks: a person, or an App's installation.
	account string
	status  int
	answer  any
	header  http.Header
}

// serveAPI serves an operation of the description.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	switch path, handle, ok := standin.Route(operations, "/api/v3", r); {
	case r.URL.Path == "/api/graphql":
		s.serveGraphQL(w, r)
	case !ok:
		s.t.Errorf("the stand-in has no %s %s", r.Method, r.URL.Path)
		http.NotFound(w, r)
	default:
		s.serve(w, r, path, handle)
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, path string, handle func(*call)) {
	description.Serve(s.t, w, r, path, func(answer http.ResponseWriter, body []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c := &call{Server: s, st: &s.state, r: r, path: path, body: body, header: http.Header{}}
		c.account = s.state.account(bearer(r))
		s.pushed()
		if c.admitted() {
			handle(c)
		}
		c.write(answer)
	})
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// account returns whose a token is; empty if it is nobody's or has expired.
func (st *State) account(token string) string {
	if end, ok := st.Minted[token]; ok && st.Now.Before(end) {
		return Robot
	}
	return st.Tokens[token]
}

// admitted refuses who is nobody, or asks too often.
func (c *call) admitted() bool {
	if strings.HasPrefix(c.path, "/app/") || c.path == "/repos/{owner}/{repo}/installation" {
		if problem := c.st.jwtProblem(bearer(c.r)); problem != "" {
			c.refuse(http.StatusUnauthorized, problem)
			return false
		}
		return true
	}
	if c.account == "" {
		c.refuse(http.StatusUnauthorized, "Bad credentials")
		return false
	}
	limit := c.st.Limits[c.resource()]
	if limit.Used >= limit.Limit {
		c.refuse(http.StatusForbidden, "API rate limit exceeded for user ID 1.")
		return false
	}
	limit.Used++
	return c.named()
}

// named redirects from the repository's former name.
func (c *call) named() bool {
	owner, name := c.r.PathValue("owner"), c.r.PathValue("repo")
	if owner == "" && name == "" || strings.EqualFold(owner+"/"+name, c.st.fullName()) {
		return true
	}
	if c.st.RenamedTo != "" && owner == Owner && name == Name {
		c.header.Set("Location", strings.Replace(c.URL+c.r.URL.RequestURI(), "/repos/"+Owner+"/"+Name, "/repos/"+c.st.fullName(), 1))
		status := http.StatusTemporaryRedirect
		if c.r.Method == http.MethodGet {
			status = http.StatusMovedPermanently
		}
		c.send(status, object{"message": "Moved Permanently", "url": c.header.Get("Location")})
		return false
	}
	if fork := c.st.Forks[owner]; fork != nil && strings.EqualFold(name, fork.Name) && c.r.Method == http.MethodGet && (strings.HasSuffix(c.path, "{repo}") || strings.HasSuffix(c.path, "{branch}")) {
		return true
	}
	c.refuse(http.StatusNotFound, "Not Found")
	return false
}

func (st *State) fullName() string {
	if st.RenamedTo != "" {
		return Owner + "/" + st.RenamedTo
	}
	return Owner + "/" + Name
}

func (c *call) resource() string {
	switch {
	case strings.HasPrefix(c.path, "/search/"):
		return "search"
	case c.path == "/graphql":
		return "graphql"
	}
	return "core"
}

func (c *call) send(status int, answer any) { c.status, c.answer = status, answer }

// refuse answers an error. details are those of a 422.
func (c *call) refuse(status int, message string, details ...object) {
	body := object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)}
	if len(details) > 0 {
		body["errors"] = details
	}
	c.send(status, body)
}

// decode reads the request's body.
func (c *call) decode(into any) {
	if err := json.Unmarshal(c.body, into); err != nil {
		c.t.Errorf("%s %s: %v", c.r.Method, c.r.URL, err)
	}
}

// number returns a part of the path.
func (c *call) number(name string) int {
	n, _ := strconv.Atoi(c.r.PathValue(name))
	return n
}

// write writes what GitHub writes with every answer: its date, the rate limit, and an ETag, which an unchanged answer needs not pay for.
func (c *call) write(w http.ResponseWriter) {
	h := w.Header()
	for name, values := range c.header {
		h[name] = values
	}
	h.Set("Date", c.st.Now.UTC().Format(http.TimeFormat))
	var body []byte
	if c.answer != nil {
		var err error
		if body, err = json.Marshal(c.answer); err != nil {
			c.t.Errorf("%s %s: %v", c.r.Method, c.r.URL, err)
		}
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	if c.r.Method == http.MethodGet && c.status == http.StatusOK {
		h.Set("ETag", fmt.Sprintf(`W/"%x"`, sha256.Sum256(body)))
		if c.r.Header.Get("If-None-Match") == h.Get("ETag") {
			c.status, body = http.StatusNotModified, nil
			c.st.Limits[c.resource()].Used--
		}
	}
	c.limits(h)
	w.WriteHeader(c.status)
	_, _ = bytes.NewReader(body).WriteTo(w)
}

func (c *call) limits(h http.Header) {
	limit := c.st.Limits[c.resource()]
	reset := limit.Reset
	if reset.IsZero() {
		reset = c.st.Now.Truncate(time.Hour).Add(time.Hour)
	}
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit.Limit))
	h.Set("X-RateLimit-Used", strconv.Itoa(limit.Used))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, limit.Limit-limit.Used)))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", c.resource())
}

// page answers one page of a list, with the addresses of the others. wrap puts it into an object, if it is one.
func page[T any](c *call, all []T) []T {
	size, number := 30, 1
	if n, err := strconv.Atoi(c.r.URL.Query().Get("per_page")); err == nil {
		size = min(max(n, 1), 100)
	}
	if n, err := strconv.Atoi(c.r.URL.Query().Get("page")); err == nil {
		number = max(n, 1)
	}
	begin, end := min((number-1)*size, len(all)), min(number*size, len(all))
	if end < len(all) {
		next := *c.r.URL
		query := next.Query()
		query.Set("page", strconv.Itoa(number+1))
		next.RawQuery = query.Encode()
		c.header.Set("Link", fmt.Sprintf(`<%s%s>; rel="next"`, c.URL, next.RequestURI()))
	}
	return append([]T{}, all[begin:end]...)
}
