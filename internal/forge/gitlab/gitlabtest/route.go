package gitlabtest

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

// object is a JSON object.
type object = map[string]any

// call is one request to the API and its answer.
type call struct {
	*Server
	st      *State
	r       *http.Request
	body    []byte
	account string
	status  int
	answer  any
	header  http.Header
}

// operations are those of the description that the stand-in has.
var operations map[string]func(*call)

const project = "/projects/{id}"

func init() { // handlers look at the table by the server
	operations = map[string]func(*call){
		"GET /user":                                                       getUser,
		"GET /job":                                                        getJob,
		"GET " + project:                                                  getProject,
		"GET /users":                                                      findUsers,
		"GET " + project + "/forks":                                       listForks,
		"POST " + project + "/fork":                                       createFork,
		"GET " + project + "/members/all":                                 listMembers,
		"GET " + project + "/members/all/{p4}":                            getMember,
		"GET " + project + "/issues":                                      listIssues,
		"POST " + project + "/issues":                                     createIssue,
		"GET " + project + "/issues/{p3}":                                 getIssue,
		"PUT " + project + "/issues/{p3}":                                 editIssue,
		"GET " + project + "/issues/{p3}/notes":                           listNotes,
		"POST " + project + "/issues/{p3}/notes":                          createNote,
		"PUT " + project + "/issues/{p3}/notes/{p5}":                      editNote,
		"POST " + project + "/issues/{p3}/notes/{p5}/award_emoji":         award,
		"GET " + project + "/merge_requests/{p3}/pipelines":               listPipelines,
		"GET " + project + "/issues/{p3}/resource_label_events":           listLabelings,
		"GET " + project + "/issues/{p3}/links":                           listLinks,
		"GET " + project + "/merge_requests":                              listMerges,
		"POST " + project + "/merge_requests":                             createMerge,
		"GET " + project + "/merge_requests/{p3}":                         getMerge,
		"PUT " + project + "/merge_requests/{p3}":                         editMerge,
		"PUT " + project + "/merge_requests/{p3}/merge":                   acceptMerge,
		"GET " + project + "/merge_requests/{p3}/notes":                   listNotes,
		"POST " + project + "/merge_requests/{p3}/notes":                  createNote,
		"PUT " + project + "/merge_requests/{p3}/notes/{p5}":              editNote,
		"POST " + project + "/merge_requests/{p3}/notes/{p5}/award_emoji": award,
		"GET " + project + "/merge_requests/{p3}/approvals":               getApprovals,
		"GET " + project + "/merge_requests/{p3}/versions":                listVersions,
		"GET " + project + "/merge_requests/{p3}/reviewers":               listReviewers,
		"GET " + project + "/merge_requests/{p3}/discussions":             listDiscussions,
		"POST " + project + "/merge_requests/{p3}/discussions/{p5}/notes": answerDiscussion,
		"PUT " + project + "/merge_requests/{p3}/discussions/{p5}":        resolveDiscussion,
		"POST " + project + "/merge_trains/merge_requests/{p4}":           enqueue,
		"GET " + project + "/merge_trains/merge_requests/{p4}":            getTrain,
		"GET " + project + "/repository/branches/{p4}":                    getBranch,
		"GET " + project + "/repository/commits/{p4}":                     getCommit,
		"GET " + project + "/repository/commits/{p4}/statuses":            listStatuses,
		"GET " + project + "/repository/commits/{p4}/merge_requests":      listMergesOf,
		"POST " + project + "/statuses/{p3}":                              createStatus,
		"GET " + project + "/pipelines/{p3}/jobs":                         listJobs,
		"GET " + project + "/jobs/{p3}":                                   getProjectJob,
		"POST " + project + "/jobs/{p3}/retry":                            retryJob,
		"GET " + project + "/jobs/{p3}/trace":                             getTrace,
		"GET " + project + "/approval_rules":                              listRules,
	}
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	path, handle, ok := standin.Route(operations, s.Root+"/api/v4", r)
	if !ok {
		s.t.Errorf("the stand-in has no %s %s", r.Method, r.URL.EscapedPath())
		http.NotFound(w, r)
		return
	}
	description.Serve(s.t, w, r, path, func(answer http.ResponseWriter, body []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c := &call{Server: s, st: &s.state, r: r, body: body, header: http.Header{}}
		s.pushed()
		if c.admitted(path) {
			handle(c)
		}
		c.write(answer)
	})
}

