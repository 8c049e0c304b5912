package gitea_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge/hosted"
	"signalbox/internal/store"
)

// Gitea has no parents: both issues say it, and the parent's author may write.
func TestAParentIsClosedWithTheLastOfItsParts(t *testing.T) {
	t.Parallel()
	at := newTarget(t)
	driver, err := at.driver(nil)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := store.Open(t.Context(), store.Config{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	f := hosted.New(hosted.Config{Server: driver, Store: documents, Clock: time.Now})
	other, err := server.User(t.Context(), "untrusted-"+at.Name)
	if err != nil {
		t.Fatal(err)
	}
	open := func(token, body string) (number int) {
		var opened struct{ Number int }
		if err := server.Call(t.Context(), token, http.MethodPost, "repos/"+bot+"/"+at.Name+"/issues", map[string]any{"title": "An issue", "body": body}, &opened); err != nil {
			t.Fatal(err)
		}
		return opened.Number
	}
	carry := func(number int) {
		request, err := f.Request(t.Context(), fmt.Sprint(number))
		if err == nil {
			err = f.CloseRequest(t.Context(), request, "")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	wantClosed := func(number int, want bool, why string) {
		t.Helper()
		if issue, err := driver.Issue(t.Context(), number); err != nil || issue.Closed != want {
			t.Errorf("%s: closed is %t, %v", why, issue.Closed, err)
		}
	}
	// Issues 1 and 2 are parents of 3 and 4; 1 is also the part of 2 that comes last.
	open(at.Token, "Part of #2\n\n- [ ] #3\n- [x] #4\n")
	open(at.Token, "- [ ] #1\n- [x] written about")
	open(other, "Part of #1")
	open(other, "parent: #1")
	carry(3)
	wantClosed(1, false, "a part is open")
	carry(4)
	wantClosed(1, true, "all parts are closed")
	wantClosed(2, true, "its only part is closed")
	if said := strings.Join(at.comments(t, 1), ""); strings.Count(said, "All parts of this issue are done:") != 1 || strings.Count(said, "An issue") != 2 {
		t.Errorf("the comments are %q", said)
	}
	for why, parent := range map[string]func(part int) int{
		"the parent lists another issue":             func(int) int { return open(at.Token, "- [ ] #3") },
		"the parent is by someone who may not write": func(part int) int { return open(other, fmt.Sprintf("- [ ] #%d", part)) },
		"a task is no issue":                         func(part int) int { return open(at.Token, fmt.Sprintf("- [ ] #%d\n- [ ] write about it", part)) },
		"a part is not there":                        func(part int) int { return open(at.Token, fmt.Sprintf("- [ ] #%d\n- [ ] #999", part)) },
		"no page shows its list":                     func(part int) int { return open(at.Token, fmt.Sprintf("Text\n\n<!--\n- [ ] #%d\n-->", part)) },
	} {
		part := open(other, "")
		number := parent(part)
		at.call(t, http.MethodPatch, fmt.Sprintf("/issues/%d", part), map[string]any{"body": fmt.Sprintf("Part of #%d", number)}, nil)
		carry(part)
		wantClosed(part, true, why)
		wantClosed(number, false, why)
	}
}
