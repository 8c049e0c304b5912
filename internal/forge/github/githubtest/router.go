package githubtest

// operations are those of the description that the stand-in has.
var operations map[string]func(*call)

func init() { // handlers look at the table by the server
	operations = map[string]func(*call){
		"GET /repos/{owner}/{repo}":                                                      getRepository,
		"GET /repos/{owner}/{repo}/collaborators/{username}/permission":                  getPermission,
		"GET /repos/{owner}/{repo}/issues":                                               listIssues,
		"POST /repos/{owner}/{repo}/issues":                                              createIssue,
		"GET /repos/{owner}/{repo}/issues/{issue_number}":                                getIssue,
		"PATCH /repos/{owner}/{repo}/issues/{issue_number}":                              editIssue,
		"GET /repos/{owner}/{repo}/issues/{issue_number}/sub_issues":                     listLinked(func(i *Issue) []int { return i.Parts }),
		"GET /repos/{owner}/{repo}/issues/{issue_number}/dependencies/blocked_by":        listLinked(func(i *Issue) []int { return i.BlockedBy }),
		"GET /search/issues":                                                             searchIssues,
		"POST /repos/{owner}/{repo}/issues/{issue_number}/labels":                        addLabels,
		"DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}":               removeLabel,
		"GET /repos/{owner}/{repo}/issues/{issue_number}/comments":                       listComments,
		"POST /repos/{owner}/{repo}/issues/{issue_number}/comments":                      createComment,
		"GET /repos/{owner}/{repo}/issues/{issue_number}/events":                         listEvents,
		"GET /repos/{owner}/{repo}/issues/comments/{comment_id}":                         getComment,
		"PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}":                       editComment,
		"POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions":              react,
		"GET /repos/{owner}/{repo}/pulls":                                                listPulls,
		"POST /repos/{owner}/{repo}/pulls":                                               createPull,
		"GET /repos/{owner}/{repo}/pulls/{pull_number}":                                  getPull,
		"PATCH /repos/{owner}/{repo}/pulls/{pull_number}":                                editPull,
		"PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge":                            mergePull,
		"GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews":                          listReviews,
		"POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers":             requestReviewers,
		"GET /repos/{owner}/{repo}/commits/{ref}/status":                                 combinedStatus,
		"POST /repos/{owner}/{repo}/statuses/{sha}":                                      createStatus,
		"GET /repos/{owner}/{repo}/commits/{ref}/check-runs":                             listCheckRuns,
		"POST /repos/{owner}/{repo}/check-runs":                                          createCheckRun,
		"PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}":                          updateCheckRun,
		"GET /repos/{owner}/{repo}/branches/{branch}/protection":                         getProtection,
		"GET /repos/{owner}/{repo}/rules/branches/{branch}":                              getRules,
		"GET /repos/{owner}/{repo}/actions/jobs/{job_id}":                                getJob,
		"GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs":                           getLogs,
		"GET /repos/{owner}/{repo}/actions/runs/{run_id}":                                getRun,
		"POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs":             rerunFailed,
		"GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs": listJobs,
		"GET /repos/{owner}/{repo}/installation":                                         getInstallation,
		"POST /app/installations/{installation_id}/access_tokens":                        mintToken,
		"POST /repos/{owner}/{repo}/forks":                                               createFork,
		"GET /repos/{owner}/{repo}/branches/{branch}":                                    getBranch,
	}
}
