// Marks of what was viewed, comments on lines, and keys of a change's page, which can be read without them.
// Both are kept in this browser: marks by name and content, so that a file that changed is new again; comments by run and commit.

const $ = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const change = $("#change");
const files = all(".patch");

// A narrow window shows both sides of nothing, whatever its browser calls itself.
if ($(".split") && matchMedia("(max-width: 44rem)").matches && !new URLSearchParams(location.search).has("view")) location.replace($("#unified").href);

const stored = (key, otherwise) => {
  try { return JSON.parse(localStorage.getItem(key)) ?? otherwise; } catch { return otherwise; }
};
const store = (key, value) => {
  try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* full, or not allowed: it lasts as long as the page */ }
};

// ---- Viewed ----

const viewedKey = "signalbox:viewed";
const maxViewed = 2000;
let viewed = stored(viewedKey, []);
const markOf = (file) => location.pathname.split("/", 3).join("/") + " " + file.dataset.mark;
const showSeen = () => {
  const seen = files.filter((f) => viewed.includes(markOf(f)));
  for (const f of files) {
    $(`.files a[href="#${f.id}"]`)?.parentElement.classList.toggle("seen", seen.includes(f));
    $(".viewed input", f).checked = seen.includes(f);
  }
  const said = $("#seen");
  if (files.length) said.textContent = " · " + said.dataset.text.replace("%d", seen.length).replace("%d", files.length);
};
const view = (file, on) => {
  const mark = markOf(file);
  viewed = stored(viewedKey, viewed).filter((m) => m !== mark);
  if (on) viewed = [...viewed, mark].slice(-maxViewed);
  store(viewedKey, viewed);
  $("details", file).open = !on;
  showSeen();
};
for (const f of files) {
  const box = $(".viewed", f);
  box.hidden = false;
  $("input", box).addEventListener("change", (event) => view(f, event.target.checked));
  if (viewed.includes(markOf(f))) $("details", f).open = false;
}
showSeen();

// ---- Comments ----

const commentsKey = "signalbox:comments:" + change?.dataset.key;
let comments = stored(commentsKey, []);
const same = (a, b) => a.path === b.path && !a.old === !b.old && a.line === b.line;
const cellOf = (c) => {
  const file = files.find((f) => f.dataset.path === c.path);
  return file && $(c.old ? `td[data-o="${c.line}"]` : `td.new[data-n="${c.line}"], td[data-n="${c.line}"]`, file);
};
const showComments = () => {
  for (const row of all("tr.comment")) row.remove();
  for (const c of [...comments].reverse()) {
    const cell = cellOf(c);
    if (cell) cell.parentElement.after(rowOf(c));
  }
  const said = $("#comments");
  if (said) {
    said.textContent = !comments.length ? said.dataset.none : comments.length === 1 ? said.dataset.single : said.dataset.text.replace("%d", comments.length);
    $("[name=comments]").value = comments.length ? JSON.stringify(comments) : "";
  }
};
const keep = (c, text) => {
  comments = comments.filter((x) => !same(x, c));
  if (text.trim()) comments.push({ path: c.path, old: c.old, line: c.line, text: text.trim() });
  store(commentsKey, comments);
  showComments();
};
const element = (name, properties = {}, ...children) => {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children);
  return e;
};
const rowOf = (c, writing) => {
  const columns = $(`[data-path] .split`) ? 4 : 3;
  const cell = element("td", { colSpan: columns });
  const row = element("tr", { className: "comment" }, cell);
  const place = element("p", { className: "meta", textContent: (c.old ? change.dataset.sayOldLine : change.dataset.sayLine).replace("%d", c.line) });
  if (!writing) {
    const edit = element("button", { type: "button", className: "quiet", textContent: change.dataset.sayEdit });
    const remove = element("button", { type: "button", className: "quiet", textContent: change.dataset.sayRemove });
    edit.addEventListener("click", () => { row.replaceWith(rowOf(c, true)); });
    remove.addEventListener("click", () => keep(c, ""));
    cell.append(place, element("pre", { textContent: c.text }), element("div", { className: "orders" }, edit, remove));
    return row;
  }
  const text = element("textarea", { rows: 3, maxLength: 2000, value: c.text ?? "" });
  text.setAttribute("aria-label", change.dataset.sayComment);
  const leave = element("button", { type: "button", className: "quiet", textContent: change.dataset.sayLeave });
  leave.addEventListener("click", showComments);
  const form = element("form", {}, place, text, element("div", { className: "orders" }, element("button", { className: "primary", textContent: change.dataset.saySave }), leave));
  form.addEventListener("submit", (event) => { event.preventDefault(); keep(c, text.value); });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    if (event.key === "Escape") showComments();
  });
  cell.append(form);
  setTimeout(() => text.focus());
  return row;
};
const write = (cell) => {
  if (change.dataset.comments === undefined) return;
  const old = cell.dataset.o !== undefined;
  const at = { path: cell.closest(".patch").dataset.path, old, line: Number(old ? cell.dataset.o : cell.dataset.n) };
  const c = comments.find((x) => same(x, at)) ?? at;
  showComments();
  const row = cellOf(c)?.parentElement;
  if (row?.nextElementSibling?.classList.contains("comment") && c.text) row.nextElementSibling.remove();
  row?.after(rowOf(c, true));
};
change?.addEventListener("click", (event) => {
  const cell = event.target.closest("td.n[data-n], td.n[data-o]");
  if (cell) write(cell);
});
showComments();

// ---- Keys ----

const changed = () => all("details[open] tr:has(td.new, td.old)");
const step = (list, by, from) => {
  const at = list.findIndex((e) => e === from);
  return list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.max(0, Math.min(list.length - 1, at + by))];
};
const current = () => document.activeElement?.closest?.(".diff tr");
const line = (by) => {
  const row = step(changed(), by, current());
  if (!row) return;
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
};
const fileAt = () => document.activeElement?.closest?.(".patch") ?? files.find((f) => f.getBoundingClientRect().bottom > 120);
const file = (by) => {
  const next = step(files, by, document.activeElement?.closest?.(".patch"));
  if (!next) return;
  $("summary", next).focus({ preventScroll: true });
  next.scrollIntoView();
};
const keys = {
  j: () => line(1), k: () => line(-1), "]": () => file(1), "[": () => file(-1),
  c: () => { const cell = current() && ($("td.n.new[data-n]", current()) ?? $("td.n[data-o], td.n[data-n]", current())); if (cell) write(cell); },
  v: () => { const f = fileAt(); if (f) { const on = !viewed.includes(markOf(f)); view(f, on); if (on) file(1); } },
  u: () => $(".filters a:not([aria-current])")?.click(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest?.("input:not([type=checkbox]), textarea, select") || $("dialog[open]")) return;
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  act();
}, true);
