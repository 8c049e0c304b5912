// Package access owns who may use Signalbox over HTTP: users, roles, logins, sessions, share links, and the record of what each did. A Guard stands
// before every page and every call, and the handlers behind it ask From(ctx) alone. It refuses to know what a page shows or what an order does.
package access

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

// Role is what a user may do. Each role may do all that the roles below it may; the zero value may nothing.
type Role int

const (
	// Viewer sees runs, logs and changes.
	Viewer Role = iota + 1
	// Operator starts, stops, resumes and rejects runs, writes requests and answers questions.
	Operator
	// Approver agrees to changes, and allows what agents ask permission for.
	Approver
)

// roles are the names of the roles, from Viewer on.
var roles = []string{"viewer", "operator", "approver"}

func (r Role) String() string {
	if r < Viewer || r > Approver {
		return "none"
	}
	return roles[r-Viewer]
}

// ParseRole returns the role with this name.
func ParseRole(name string) (Role, error) {
	if i := slices.Index(roles, name); i >= 0 {
		return Viewer + Role(i), nil
	}
	return 0, fmt.Errorf("%q is no role: want viewer, operator or approver", name)
}

// User is the person or program that makes a request.
type User struct {
	Name string
	Role Role
	// Only is the one run that a share link shows its user; empty for everyone else.
	Only string
}

// May reports whether the user has a role, or one above it.
func (u User) May(r Role) bool { return r >= Viewer && u.Role >= r }

// Sees reports whether the user may see a run.
func (u User) Sees(run string) bool { return u.May(Viewer) && (u.Only == "" || u.Only == run) }

type userKey struct{}

// With returns a context in which a user acts.
func With(ctx context.Context, u User) context.Context { return context.WithValue(ctx, userKey{}, u) }

// From returns the user who acts; the zero User if none does.
func From(ctx context.Context) User {
	u, _ := ctx.Value(userKey{}).(User)
	return u
}

type stillKey struct{}

// Still reports whether the user who acts is let through now as when the request came. An answer that lasts asks before each of its parts.
func Still(ctx context.Context) bool {
	still, guarded := ctx.Value(stillKey{}).(func() bool)
	return !guarded || still()
}

// Require refuses users without the role.
func Require(r Role, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if u := From(request.Context()); !u.May(r) {
			http.Error(w, fmt.Sprintf("this needs the role %s; %s has the role %s", r, u.Name, u.Role), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, request)
	})
}
