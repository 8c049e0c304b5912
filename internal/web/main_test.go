package web

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"testing"

	"signalbox/internal/access"
	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/app/background"
	"signalbox/internal/git/gitcmd"
	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

// The tests' program is also what they start: a process that executes a run, as "signalbox run", and one that serves the pages.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1][0] == '-' {
		os.Exit(m.Run())
	}
	if err := child(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(problem.CodeOf(err))
	}
}

func child(ctx context.Context, args []string) error {
	if args[0] == "serve" {
		listener, err := net.Listen("tcp", args[1])
		if err != nil {
			return err
		}
		fmt.Println(listener.Addr())
		handler, err := New(ctx, Config{Projects: map[string]Open{"demo": opens(args[2])}, Starter: background.Starter{}, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		return http.Serve(listener, as(access.User{Name: "ada", Role: access.Approver}, handler))
	}
	p, err := app.Open(ctx, apptest.Opener("."))
	if err != nil {
		return err
	}
	silent := func(*app.App) func(workflow.Run) { return func(workflow.Run) {} }
	if args[0] == "stop" {
		_, err = p.Give(ctx, args[len(args)-1], app.Stop(len(args) == 4), silent)
		return err
	}
	_, err = p.StartRuns(ctx, args[len(args)-1:], silent)
	return err
}

// opens opens the project in dir for one call.
func opens(dir string) Open {
	return func(ctx context.Context) (context.Context, *app.App, func(), error) {
		ctx, end := gitcmd.Scope(ctx)
		p, err := app.Open(ctx, apptest.Opener(dir))
		if err != nil {
			end()
			return ctx, nil, nil, err
		}
		return ctx, p, func() { _ = p.Store.Close(); end() }, nil
	}
}

// as has a user make all requests, as the guard in front of the pages does, with the policy that it sets.
func as(user access.User, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'")
		handler.ServeHTTP(w, r.WithContext(access.With(r.Context(), user)))
	})
}
