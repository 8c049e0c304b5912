package perform

import (
	"net/http"
	"strings"
	"testing"

	"signalbox/internal/commandline"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/standin"
	"signalbox/internal/workflow"
)

// forgeFault is what goes wrong on the server when the run first comes to an action.
type forgeFault struct {
	name string
	at   workflow.ActionKind
	// fault goes on until the run stopped; breaks changes the server, and mends what a person settles.
	fault  standin.Fault
	breaks func(*githubtest.Server)
	mends  func(*githubtest.Server)
	// again is why it stops once more; empty if it goes on to its end.
	again string
	// approve: the change is approved on the forge. later: it breaks at the second time.
	approve, later bool
	// here is what they type at git.
	here []string
	// code is why the run stops, and says is part of what to do; both are empty if it goes on by itself.
	code, says string
}

func saidByServer(status int, body string, header ...string) standin.Fault {
	f := standin.Fault{Status: status, Body: body, Header: http.Header{}, Times: -1, Path: "/pulls", Method: "POST"}
	for i := 0; i < len(header); i += 2 {
		f.Header.Set(header[i], header[i+1])
	}
	return f
}

func once(f standin.Fault) standin.Fault {
	f.Times = 1
	return f
}

var forgeFaults = []forgeFault{
	{name: "401", fault: saidByServer(401, `{"message":"Bad credentials"}`), code: workflow.ForgeUnauthorizedCode, says: "renew"},
	{name: "403", fault: saidByServer(403, `{"message":"Resource not accessible by personal access token"}`), code: workflow.ForgeForbiddenCode, says: "the right"},
	{name: "404", fault: saidByServer(404, `{"message":"Not Found"}`), code: workflow.NotFoundCode, says: "signalbox resume 1"},
	{name: "409", fault: saidByServer(409, `{"message":"Conflict"}`), code: workflow.ForgeRefusedCode, says: "settle on the forge"},
	{name: "422", fault: saidByServer(422, `{"message":"Validation Failed","errors":[{"message":"base is invalid"}]}`), code: workflow.ForgeRefusedCode, says: "settle on the forge"},
	{name: "429 with a time", fault: once(saidByServer(429, `{"message":"slow down"}`, "Retry-After", "90"))},
	{name: "429 without", fault: once(saidByServer(429, `{"message":"slow down"}`))},
	{name: "403 as a limit", fault: once(saidByServer(403, `{"message":"You have exceeded a secondary rate limit"}`, "Retry-After", "60"))},
	{name: "429 for ever", fault: saidByServer(429, `{"message":"slow down"}`), code: workflow.ForgeLimitedCode, says: "wait until the forge's limit is reset"},
	{name: "500", fault: once(saidByServer(500, `{}`))},
	{name: "502", fault: once(saidByServer(502, `<html>Bad gateway</html>`))},
	{name: "HTML", fault: once(saidByServer(200, `<html>Please log in</html>`))},
	{name: "truncated JSON", fault: once(standin.Fault{Status: 201, Body: `{"number": 2, "title": "Ch`, Cut: true, Path: "/pulls", Method: "POST"})},
	{name: "10 MB", fault: once(saidByServer(201, `{"number": 2, "title": "`+strings.Repeat("x", 10<<20)+`"}`))},
	{name: "502 for ever", fault: saidByServer(502, `<html>`), code: workflow.ForgeUnavailableCode, says: "signalbox doctor"},
	{name: "an expired token", at: workflow.WatchChecks,
		breaks: func(s *githubtest.Server) { s.With(func(st *githubtest.State) { delete(st.Tokens, "ghp_ada") }) },
		mends: func(s *githubtest.Server) {
			s.With(func(st *githubtest.State) { st.Tokens["ghp_ada"] = githubtest.Person })
		},
		code: workflow.ForgeUnauthorizedCode, says: "renew"},
	{name: "a base that is protected now", at: workflow.MergePullRequest,
		breaks: func(s *githubtest.Server) {
			s.With(func(st *githubtest.State) {
				st.Rules["main"] = []map[string]any{{"type": "pull_request", "parameters": map[string]any{"required_approving_review_count": 0, "allowed_merge_methods": []string{"merge"},
					"dismiss_stale_reviews_on_push": false, "require_code_owner_review": false, "require_last_push_approval": false, "required_review_thread_resolution": false}}}
			})
		}},
	{name: "a deleted branch", at: workflow.WatchChecks, breaks: func(s *githubtest.Server) {
		s.MustRun("", "update-ref", "refs/heads/restored", s.Head("signalbox/1-change-it"))
		s.MustRun("", "update-ref", "-d", "refs/heads/signalbox/1-change-it")
		closePulls(s) // as GitHub does
	}, mends: func(s *githubtest.Server) {
		s.MustRun("", "update-ref", "refs/heads/signalbox/1-change-it", s.Head("restored"))
		reopenPulls(s)
	}, code: workflow.PullRequestClosedCode, says: "reopen the pull request on its page"},
	{name: "a closed issue", at: workflow.OpenPullRequest, breaks: func(s *githubtest.Server) { s.With(func(st *githubtest.State) { st.Issues[1].Closed = true }) }},
	{name: "a transferred issue", at: workflow.CloseRequest, breaks: func(s *githubtest.Server) { s.With(func(st *githubtest.State) { delete(st.Issues, 1) }) }},
	{name: "a pull request that someone closed", at: workflow.WatchChecks, breaks: closePulls, mends: reopenPulls, code: workflow.PullRequestClosedCode, says: "reopen the pull request on its page"},
	{name: "a pull request that someone merged", at: workflow.WatchChecks, breaks: mergePulls},
	{name: "one that someone merged while it waited for an approval", approve: true, at: workflow.WatchChecks, later: true, breaks: mergePulls},
	{name: "one that someone closed while it waited for an approval", approve: true, at: workflow.WatchChecks, later: true, breaks: closePulls,
		mends: func(s *githubtest.Server) { reopenPulls(s); approvePulls(s) }, code: workflow.PullRequestClosedCode, says: "reopen the pull request on its page"},
	{name: "a merge by someone before ours", at: workflow.MergePullRequest, breaks: mergePulls},
	{name: "a base that moved", at: workflow.MergePullRequest, breaks: func(s *githubtest.Server) { s.Commit("main", map[string]string{"other": "1"}) }},
	{name: "a base that was pushed by force", at: workflow.MergePullRequest, breaks: func(s *githubtest.Server) {
		s.MustRun("", "update-ref", "refs/heads/main", s.MustRun("Anew\n", "commit-tree", s.Head("main")+"^{tree}", "-p", s.Head("main")+"^"))
	}, here: []string{"reset", "-q", "--hard", "origin/main"}, code: workflow.RemoteMovedCode, says: "git pull", again: workflow.BaseRewrittenCode},
	{name: "a deleted base", at: workflow.MergePullRequest, breaks: func(s *githubtest.Server) {
		s.MustRun("", "update-ref", "refs/heads/kept", s.Head("main"))
		s.MustRun("", "update-ref", "-d", "refs/heads/main")
	}, mends: func(s *githubtest.Server) { s.MustRun("", "update-ref", "refs/heads/main", s.Head("kept")) }, code: workflow.NoBaseBranchCode, says: "git push origin main"},
}

