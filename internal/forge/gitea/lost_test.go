package gitea_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// cut is a proxy that has the n-th change performed and cuts the connection instead of answering.
type cut struct {
	*httptest.Server
	lost atomic.Bool
}

func newCut(t *testing.T, n int) *cut {
	t.Helper()
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	c := &cut{}
	var changes atomic.Int64
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || changes.Add(1)-1 != int64(n) {
			proxy.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		c.lost.Store(true)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(c.Close)
	return c
}
