package githubtest

import (
	"net/http"
	"net/url"
	"strings"
)

// operation is one of the description's.
type operation struct {
	method, path string
	handle       func(*call)
}

// register names the operations.
func (s *Server) register() {
	for pattern, handle := range map[string]func(*call){
		"GET /repos/{owner}/{repo}":                                         getRepository,
		"GET /repos/{owner}/{repo}/collaborators/{username}/permission":     getPermission,
		"GET /repos/{owner}/{repo}/issues":                                  listIssues,
		"POST /repos/{owner}/{repo}/issues":                                 createIssue,
		"GET /repos/{owner}/{repo}/issues/{issue_number}":                   getIssue,
		"PATCH /repos/{owner}/{repo}/issues/{issue_number}":                 editIssue,
		"GET /search/issues":                                                searchIssues,
		"POST /repos/{owner}/{repo}/issues/{issue_number}/labels":           addLabels,
		"DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}":  removeLabel,
		"GET /repos/{owner}/{repo}/issues/{issue_number}/comments":          listComments,
		"POST /repos/{owner}/{repo}/issues/{issue_number}/comments":         createComment,
		"GET /repos/{owner}/{repo}/issues/comments/{comment_id}":            getComment,
		"PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}":          editComment,
		"POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions": react,
		"GET /repos/{owner}/{repo}/pulls":                                   listPulls,
		"POST /repos/{owner}/{repo}/pulls":                                  createPull,
		"GET /repos/{owner}/{repo}/pulls/{pull_number}":                     getPull,
		"PATCH /repos/{owner}/{repo}/pulls/{pull_number}":                   editPull,
		"PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge":               mergePull,
		"GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews":             listReviews,
		"GET /repos/{owner}/{repo}/commits/{ref}/status":                    combinedStatus,
		"POST /repos/{owner}/{repo}/statuses/{sha}":                         createStatus,
		"GET /repos/{owner}/{repo}/commits/{ref}/check-runs":                listCheckRuns,
		"POST /repos/{owner}/{repo}/check-runs":                             createCheckRun,
		"PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}":             updateCheckRun,
		"GET /repos/{owner}/{repo}/branches/{branch}/protection":            getProtection,
		"GET /repos/{owner}/{repo}/rules/branches/{branch}":                 getRules,
		"GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs":              getLogs,
		"GET /repos/{owner}/{repo}/installation":                            getInstallation,
		"POST /app/installations/{installation_id}/access_tokens":           mintToken,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		s.operations = append(s.operations, operation{method, path, handle})
	}
}

// route finds the operation of a request, and sets the values of its path. The description has paths of which Go's own router can't
// say which is meant: issues/comments/{comment_id} and issues/{issue_number}/comments.
func (s *Server) route(r *http.Request) (found operation, ok bool) {
	given := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/api/v3"), "/")
	literals := -1
	for _, o := range s.operations {
		if n, fits := fit(strings.Split(o.path, "/"), given); fits && o.method == r.Method && n > literals {
			found, literals = o, n
		}
	}
	for i, part := range strings.Split(found.path, "/") {
		if strings.HasPrefix(part, "{") {
			value, err := url.PathUnescape(given[i])
			if err != nil {
				return found, false
			}
			r.SetPathValue(strings.Trim(part, "{}"), value)
		}
	}
	return found, literals >= 0
}

// fit counts the parts that are equal, if all others are names.
func fit(template, given []string) (literals int, fits bool) {
	if len(template) != len(given) {
		return 0, false
	}
	for i, part := range template {
		switch {
		case part == given[i]:
			literals++
		case !strings.HasPrefix(part, "{") || given[i] == "":
			return 0, false
		}
	}
	return literals, true
}
