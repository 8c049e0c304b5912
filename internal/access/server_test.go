package access_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"testing"
)

func TestAConnectionHasFewRequestsAtATime(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token := s.user("vera", "viewer")
	at := httptest.NewUnstartedServer(nil)
	at.Config = s.Server(s.Protect(s.pages()))
	at.EnableHTTP2 = true
	at.StartTLS()
	t.Cleanup(at.Close)
	client := at.Client()
	connections := map[net.Addr]int{}
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { connections[c.Conn.LocalAddr()]++ }}
	for range 65 {
		r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodGet, at.URL+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		if response.ProtoMajor != 2 || response.StatusCode != http.StatusOK {
			t.Fatalf("%s by %s", response.Status, response.Proto)
		}
	}
	if len(connections) != 2 {
		t.Errorf("the connections have %v", connections)
	}
}
