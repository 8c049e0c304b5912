package probe_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/probe"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

// The test binary is also the service that is started.
const serviceVariable = "SIGNALBOX_TEST_SERVICE"

func TestMain(m *testing.M) {
	switch behaviour := os.Getenv(serviceVariable); behaviour {
	case "":
		os.Exit(m.Run())
	case "ends":
		fmt.Println("cannot read settings.json: no such file")
		os.Exit(3)
	case "hangs":
		_ = unix.Pause() // select {} would be a deadlock in a program without libc
	default:
		fmt.Println("listening")
		err := http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/broken" {
				fmt.Println("panic: no such order")
				w.WriteHeader(http.StatusInternalServerError)
			}
			_, _ = fmt.Fprintf(w, "%s of %s", r.Method, r.URL.Path)
		}))
		fmt.Println(err)
		os.Exit(1)
	}
}

func started(t *testing.T, behaviour, path string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	if behaviour == "hangs" {
		ctx, cancel = context.WithTimeout(t.Context(), time.Second/5)
	}
	defer cancel()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	return probe.StartAndAsk(ctx, workflow.HealthHTTP{Start: "exec " + self, URL: "http://127.0.0.1:{port}" + path, Method: "GET", Status: 200, Contains: "GET of"},
		process.Host{}, []string{"PATH=" + os.Getenv("PATH"), serviceVariable + "=" + behaviour})
}

func TestAServiceIsStartedAskedAndEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ behaviour, path, want string }{
		{"serves", "/orders", ""},
		{"serves", "/broken", "GET /broken: status 500, want 200\nGET of /broken\nThe service said:\nlistening\npanic: no such order"},
		{"ends", "/orders", "GET /orders: the service ended before it listened: exit code 3\nThe service said:\ncannot read settings.json: no such file"},
		{"hangs", "/orders", "GET /orders: the service did not listen within its time limit"},
	} {
		t.Run(c.behaviour+c.path, func(t *testing.T) {
			t.Parallel()
			err := started(t, c.behaviour, c.path)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var answer *probe.Answer
			if !errors.As(err, &answer) || !strings.Contains(answer.Problem, c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestAnAnswerIsComparedWithTheExpectedOne(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}
		_, _ = fmt.Fprint(w, "all is well\x1b[2J")
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct {
		q    workflow.HealthHTTP
		want string
	}{
		{workflow.HealthHTTP{URL: server.URL, Method: "GET", Status: 200, Contains: "well"}, ""},
		{workflow.HealthHTTP{URL: server.URL, Method: "GET", Status: 204}, "status 200, want 204"},
		{workflow.HealthHTTP{URL: server.URL, Method: "GET", Status: 200, Contains: "ready"}, `does not contain "ready"`},
		{workflow.HealthHTTP{URL: server.URL + "/moved", Method: "GET", Status: 302}, ""},
		{workflow.HealthHTTP{URL: "http://127.0.0.1:1/", Method: "GET", Status: 200}, "connection refused"},
	} {
		err := probe.Ask(t.Context(), c.q)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b")) {
			t.Errorf("%+v: %v, want %q", c.q, err, c.want)
		}
	}
}
