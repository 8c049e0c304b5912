package forgetest

import (
	"strings"
	"testing"

	"signalbox/internal/forge"
)

// announcements are a run's that stops for a person, and then goes on.
func (p *project) announcements(t *testing.T) []Announce {
	t.Helper()
	if _, ok := p.forge.(forge.Announcer); !ok {
		t.Skip("requests have no comments but one")
	}
	call := &forge.PersonCall{Key: "signalbox/call/1", Body: "It needs you."}
	return []Announce{
		{p.Request, forge.Announcement{Run: "run-1", Progress: "It waits.", Data: `{"phase":1}`, Call: call, Label: forge.LabelNeedsInput}},
		{p.Request, forge.Announcement{Run: "run-1", Progress: "It goes on.", Data: `{"phase":2}`, Label: forge.LabelRunning}},
	}
}

// wantAnnounced wants one progress comment that says what the announcement does, and one call.
func (p *project) wantAnnounced(t *testing.T, a Announce) {
	t.Helper()
	said := p.Comments(t)
	if all := strings.Join(said, "\n"); len(said) != 2 || strings.Count(all, "It needs you.") != 1 || strings.Count(all, a.Announcement.Progress) != 1 ||
		!strings.Contains(all, a.Announcement.Data) {
		t.Errorf("the comments are %q, want one call and one with %q", said, a.Announcement.Progress)
	}
}

func lostAnnouncement(t *testing.T, p *project) {
	atEveryAnswer(t, p, func(t *testing.T, p *project, lose func(Operation)) {
		for _, a := range p.announcements(t) {
			lose(Operation{Announce: &a})
			p.wantAnnounced(t, a)
		}
	})
}

func killedAnnouncement(t *testing.T, p *project) {
	all := p.announcements(t)
	atEveryInstant(t, p, func(t *testing.T, p *project, kill func(Operation) bool) {
		kill(Operation{Announce: &all[0]})
		for _, a := range all {
			if err := (Operation{Announce: &a}).Perform(t.Context(), p.Open(t)); err != nil {
				t.Error(err)
			}
			p.wantAnnounced(t, a)
		}
	})
}