// admitted refuses who is nobody, asks too often, or asks for another project.
func (c *call) admitted(path string) bool {
	how, token := shown(c.r)
	c.account = c.st.Tokens[token]
	switch {
	case c.st.Remaining <= 0:
		c.header.Set("Retry-After", "37")
		c.refuse(http.StatusTooManyRequests, "Retry later")
	case c.account == "", strings.HasPrefix(token, "job-") != (how == "JOB-TOKEN"), how == "JOB-TOKEN" && path != "/job" && !strings.Contains(path, "/jobs/"):
		c.refuse(http.StatusUnauthorized, "401 Unauthorized")
	case c.fork() != nil && (path == project && c.r.Method == http.MethodGet || path == project+"/merge_requests" && c.r.Method == http.MethodPost && c.fork().Owner == c.account):
	case path == "/graphql":
	case path != "/user" && path != "/users" && path != "/job" && !strings.EqualFold(c.r.PathValue("id"), Path), c.r.PathValue("id") != "" && c.st.Levels[c.account] == 0:
		c.refuse(http.StatusNotFound, "404 Project Not Found")
	case c.r.Method != http.MethodGet && c.st.Levels[c.account] < 20:
		c.refuse(http.StatusForbidden, "403 Forbidden")
	}
	c.st.Remaining--
	return c.status == 0
}

func (c *call) send(status int, answer any) { c.status, c.answer = status, answer }

func (c *call) refuse(status int, message any) { c.send(status, object{"message": message}) }

func (c *call) lacks(what string) { c.refuse(http.StatusNotFound, "404 "+what+" Not Found") }

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

// write writes what GitLab writes with every answer: its limits, and an ETag.
func (c *call) write(w http.ResponseWriter) {
	h := w.Header()
	for name, values := range c.header {
		h[name] = values
	}
	h.Set("Date", c.st.Now.UTC().Format(http.TimeFormat))
	h.Set("RateLimit-Limit", "2000")
	h.Set("RateLimit-Name", "throttle_authenticated_api")
	h.Set("RateLimit-Observed", strconv.Itoa(2000-c.st.Remaining))
	h.Set("RateLimit-Remaining", strconv.Itoa(max(c.st.Remaining, 0)))
	h.Set("RateLimit-Reset", strconv.FormatInt(c.st.Now.Truncate(time.Minute).Add(time.Minute).Unix(), 10))
	var body []byte
	if text, plain := c.answer.(string); plain {
		h.Set("Content-Type", "text/plain")
		body = []byte(text)
	} else if c.answer != nil {
		var err error
		if body, err = json.Marshal(c.answer); err != nil {
			c.t.Errorf("%s %s: %v", c.r.Method, c.r.URL, err)
		}
		h.Set("Content-Type", "application/json")
	}
	if c.r.Method == http.MethodGet && c.status == http.StatusOK {
		h.Set("ETag", fmt.Sprintf(`W/"%x"`, sha256.Sum256(body)))
		if c.r.Header.Get("If-None-Match") == h.Get("ETag") {
			c.status, body = http.StatusNotModified, nil
		}
	}
	w.WriteHeader(c.status)
	_, _ = bytes.NewReader(body).WriteTo(w)
}

// list answers one page of a list, with the address of the next.
func (c *call) list(all []any) {
	size, number := 20, 1
	if n, err := strconv.Atoi(c.r.URL.Query().Get("per_page")); err == nil {
		size = min(max(n, 1), 100)
	}
	if n, err := strconv.Atoi(c.r.URL.Query().Get("page")); err == nil {
		number = max(n, 1)
	}
	if n, err := strconv.Atoi(c.r.URL.Query().Get("page_token")); err == nil {
		number = n/size + 1
	}
	begin, end := min((number-1)*size, len(all)), min(number*size, len(all))
	if end < len(all) {
		next := *c.r.URL
		query := next.Query()
		if c.st.Keyset {
			query.Del("page")
			query.Set("page_token", strconv.Itoa(end))
		} else {
			query.Set("page", strconv.Itoa(number+1))
		}
		next.RawQuery = query.Encode()
		c.header.Set("Link", fmt.Sprintf(`<%s%s>; rel="next", <%s>; rel="first"`, c.http.URL, next.RequestURI(), c.http.URL))
	}
	c.send(http.StatusOK, append([]any{}, all[begin:end]...))
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// ids are the accounts' numbers.
func userID(name string) int64 {
	sum := sha256.Sum256([]byte(name))
	return int64(sum[0])<<8 + int64(sum[1])
}

func (s *Server) user(name string) object {
	return object{"id": userID(name), "username": name, "name": name, "state": "active", "web_url": s.URL + "/" + name, "avatar_url": nil}
}
