package web

import (
	"testing"

	"github.com/chromedp/chromedp"

	"signalbox/internal/app/apptest"
	"signalbox/internal/workflow"
)

// A person marks a file as viewed, comments on a line, leaves, comes back, and sends the change back. The next change has new files only unmarked.
func TestAPersonCommentsOnLinesInABrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	dir := apptest.Make(t, changes())
	p := apptest.Open(t, dir)
	s := &server{TB: t, address: "127.0.0.1:0", dir: dir}
	s.starts()
	defer s.dies()
	run := waits(t, p)
	diff := "http://" + s.address + "/p/demo/runs/7/diff"
	b.does(chromedp.Navigate(diff))

	const file = `document.querySelector('.patch[data-path="greeting.txt"]')`
	key := func(from, name string) {
		t.Helper()
		asks[bool](b, from+`.dispatchEvent(new KeyboardEvent("keydown", {key: "`+name+`", bubbles: true, cancelable: true}))`)
	}
	asks[bool](b, `document.querySelector('.patch[data-path="short.txt"]').querySelector("summary").focus(), true`)
	key("document.activeElement", "v")
	b.sees(`document.querySelector("#seen").textContent.includes("1 of 3")`)
	asks[bool](b, `(() => { const row = `+file+`.querySelector("tr:has(td.new)"); row.tabIndex = -1; row.focus(); return true })()`)
	key("document.activeElement", "c")
	b.sees(file + `.querySelector("tr.comment textarea") === document.activeElement`)
	asks[bool](b, `document.activeElement.value = "say <b>whom</b>", document.activeElement.form.requestSubmit(), true`)
	b.sees(file + `.querySelector("tr.comment pre").textContent === "say <b>whom</b>" && document.querySelector("#comments").textContent.startsWith("1 comment on a line")`)
	asks[bool](b, file+`.querySelector("tr.comment button").click(), true`) // "Edit", then "Cancel"
	b.sees(file + `.querySelector("tr.comment .meta").textContent === "Line 1"`)
	b.sees(`document.activeElement.value === "say <b>whom</b>"`)
	asks[bool](b, `document.activeElement.value = "", document.activeElement.form.querySelector("button.quiet").click(), true`)
	b.sees(file + `.querySelector("tr.comment pre").textContent === "say <b>whom</b>"`)

	b.does(chromedp.Reload())
	b.sees(file + `.querySelector("tr.comment pre").textContent === "say <b>whom</b>" && !document.querySelector('.patch[data-path="short.txt"] details').open`)
	for _, page := range []string{"runs/7/history", "new", "environments", "sessions", "health", "cost", "doctor", "runs/7/diff"} {
		axe(b, "http://"+s.address+"/p/demo/"+page)
	}
	b.does(chromedp.Navigate(diff))
	asks[bool](b, `document.querySelector('form[action$="/review"]').requestSubmit(), true`)
	now, err := p.Store.LoadRun(t.Context(), workflow.RefOf(&run))
	for err == nil && (now.Details.Rejection == nil || now.State != workflow.NeedsInput) {
		at, changed := p.Changed(t.Context(), "7", now.Details.Transition)
		now, err = at.Run, changed
	}
	if err != nil || now.Details.Rejection.Reason != "greeting.txt:1\n> hello world\nsay <b>whom</b>" {
		t.Fatalf("it was sent back with %+v, %v", now.Details.Rejection, err)
	}
	if at := asks[string](b, `location.pathname`); at != "/p/demo/runs/RQ-20260101-007" {
		t.Errorf("after the order the page is %s", at)
	}
	b.does(chromedp.Navigate(diff))
	b.sees(`document.querySelector('.patch[data-path="again.txt"] details').open && !document.querySelector('.patch[data-path="short.txt"] details').open && !document.querySelector("tr.comment")`)
	if n := asks[int](b, `window.pwned + violations.length + document.querySelectorAll("main :is(img, script)").length`); n != 0 {
		t.Errorf("a text became more than text: %s", asks[string](b, `JSON.stringify(violations)`))
	}
	s.dies()
	asks[bool](b, `document.querySelector("#whole").value = "no", document.querySelector('form[action$="/review"]').requestSubmit(), true`)
	b.sees(`document.querySelector("#toast").textContent.includes("nothing was ordered")`)
}
