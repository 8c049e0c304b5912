package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	devtools "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/workflow"
)

// browser is a Chromium with one page.
type browser struct {
	testing.TB
	ctx context.Context
}

// watches is run before all scripts of a page: it counts what must not happen.
const watches = `window.violations = []; window.pwned = 0;
	document.addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective + " " + e.sourceFile));
	addEventListener("error", (e) => violations.push(e.message)); addEventListener("unhandledrejection", (e) => violations.push(String(e.reason)));
	for (const name of ["alert", "confirm", "prompt"]) window[name] = () => { pwned++ }`

func newBrowser(t testing.TB) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is missing: install it, as scripts/test.sh does")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1300, 900))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	return tab(t, ctx)
}

// tab is a page in a browser.
func tab(t testing.TB, ctx context.Context) *browser {
	t.Helper()
	if _, err := chromedp.Call(ctx, devtools.AddScriptToEvaluateOnNewDocument, devtools.AddScriptToEvaluateOnNewDocumentParams{Source: watches}); err != nil {
		t.Fatal(err)
	}
	return &browser{t, ctx}
}

func (b *browser) does(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// run evaluates an expression for what it does.
func run(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](expression)
}

// asks evaluates an expression in the page.
func asks[T any](b *browser, expression string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatal(err)
	}
	return value
}

// sees waits until an expression is true, which is asked at each change of the page.
func (b *browser) sees(expression string) {
	b.Helper()
	const wait = `new Promise((done, fail) => { const is = () => { if (%[1]s) { watch.disconnect(); done(true); return true } }; const watch = new MutationObserver(is);
		if (!is()) { watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true}); setTimeout(() => fail(new Error("it never came: " + %[2]q + "\n" + document.body.innerText.replace(document.querySelector("#log")?.innerText, "").slice(0, 3000) + document.querySelector("#toast")?.textContent)), 50000) } })`
	asks[bool](b, fmt.Sprintf(wait, expression, expression))
}

// server is a process that serves a project's pages.
type server struct {
	testing.TB
	*exec.Cmd
	address, dir string
}

func (s *server) starts() {
	s.Helper()
	self, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	s.Cmd = exec.CommandContext(s.Context(), self, "serve", s.address, s.dir)
	s.Stderr = os.Stderr
	out, err := s.StdoutPipe()
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		s.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		s.Fatal("the server doesn't start")
	}
	s.address = lines.Text()
}

// dies kills the server as it is.
func (s *server) dies() {
	_ = s.Process.Kill()
	_ = s.Wait()
}

// orders sends the form on the run's page that orders something.
func (b *browser) orders(verb string) {
	b.Helper()
	form := fmt.Sprintf(`[...document.querySelectorAll("#run-now form")].find((f) => f.elements.verb?.value === %q)`, verb)
	b.sees(form)
	asks[chromedp.Void](b, form+`.requestSubmit()`)
}

