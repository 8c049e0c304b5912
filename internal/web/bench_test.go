package web

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"signalbox/internal/access"
	"signalbox/internal/app/apptest"
	"signalbox/internal/engine"
	"signalbox/internal/workflow"
)

// BenchmarkChange measures from a change of stage.json to the frame of a browser that shows it, while 200 runs change in turn, 20 in a second.
func BenchmarkChange(b *testing.B) {
	dir := apptest.Make(b, apptest.Greeting)
	p := apptest.Open(b, dir)
	var runs []workflow.Run
	for i := range 200 {
		run := runOf(b, p, 100+i, fmt.Sprintf("Change number %d", i))
		lock, err := p.Store.LockRequest(b.Context(), run.RequestID, engine.Owner{Name: "run"})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = lock.Release() })
		save(b, p, &run, func(r *workflow.Run) { r.State, r.EndedAt, r.Error = workflow.Running, nil, nil })
		runs = append(runs, run)
	}
	v := visits(b, dir, access.User{Name: "ada", Role: access.Approver})
	page := newBrowser(b)
	page.does(chromedp.Navigate(v.at+"/p/demo/"), run(`window.took = [];
		new MutationObserver((all) => { const at = new Set(); for (const m of all) for (const n of m.addedNodes) { const t = /at (\d{13})/.exec(n.textContent ?? ""); if (t) at.add(Number(t[1])) }
			requestAnimationFrame(() => { const now = Date.now(); for (const t of at) took.push(now - t) }) }).observe(document.querySelector("#board"), {subtree: true, childList: true})`))
	page.sees(`document.querySelectorAll("#col-working .card").length === 200 && document.querySelector(".link").textContent === "Live"`)
	size := asks[int](page, `document.documentElement.innerHTML.length`)
	changes := 0
	pace := time.NewTicker(time.Second / 20)
	defer pace.Stop()
	for b.Loop() {
		for i := range runs {
			<-pace.C
			save(b, p, &runs[i], func(r *workflow.Run) {
				r.UpdatedAt = time.Now().UTC()
				r.Progress.Message = fmt.Sprintf("at %d", r.UpdatedAt.UnixMilli())
			})
			changes++
		}
		page.sees(fmt.Sprintf(`document.body.textContent.includes(%q)`, runs[len(runs)-1].Progress.Message))
	}
	took := asks[[]float64](page, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(took))))`)
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "ms-p50")
	b.ReportMetric(took[len(took)*95/100], "ms-p95")
	b.ReportMetric(float64(len(took))/float64(changes), "shown/change")
	b.ReportMetric(float64(asks[int](page, `document.documentElement.innerHTML.length`)-size), "grown-bytes")
}

// BenchmarkFirstView measures the first page of a project with a thousand runs, by a server that knows nothing yet and by one that watches.
func BenchmarkFirstView(b *testing.B) {
	dir := apptest.Make(b, apptest.Greeting)
	p := apptest.Open(b, dir)
	for i := range 1000 {
		run := workflow.New(workflow.Start{RequestID: fmt.Sprintf("RQ-20260102-%04d", i), RunID: fmt.Sprintf("20260102-%06d-aaaaaa", i), Number: 100 + i, Title: fmt.Sprintf("Change number %d", i), Branch: "signalbox/x", Base: "main"}, time.Now().UTC())
		if err := p.Store.CreateRun(b.Context(), &run); err != nil {
			b.Fatal(err)
		}
		if i%20 != 0 {
			save(b, p, &run, func(r *workflow.Run) { r.State = workflow.Running })
			save(b, p, &run, func(r *workflow.Run) { r.State, r.EndedAt = workflow.Done, &r.UpdatedAt })
		}
	}
	for b.Loop() {
		v := visits(b, dir, access.User{Name: "ada", Role: access.Approver})
		for _, is := range []string{"cold", "warm"} {
			began := time.Now()
			status, body, _ := v.asks(http.MethodGet, "/p/demo/", "en", nil)
			if status != http.StatusOK {
				b.Fatal(body)
			}
			b.ReportMetric(float64(time.Since(began).Microseconds())/1000, is+"-ms")
			b.ReportMetric(float64(len(body)), "bytes")
		}
	}
}

// BenchmarkIdlePages measures what a thousand pages cost that are only open.
func BenchmarkIdlePages(b *testing.B) {
	dir := apptest.Make(b, apptest.Greeting)
	for b.Loop() {
		v := visits(b, dir, access.User{Name: "ada", Role: access.Viewer})
		before := used()
		var ends []io.Closer
		for range 1000 {
			response, err := http.Get(v.at + "/p/demo/events")
			if err != nil {
				b.Fatal(err)
			}
			ends = append(ends, response.Body)
		}
		b.ReportMetric(float64(used()-before)/1e6, "MB") // the other ends of the connections included
		for _, e := range ends {
			_ = e.Close()
		}
	}
}

func used() uint64 {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}
