package mcp

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"signalbox/internal/access"
)

// Handler answers clients over HTTP, each with the tools of the role that its user has at that moment. It stands behind access's Guard, which has
// checked who calls, from where and how much. Every request is complete by itself, so a client needs no session, and none can be stolen.
func Handler(c Config) http.Handler {
	forms := rand.Text()
	c.Logger = slog.New(quiet{c.Logger.Handler()})
	serves := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		s, _ := r.Context().Value(serverKey{}).(*server)
		return s.Server
	}, &sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: 4 * maxIn, Logger: c.Logger,
		DisableLocalhostProtection: true}) // the Guard knows our names
	return access.Require(access.Viewer, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u := access.From(r.Context())
		if u.Only != "" {
			http.Error(w, "a share link is for a browser", http.StatusForbidden)
			return
		}
		own := c
		own.Role = u.Role
		s := newServer(r.Context(), own, forms)
		s.user = u.Name
		serves.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), serverKey{}, s)))
	}))
}

type serverKey struct{}

// quiet leaves out that each request begins and ends.
type quiet struct{ slog.Handler }

// Enabled implements slog.Handler.
func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}
