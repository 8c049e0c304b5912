// Keeps a page up to date, and gives it keys. Each page works without it.
// The server renders all HTML; a fragment replaces the element with its id, so hearing of something twice changes nothing.

const body = document.body;
const $ = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

// ---- Fragments ----

const parse = (html) => {
  const t = document.createElement("template");
  t.innerHTML = html;
  return t.content;
};

// typed is what a person has begun to write or opened in an element, by the place of the field: an answer is to one question of one run.
const place = (field) => {
  const form = field.closest("form");
  return [form?.getAttribute("action"), ...["verb", "run", "question"].map((name) => form?.elements[name]?.value), field.name].join(" ");
};
const typed = (element) => ({
  fields: all("textarea, input:not([type=hidden])", element).filter((f) => f.value !== f.defaultValue).map((f) => [place(f), f.value]),
  open: all("details[open]", element).map((d) => d.dataset.key).filter(Boolean),
  focus: element.contains(document.activeElement) ? document.activeElement : null,
});
const restore = (element, was) => {
  for (const d of all("details", element)) if (was.open.includes(d.dataset.key)) d.open = true;
  const fields = all("textarea, input:not([type=hidden])", element);
  for (const [at, value] of was.fields) {
    const f = fields.find((f) => place(f) === at);
    if (f) f.value = value;
  }
  if (!was.focus) return;
  const old = was.focus;
  const same = old.form && old.name ? fields.find((f) => place(f) === place(old))
    : all(old.tagName, element).find((e) => e.textContent === old.textContent);
  if (!same) { (element.tabIndex >= 0 ? element : $("a, button", element))?.focus({ preventScroll: true }); return; }
  same.focus({ preventScroll: true });
  if (old.selectionStart != null && same.setSelectionRange) same.setSelectionRange(old.selectionStart, old.selectionEnd);
};

const replace = (html) => {
  const fresh = parse(html).firstElementChild;
  const old = fresh && document.getElementById(fresh.id);
  if (!old) return fresh;
  const was = typed(old);
  old.replaceWith(fresh);
  restore(fresh, was);
  return fresh;
};

// ---- Times ----

const relative = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto", style: "short" });
const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const exact = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "medium" });
const showTimes = (from = document) => {
  for (const t of all("time", from)) {
    const at = Date.parse(t.dateTime);
    if (Number.isNaN(at)) continue;
    const seconds = (at - Date.now()) / 1000;
    const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? units.at(-1);
    const text = relative.format(Math.trunc(seconds / size), unit);
    if (t.textContent !== text) t.textContent = text;
    if (!t.title) t.title = exact.format(at);
  }
};
setInterval(showTimes, 15000);

// ---- Events ----

// The last event's id says what this page shows. It survives a cut and a restart of the server, which answers with all that changed since.
const link = $(".link");
let last = body.dataset.last ?? "";
let source, retry = 500;

const state = (live) => {
  if (!link) return;
  link.classList.toggle("away", !live);
  const text = live ? link.dataset.live : link.dataset.away;
  if (link.textContent !== text) link.textContent = text;
};

const connect = () => {
  if (!body.dataset.events) return;
  source?.close();
  const address = new URL(body.dataset.events, location.href);
  for (const [k, v] of new URLSearchParams(location.search)) address.searchParams.set(k, v);
  address.searchParams.set("last", last);
  const mine = source = new EventSource(address);
  for (const [name, take] of Object.entries(takes)) {
    mine.addEventListener(name, (event) => {
      if (source !== mine) return;
      if (take(JSON.parse(event.data)) === false) return;
      if (event.lastEventId) last = event.lastEventId;
    });
  }
  mine.onopen = () => { retry = 500; state(true); };
  mine.onerror = () => {
    if (source !== mine) return;
    state(false);
    mine.close();
    setTimeout(() => source === mine && connect(), retry);
    retry = Math.min(retry * 1.5, 5000);
  };
};

// A page that no one sees for a while leaves its connection to others: browsers open six to a server.
let unseen;
document.addEventListener("visibilitychange", () => {
  clearTimeout(unseen);
  if (document.hidden) unseen = setTimeout(() => { const mine = source; source = null; mine?.close(); }, 60000);
  else if (!source) connect();
});

// resync asks for everything, after something that should not happen.
const resync = () => { last = ""; setTimeout(connect, 0); return false; };

const takes = {
  // hello names the server's version. Another one may render what this script doesn't know.
  hello({ version }) {
    if (version === body.dataset.version) return;
    if (all("textarea").some((f) => f.value !== f.defaultValue)) return;
    location.reload();
  },
  // board has cards that changed, and which cards each column has, in their order.
  board({ cards = {}, columns = {} }) {
    const fresh = new Map();
    for (const [id, html] of Object.entries(cards)) {
      const was = document.getElementById(id)?.dataset.v;
      const card = replace(html);
      if (was && was !== card.dataset.v) tick(card);
      fresh.set(id, card);
      showTimes(card);
    }
    let complete = true;
    const gone = new Set(), here = new Set();
    for (const [name, { order, total, pages }] of Object.entries(columns)) {
      const column = document.getElementById("col-" + name);
      if (!column) continue;
      for (const card of column.children) gone.add(card);
      const focus = column.contains(document.activeElement) ? document.activeElement : null;
      let at = column.firstElementChild;
      for (const [id, version] of order) {
        const card = document.getElementById(id) ?? fresh.get(id);
        if (!card || card.dataset.v !== version) { complete = false; continue; }
        here.add(card);
        if (card === at) at = at.nextElementSibling;
        else column.insertBefore(card, at);
      }
      if (focus && document.activeElement !== focus) focus.focus({ preventScroll: true });
      const count = document.getElementById("n-" + name);
      if (count) count.textContent = total;
    }
    for (const card of gone) if (!here.has(card)) card.remove();
    search();
    notify();
    return complete ? true : resync();
  },
  // parts are parts of the page, by name.
  parts(all) { for (const html of Object.values(all)) showTimes(replace(html) ?? document); },
  // log is what was printed after what is shown: appended exactly once, because it says where it begins.
  log({ log, from, to, html, begins }) {
    const pane = $("#log");
    if (!pane) return;
    if (begins || pane.dataset.log !== log) {
      if (from !== 0 && !begins) return resync();
      pane.replaceChildren();
      pane.dataset.log = log;
      pane.dataset.to = from;
      $("#log-name").textContent = log;
      const whole = $("#log-link");
      whole.href = whole.dataset.logs + encodeURIComponent(log);
      whole.hidden = false;
    }
    const end = Number(pane.dataset.to);
    if (to <= end) return;
    if (from !== end) return resync();
    const follows = $("#follow")?.checked ?? true;
    pane.append(parse(html));
    pane.dataset.to = to;
    while (pane.childElementCount > 600) pane.firstElementChild.remove();
    if (follows) pane.scrollTop = pane.scrollHeight;
    showTimes(pane);
  },
};