func closePulls(s *githubtest.Server)  { closed(s, true) }
func reopenPulls(s *githubtest.Server) { closed(s, false) }

func approvePulls(s *githubtest.Server) {
	s.With(func(st *githubtest.State) {
		for _, p := range st.Pulls {
			p.Reviews = append(p.Reviews, &githubtest.Review{ID: 1, Author: "grace", State: "APPROVED", Commit: s.Head(p.Branch), At: st.Now})
		}
	})
}

func closed(s *githubtest.Server, closed bool) {
	s.With(func(st *githubtest.State) {
		for _, p := range st.Pulls {
			p.Closed = closed
		}
	})
}

func mergePulls(s *githubtest.Server) {
	number := 0
	s.With(func(st *githubtest.State) {
		for n, p := range st.Pulls {
			number, p.Queued = n, s.Head(p.Branch)
		}
	})
	s.MergeQueued(number)
}

func TestWhateverAForgeDoesTheRunSaysWhatToType(t *testing.T) {
	t.Parallel()
	for _, c := range forgeFaults {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := newOnForge(t)
			end := func() bool { return false }
			if c.fault.Status != 0 {
				end = o.server.Inject(c.fault)
			}
			p := straight{dying{outside: o.outside}, func(a workflow.Action) {
				if a.Kind == c.at && c.later {
					c.later = false
					return
				}
				if a.Kind == c.at && c.breaks != nil {
					c.breaks(o.server)
					c.breaks = nil
				}
			}}
			ref := o.start(t, workflow.Settings{AutoApprove: !c.approve, ApproveOnForge: c.approve})
			run := o.goOn(t, p, ref)
			if c.code != "" {
				if run.Error == nil {
					t.Fatalf("it is %s", run.State)
				}
				lines := strings.Join(commandline.Lines(run.Error), "; ")

				if run.Error.ReasonCode != c.code || !strings.Contains(lines, c.says) {
					t.Errorf("it stops with %s, and says to %s; want %s and %q", run.Error.ReasonCode, lines, c.code, c.says)
				}
				end()
				if c.mends != nil {
					c.mends(o.server)
				}
				if len(c.here) > 0 {
					o.git("", "fetch", "-q", "origin")
					o.git("", c.here...)
				}
				if err := o.store.Signal(t.Context(), ref, func(s *workflow.Signals) error { s.ResumeRequested = true; return nil }); err != nil {
					t.Fatal(err)
				}
				run = o.goOn(t, p, ref)
			}
			if c.again == "" {
				o.theirs = strings.Contains(c.name, "merge by someone") || strings.Contains(c.name, "someone merged")
				o.isDone(t, run)
			} else if run.Error == nil || run.Error.ReasonCode != c.again {
				t.Errorf("resumed, it is %s, %+v; want %s", run.State, run.Error, c.again)
			}
		})
	}
}
