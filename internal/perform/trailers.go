package perform

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/git"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Commits says what the commits of a run carry beside the user's name.
type Commits struct {
	// Sign says which are signed; empty means none.
	Sign git.Signing
	// SignOff adds the user's Signed-off-by.
	SignOff bool
	// Trailer names the agents that took part; empty leaves them out.
	Trailer Trailer
}

// Trailer is the line that names an agent.
type Trailer string

const (
	AssistedBy   Trailer = "assisted-by"
	CoAuthoredBy Trailer = "co-authored-by"
)

// trailers name the agents of some roles, and the user where they sign off.
func (x *execution) trailers(ctx context.Context, roles ...workflow.Role) string {
	var lines []string
	for _, a := range x.run.Details.Assistants {
		if !slices.Contains(roles, a.Role) {
			continue
		}
		name := strings.Map(func(r rune) rune {
			if strings.ContainsRune("<>", r) {
				return -1
			}
			return r
		}, redact.Line(cmp.Or(a.Program, a.Agent), 100))
		model := redact.Line(a.Model, 100)
		if model != "" {
			name += " (" + strings.NewReplacer("<", "", ">", "").Replace(model) + ")"
		}
		switch x.Commits.Trailer {
		case AssistedBy:
			lines = append(lines, "Assisted-by: "+name)
		case CoAuthoredBy:
			lines = append(lines, "Co-authored-by: "+name+" <noreply@localhost>")
		}
	}
	if user, err := x.Repo.User(ctx); x.Commits.SignOff && err == nil {
		lines = append(lines, fmt.Sprintf("Signed-off-by: %s <%s>", user.Committer.Name, user.Committer.Email))
	}
	slices.Sort(lines)
	text := strings.Join(slices.Compact(lines), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}
