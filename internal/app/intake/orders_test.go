package intake_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/app/intake"
	"signalbox/internal/forge"
)

// says has an account write a comment, and returns why the order was refused; "obeyed" if it was not, and empty if it was none.
func (h *history) says(by, body string) string {
	h.t.Helper()
	h.world.now = h.world.now.Add(time.Minute)
	h.world.write(41, by, body)
	return h.looks()
}

func (h *history) looks() (outcome string) {
	h.t.Helper()
	var told []string
	h.listen(nil, func(ctx context.Context, i *intake.Intake) (intake.Heard, error) {
		heard, err := i.Look(ctx)
		for _, o := range heard.Orders {
			told = append(told, o.Refused)
			if o.Refused == "" {
				told[len(told)-1] = "obeyed"
			}
		}
		return heard, err
	})
	return strings.Join(told, "; ")
}

func TestAnOrderIsObeyedOrRefusedInWords(t *testing.T) {
	t.Parallel()
	h := newHistory(t, t.TempDir())
	h.looks()
	wants := func(got, want string) {
		t.Helper()
		if got != want && (want == "" || want == "obeyed" || !strings.Contains(got, want)) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	wants(h.says("ada", "/signalbox approve"), "There is no run of it")
	wants(h.says("mallory", "/signalbox run"), "no write access")
	wants(h.says("helper[bot]", "/signalbox run"), "")
	wants(h.says("ada", "/signalbox run"), "obeyed")
	wants(h.says("ada", "/signalbox run"), "Its run waits: waits for approval. To continue it, write `/signalbox resume`.")
	head := h.head(41)
	wants(h.says("ada", "/signalbox approve"), "write `/signalbox approve "+head[:12]+"`")
	wants(h.says("grace", "/signalbox reject\nsay it in French"), "obeyed")
	wants(h.says("ada", "/signalbox approve"), "No comment before it shows the commit")
	wants(h.says("ada", "/signalbox approve "+head), "the change is "+h.head(41)[:10]+", not "+head)
	wants(h.says("ada", "/signalbox retry"), "only a failed run is retried")
	wants(h.says("ada", "/signalbox stop"), "not under way")
	wants(h.says("ada", "/signalbox answer yes"), "it asks nothing")
	wants(h.says("mallory", "/signalbox approve "+h.head(41)), "no write access")
	h.world.writers = []string{"grace"}
	wants(h.says("ada", "/signalbox approve "+h.head(41)), "no write access")
	h.cancel(41)
	wants(h.says("grace", "/signalbox run"), "obeyed")
	wants(h.says("grace", "/signalbox status"), "obeyed")
	wants(h.says("grace", "/signalbox approve"), "obeyed") // the status showed the commit
	wants(h.says("grace", "/signalbox run"), "Its change is merged")
	h.world.issues[42].Closed = true
	h.world.label(42, "grace", "signalbox")
	wants(h.looks(), "The issue is closed")
	h.world.label(43, "mallory", "signalbox")
	wants(h.looks(), "no write access")
	took := []string{"begin", `reject  "say it in French" by grace`, "begin", fmt.Sprintf(`approve %s "" by grace`, h.head(41))}
	if !slices.Equal(h.took[41], took) || len(h.took[42])+len(h.took[43]) > 0 {
		t.Errorf("the runs took %v, want %q", h.took, took)
	}
	ours, permission := 0, 0
	for _, r := range h.world.remarks[forge.OnIssue(41)] {
		if r.Author == me {
			ours++
			if strings.Contains(r.Body, "Only people with write access") {
				permission++
			}
		} else if eyes := h.world.eyes[r.ID]; eyes > 1 || eyes == 1 && (r.Author == "mallory" || r.ByBot) {
			t.Errorf("%q by %s was acknowledged %d times", r.Body, r.Author, eyes)
		}
	}
	if permission != 1 || ours != 11 {
		t.Errorf("%d comments are ours, %d of them about write access", ours, permission)
	}
}
