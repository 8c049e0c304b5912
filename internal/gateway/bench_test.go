package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/gateway"
)

// BenchmarkStream is 10 MB of a model's answer, in events of a word as vendors send them and in large
// ones, as a ratio to the same without the gateway.
func BenchmarkStream(b *testing.B) {
	for _, size := range []int{12, 4 << 10} {
		b.Run(fmt.Sprintf("text=%d", size), func(b *testing.B) {
			event := `event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + strings.Repeat("x", size) + `"}}` + "\n\n"
			all := bytes.Repeat([]byte(event), 10_000_000/len(event))
			all = append(all, "data: {\"type\":\"message_stop\"}\n\n"...)
			url := upstream(b, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write(all)
			})
			s := open(b, start(b, gateway.Config{}), url)
			client := transport(b)
			direct, through := time.Duration(0), time.Duration(0)
			for b.Loop() {
				direct += fetch(b, client, agent.Endpoint{URL: url}, len(all))
				through += fetch(b, client, s.Endpoint, len(all))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(through)/float64(direct), "ratio")
			b.ReportMetric(float64(len(all)*b.N)/through.Seconds()/1e6, "MB/s")
		})
	}
}

func fetch(b *testing.B, client *http.Transport, at agent.Endpoint, want int) time.Duration {
	b.Helper()
	began := time.Now()
	response, err := client.RoundTrip(clients[0].request(b, at, true))
	if err != nil {
		b.Fatal(err)
	}
	n, err := io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if err != nil || int(n) != want {
		b.Fatalf("%d bytes of %d, %v", n, want, err)
	}
	return time.Since(began)
}