// tick marks a card that changed, unless so many do that it says nothing.
const tick = (card) => {
  if (document.getElementsByClassName("changed").length > 3) return;
  card.classList.add("changed");
  setTimeout(() => card.classList.remove("changed"), 900);
};

// ---- Notifications ----

// notify tells of cards that came to need a person, or to their end, since the last look, while no one looks at the page. Pages that are open
// at the same time tell of one thing once: they give it one tag.
const telling = $("#notify");
const columns = new Map();
const notify = () => {
  for (const card of all(".card[id]")) {
    const now = card.closest(".cards").id, was = columns.get(card.id);
    columns.set(card.id, now);
    if (!was || was === now || !/-(needs|ready|done)$/.test(now)) continue;
    if (!document.hidden || !window.Notification || Notification.permission !== "granted") continue;
    const [title, doing] = [$("h3", card), $(".doing", card)].map((e) => e.textContent.trim());
    const n = new Notification(title, { body: [$("#h-" + now.slice(4)).firstChild.textContent.trim(), doing].filter(Boolean).join(": "), tag: card.id + card.dataset.v });
    n.onclick = () => { window.focus(); location.assign($("h3 a", card).href); };
  }
};
if (telling && window.Notification?.permission === "default") {
  telling.hidden = false;
  telling.addEventListener("click", async () => { await Notification.requestPermission(); telling.hidden = true; });
}

// ---- Search and filters ----

const q = $("#q");
const filters = $("#filters");
const search = () => {
  if (!q) return;
  const words = q.value.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = filters ? $("input:checked", filters)?.value ?? "all" : "all";
  const whole = !words.length && kind === "all";
  if (whole && search.all) return; // nothing is hidden
  search.all = whole;
  for (const card of all(".card")) {
    const text = card.textContent.toLowerCase();
    card.hidden = !(words.every((w) => text.includes(w)) && (kind === "all" || card.dataset.kind === kind));
  }
};
if (filters) filters.hidden = false;
q?.addEventListener("input", search);
filters?.addEventListener("change", search);

// ---- Orders ----

const toast = (text, bad) => {
  const t = $("#toast");
  t.textContent = text;
  t.className = bad ? "bad shown" : "shown";
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => { t.className = ""; }, bad ? 12000 : 4000);
};

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("form[data-order]")) return;
  event.preventDefault();
  if (form.dataset.busy || (form.dataset.sure && !confirm(form.dataset.sure))) return;
  form.dataset.busy = "1";
  const buttons = all("button", form);
  const data = new URLSearchParams(new FormData(form, event.submitter));
  for (const b of buttons) b.disabled = true;
  try {
    const answer = await fetch(form.action, { method: "POST", body: data, headers: { "X-Signalbox-Script": "1" } });
    toast(await answer.text(), !answer.ok);
    if (answer.ok) {
      for (const f of all("textarea", form)) f.value = f.defaultValue;
      form.closest("details")?.removeAttribute("open");
      const then = answer.headers.get("X-Then");
      if (then && form.dataset.order === "go") location.assign(then);
    }
  } catch (problem) {
    // fetch fails with a TypeError if no answer comes
    toast(problem instanceof TypeError ? $("#toast").dataset.away : String(problem), true);
  } finally {
    delete form.dataset.busy;
    for (const b of buttons) b.disabled = false;
  }
});

// ---- Keys ----

const cards = () => all(".card:not([hidden]) h3 a");
const move = (by) => {
  const list = cards();
  if (!list.length) return;
  const at = list.indexOf(document.activeElement?.closest?.(".card")?.querySelector("h3 a"));
  const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.max(0, Math.min(list.length - 1, at + by))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
};
const dialog = $("#keys");
const go = (name) => {
  const a = all("header nav a").find((a) => a.pathname.endsWith(name));
  if (a) a.click();
};
const keys = {
  j: () => move(1), k: () => move(-1), "/": () => q?.focus(), "?": () => dialog.showModal(),
  b: () => $(".brand").click(), n: () => go("/new"),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const field = event.target.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]");
  if (event.key === "Escape") { if (field) field.blur(); return; }
  if (field || dialog.open) return;
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});
const help = $("#show-keys");
if (help) { help.hidden = false; help.addEventListener("click", () => dialog.showModal()); }

// ---- Begin ----

const pane = $("#log");
if (pane) pane.scrollTop = pane.scrollHeight;
showTimes();
search();
notify();
connect();
addEventListener("pagehide", () => { const mine = source; source = null; mine?.close(); });
addEventListener("pageshow", (event) => { if (event.persisted) connect(); });