// A person writes a request, has it run, stops and resumes it, reads what its agent says, and approves its change, in pages that are loaded once. Their
// server is killed on the way.
func TestAPersonCarriesARequestToItsMergeInABrowser(t *testing.T) {
	t.Parallel()
	second := newBrowser(t)
	files := maps.Clone(apptest.Greeting)
	gate := filepath.Join(t.TempDir(), "gate")
	files["agent.sh"] = "cat >/dev/null\nseq -f 'line %g' 1 500\nuntil [ -e " + gate + " ]; do sleep 0.05; done\nseq -f 'line %g' 501 800\necho hello world >greeting.txt\n"
	files[".signalbox/config.yaml"] += "tests: ['true']\n"
	s := &server{TB: t, address: "127.0.0.1:0", dir: apptest.Make(t, files)}
	s.starts()
	defer func() { s.dies() }()
	at := "http://" + s.address + "/p/demo/"
	second.does(chromedp.Navigate(at), run(`window.loaded = 1; window.notified = []; Object.defineProperty(document, "hidden", {get: () => true});
		window.Notification = class { static permission = "granted"; constructor(title, {body, tag}) { notified.push(title + ": " + body + (notified.tags ??= new Set()).has(tag)); notified.tags.add(tag) } }`))
	second.sees(`document.querySelector(".link").textContent === "Live"`)

	reader, stop := chromedp.NewContext(second.ctx) // another page of the same browser
	defer stop()
	b := tab(t, reader)
	b.does(chromedp.Navigate(at+"new"), chromedp.SendKeys(`#new [name=title]`, "Greet the moon"), chromedp.SendKeys(`#new [name=description]`, "Say hello to it."), chromedp.Click(`#new .primary`), chromedp.WaitReady(`#run-track`))
	b.does(run(`window.loaded = 1; window.printed = [];
		new MutationObserver((all) => { for (const m of all) for (const n of m.addedNodes) if (/^line /.test(n.textContent)) printed.push(Number(n.textContent.slice(5))) }).observe(document.querySelector("#log"), {childList: true});
		for (const n of document.querySelectorAll("#log .line")) if (/^line /.test(n.textContent)) printed.push(Number(n.textContent.slice(5)))`))
	const card = `[...document.querySelectorAll(".card")].find((c) => c.textContent.includes("Greet the moon"))`
	b.sees(`printed.length === 500`)
	b.orders("stop")
	second.sees(card + `?.closest("#col-needs")`)
	b.orders("resume")
	b.sees(`printed.length === 1000`) // the same log goes on
	s.dies()
	b.sees(`document.querySelector(".link.away")`)
	s.starts()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.sees(`document.querySelector("#run-now .primary")?.textContent.startsWith("Approve")`)
	b.sees(`printed.length >= 1300`)
	if !asks[bool](b, `printed.length === 1300 && printed.every((n, i) => n === (i < 500 ? i : i - 500) + 1)`) {
		t.Errorf("of what the agent printed the page got %s", asks[string](b, `JSON.stringify(printed)`))
	}
	second.sees(card + `?.closest("#col-ready")`)
	if !asks[bool](second, `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "j", bubbles: true})), document.activeElement.closest(".card") !== null`) {
		t.Error("no key leads to a card")
	}
	commit := asks[string](second, card+`.querySelector("[name=commit]").value`)
	asks[chromedp.Void](second, `(() => { const f = `+card+`.querySelector("[name=commit]").form; f.requestSubmit(); f.requestSubmit() })()`)
	b.sees(`document.querySelector("#run-head .badge.done")`)
	second.sees(card + `?.closest("#col-done")`)
	want := regexp.MustCompile(`^#\d+ Greet the moon: Needs you: .*false Ready to merge: .*false Done.*false$`)
	if told := asks[string](second, `notified.map((n, i) => i ? n.replace(/^.*?moon: /, "") : n).join(" ")`); !want.MatchString(told) {
		t.Errorf("the person who looks elsewhere is told %q", told)
	}
	for _, page := range []*browser{b, second} {
		if asks[int](page, `window.loaded ?? 0`) != 1 || asks[int](page, `violations.length`) != 0 {
			t.Errorf("the page was loaded again, or breaks its policy: %s", asks[string](page, `JSON.stringify(violations)`))
		}
	}
	p := apptest.Open(t, s.dir)
	found, err := p.Find(t.Context(), asks[string](b, `document.querySelector("#run-head .no").textContent.slice(1)`))
	if err != nil {
		t.Fatal(err)
	}
	if a := found.Run.Details.Approval; found.Run.State != workflow.Done || a.Commit != commit || !strings.HasSuffix(a.By, " through the web page as ada") {
		t.Errorf("the run is %s, approved by %+v", found.Run.State, a)
	}
	b.does(chromedp.Click(`#log-link`), chromedp.WaitReady(`.log.whole`))
	runOf(t, p, 101, "Say why")
	for _, path := range []string{"", "runs/" + found.Run.Ref(), "runs/101", "new", "runs/" + found.Run.Ref() + "/diff", "runs/" + found.Run.Ref() + "/history", "environments", "health", "cost", "doctor"} {
		axe(b, at+path)
	}
}

// hostile are texts of people who want to act in a reader's browser, or to deceive them.
func hostile() (all []string) {
	for _, act := range []string{`window.pwned=1`, `window.pwned++//`} {
		all = append(all, `<script>`+act+`</script>`, `<img src=x onerror="`+act+`">`, `"><svg onload=`+act+`>`, `' onmouseover='`+act, `" autofocus onfocus="`+act, `</textarea><script>`+act+`</script>`,
			`</title><script>`+act+`</script>`, `</pre><iframe srcdoc="<script>parent.`+act+`</script>">`, `javascript:`+act, `<a href="javascript:`+act+`">x</a>`, `<style>@import 'http://127.0.0.1:1/'</style>`,
			`<body onload=`+act+`>`, `{{`+act+`}}`, "${"+act+"}", `<!--><script>`+act+`</script>`, `<math><mtext></p><script>`+act+`</script>`, `<base href=//127.0.0.1:1/>`, `<meta http-equiv=refresh content="0;url=//127.0.0.1:1/">`,
			`<form action=//127.0.0.1:1/><button>`, `<link rel=stylesheet href=//127.0.0.1:1/>`, `<template><script>`+act+`</script></template>`, `<object data="data:text/html,<script>`+act+`</script>">`,
			"\x1b]8;;javascript:"+act+"\x07x\x1b]8;;\x07", "a\u202egnp.exe", `&lt;script&gt;`+act, `<details open ontoggle=`+act+`>`, `<video src=x onerror=`+act+`>`, `<input type=image src=x onerror=`+act+`>`,
			`]]><script>`+act+`</script>`, "\nid: 9\nevent: hello\ndata: {\"version\":\"x\"}\n\n")
	}
	return all
}

func TestUntrustedTextIsTextInABrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	dir := apptest.Make(t, apptest.Greeting)
	p := apptest.Open(t, dir)
	s := &server{TB: t, address: "127.0.0.1:0", dir: dir}
	s.starts()
	defer s.dies()
	at := "http://" + s.address + "/p/demo/"
	b.does(chromedp.Navigate(at))
	b.sees(`document.querySelector(".link").textContent === "Live"`)
	texts := hostile()
	for i, text := range texts { // they come as events, after the page was loaded
		runOf(t, p, i+100, text)
	}
	b.sees(fmt.Sprintf(`document.querySelectorAll(".card").length === %d`, len(texts)+1))
	harmless := func(what string) {
		t.Helper()
		if n := asks[int](b, `document.querySelectorAll("main :is(img, iframe, script, style, link, meta, base, object, video, math, body, [onerror], [onload], [onfocus]), main svg").length + window.pwned + violations.length`); n != 0 {
			t.Errorf("%s: a text became more than text, %s", what, asks[string](b, `JSON.stringify([window.pwned, violations])`))
		}
	}
	harmless("the board as it changed")
	b.does(chromedp.Reload())
	harmless("the board as it was loaded")
	shown := asks[[]string](b, `[...document.querySelectorAll(".card h3 bdi")].map((t) => t.textContent)`)
	for _, text := range texts {
		if want := p.Redact.Line(text, 200); !slices.Contains(shown, want) {
			t.Errorf("no card says %q", want)
		}
	}
	for _, i := range []int{0, len(texts) - 1} {
		b.does(chromedp.Navigate(fmt.Sprintf("%sruns/%d", at, i+100)))
		b.sees(`document.querySelectorAll("#log > *").length >= ` + fmt.Sprint(len(texts)))
		harmless("a run")
	}
}

// axe has a page judged by how people read it who can't see it, or use no mouse.
func axe(b *browser, address string) {
	b.Helper()
	rules, err := os.ReadFile(filepath.Join(os.Getenv("SIGNALBOX_AXE"), "axe.min.js"))
	if os.Getenv("SIGNALBOX_AXE") == "" || err != nil {
		b.Log("axe-core is missing: set SIGNALBOX_AXE to the folder that scripts/axe.sh prints")
		return
	}
	b.does(chromedp.Navigate(address), run(string(rules)))
	found := asks[string](b, `axe.run({resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html + " " + n.failureSummary)])))`)
	if found != "[]" {
		b.Errorf("%s: %s", address, found)
	}
}

// runOf makes a run that stopped, and everywhere says text.
func runOf(t testing.TB, p *app.App, number int, text string) workflow.Run {
	t.Helper()
	now := time.Now().UTC()
	id := fmt.Sprintf("RQ-20260102-%03d", number)
	run := workflow.New(workflow.Start{RequestID: id, RunID: fmt.Sprintf("20260102-%06d-aaaaaa", number), Number: number, Title: text, Branch: "signalbox/x", Base: "main"}, now)
	if err := p.Store.CreateRun(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	writer, run, err := p.Store.OpenRun(t.Context(), workflow.RefOf(&run))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	run.State, run.EndedAt, run.Progress.Message, run.Details.Failure = workflow.NeedsInput, &now, text, text
	run.Error = &workflow.Error{Category: workflow.CategoryInput, ReasonCode: "DESIGN_AMBIGUOUS", Title: text, Message: text, Severity: workflow.Blocker, Next: []workflow.NextStep{workflow.Advice(text), run.Ask(text, workflow.VerbResume), run.GiveUp(text)}}
	run.Details.Transition++
	if err := writer.Save(t.Context(), &run, "Stopped"); err != nil {
		t.Fatal(err)
	}
	log, _, err := p.Store.CreateLog(workflow.RefOf(&run), "implementer.S01.1.log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	transcript, err := p.Store.CreateTranscript(workflow.RefOf(&run), "implementer.S01.1.log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = transcript.Close() }()
	for _, text := range hostile() {
		for _, kind := range []string{"message", "tool_call"} {
			line, err := json.Marshal(map[string]any{"time": now, "kind": kind, "text": text, "tool": text})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := transcript.Write(append(line, '\n')); err != nil {
				t.Fatal(err)
			}
		}
	}
	return run
}
