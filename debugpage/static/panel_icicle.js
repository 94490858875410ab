// The tree of contexts as an icicle. One of its boxes is in the tab order, the one
// that has the focus or had it last; arrows go from there. A box stays the same
// element as long as its context is shown, so that the focus stays where it is
// while the figures change.

import { bytes, count, duration, share } from "./format.js";
import { el, set, setText } from "./dom.js";
import { exactBytes } from "./cells.js";
import { find, grow, isGroup, path } from "./tree.js";
import { layout } from "./icicle_layout.js";

const panel = document.getElementById("contexts");
const frame = document.getElementById("icicle");
const picture = document.getElementById("icicle-boxes");
const crumbs = document.getElementById("crumbs");
const detail = document.getElementById("icicle-detail");

const rowHeight = 30;
const letter = 7.25; // pixels, in the font of the labels
const elements = new Map(); // box key to its element

let top = null; // of the tree
let largestOwn = 0; // bytes
let zoomKey = null; // of the node in the first row; null: the top
let currentKey = null; // of the box in the tab order
let wantedKey = null; // of the one that should be, while there is no room for it
let drawing = false;
let hoverKey = null;
let boxes = new Map(); // key to box
let above = new Set(); // keys of the boxes that have some below them

export function render(s) {
  top = grow(s);
  largestOwn = Math.max(...s.Contexts.map((r) => r.Own.Bytes));
  panel.querySelector(".empty").hidden = s.Totals.Contexts > 0;
  frame.hidden = s.Totals.Contexts === 0;
  draw();
}

// Not at once: drawing changes the height of what is observed.
new ResizeObserver(() => requestAnimationFrame(() => {
  if (top && Math.floor(frame.clientWidth) !== Number(picture.getAttribute("width"))) draw();
})).observe(frame);

function draw() {
  const zoom = zoomed();
  const width = Math.floor(frame.clientWidth);
  const list = layout(zoom, width);
  boxes = new Map(list.map((b) => [b.key, b]));
  above = new Set(list.map((b) => b.up));
  const hadFocus = picture.contains(document.activeElement);
  currentKey = nearest(wantedKey);
  if (wantedKey === null || find(top, wantedKey).key !== wantedKey) wantedKey = currentKey; // it is gone
  if (!boxes.has(hoverKey)) hoverKey = null;

  const rows = Math.max(...list.map((b) => b.row)) + 1;
  set(picture, "width", width);
  set(picture, "height", rows * rowHeight);
  for (const b of list) {
    let e = elements.get(b.key);
    if (!e) {
      e = element(b.key);
      elements.set(b.key, e);
      picture.append(e);
    }
    update(e, b);
  }
  for (const [key, e] of elements) {
    if (boxes.has(key)) continue;
    e.remove();
    elements.delete(key);
  }
  drawing = true;
  if (hadFocus && document.activeElement !== elements.get(currentKey)) elements.get(currentKey).focus();
  drawing = false;
  drawCrumbs(zoom);
  drawDetail();
}

// zoomed returns the node in the first row.
function zoomed() {
  const n = zoomKey === null ? top : find(top, zoomKey);
  zoomKey = n === top ? null : n.key;
  return n;
}

// nearest returns the key of the box that is shown for a context: its own, or that
// of the nearest one above it.
function nearest(key) {
  if (boxes.has(key)) return key;
  for (let n = find(top, (key ?? "").replace(/…$/, "")); n; n = n.parent) if (boxes.has(n.key)) return n.key;
  return zoomed().key;
}

function element(key) {
  return el("svg", { class: "box", role: "treeitem", "data-key": key, height: rowHeight - 2 },
    el("rect", { class: "ground", width: "100%", height: "100%" }),
    el("rect", { class: "fill", height: "100%" }),
    el("rect", { class: "limit-track", width: "100%", height: 3, y: rowHeight - 5 }),
    el("rect", { class: "limit-used", height: 3, y: rowHeight - 5 }),
    el("text", { x: 8, y: 18 }),
    el("rect", { class: "ring", x: 1, y: 1, height: rowHeight - 4 }));
}

function update(e, b) {
  const w = Math.max(b.width - (b.level === 0 ? 0 : 1), 1);
  set(e, "x", b.x.toFixed(2));
  set(e, "y", b.row * rowHeight);
  set(e, "width", w.toFixed(2));
  set(e, "tabindex", b.key === currentKey ? 0 : -1);
  set(e, "aria-level", b.level + 1);
  set(e, "aria-posinset", b.position);
  set(e, "aria-setsize", b.of);
  set(e, "aria-label", words(b));
  if (!b.rest && (b.node.children.length > 0 || b.node.more > 0)) set(e, "aria-expanded", above.has(b.key));
  else e.removeAttribute("aria-expanded");
  const [, fill, track, used, text, ring] = e.children;
  set(fill, "class", b.rest ? "fill rest" : isGroup(b.node) ? "fill group" : `fill own-${tint(b.node)}${b.node.row?.Deleted ? " held" : ""}`);
  set(fill, "width", (w * b.part).toFixed(2));
  const limit = b.rest ? 0 : b.node.row?.Limit ?? 0;
  const full = limit > 0 ? Math.min(b.node.bytes / limit, 1) : 0;
  set(track, "visibility", limit > 0 ? "visible" : "hidden");
  set(used, "visibility", limit > 0 ? "visible" : "hidden");
  set(used, "class", full >= 0.8 ? "limit-used near" : "limit-used");
  set(used, "width", (w * full).toFixed(2));
  set(ring, "width", Math.max(w - 2, 0).toFixed(2));
  setText(text, caption(b, w - 16));
}

// tint is how much memory of its own a node has, against the one that has most, as
// one of five steps.
function tint(n) {
  const part = largestOwn > 0 ? n.own / largestOwn : 0;
  return part >= 0.6 ? 4 : part >= 0.3 ? 3 : part >= 0.1 ? 2 : part > 0 ? 1 : 0;
}

const nameOf = (b) => b.rest ? `${count(b.rest.children)} ${b.position > 1 ? "more" : "contexts"}` : b.node.label;
const bytesOf = (b) => b.rest ? b.rest.bytes : b.node.bytes;

// caption returns as much of name and bytes as has room.
function caption(b, room) {
  const name = nameOf(b).replace(/\p{C}/gu, "�");
  const size = bytes(bytesOf(b));
  const letters = Math.floor(room / letter);
  if (name.length + size.length + 2 <= letters) return `${name}  ${size}`;
  if (name.length <= letters) return name;
  const short = b.rest ? `+${count(b.rest.children)}` : b.node.row?.Ident ? `[${b.node.row.Ident}]` : "";
  if (short !== "" && short.length <= letters) return short;
  return letters < 3 ? "" : `${name.slice(0, letters - 1)}…`;
}

// words is what a screen reader says of a box.
function words(b) {
  const part = top.bytes > 0 ? `, ${share(bytesOf(b), top.bytes)} of all` : "";
  if (b.rest) return `${nameOf(b)} below ${b.node.label}, ${bytes(b.rest.bytes)}${part}`;
  const r = b.node.row;
  if (isGroup(b.node)) return `${b.node.label}, ${bytes(b.node.bytes)}${part}, ${count(b.node.contexts)} contexts${largest(b.node, ", the largest ")}`;
  return `${b.node.label}, ${bytes(b.node.bytes)}${part}` +
    (b.node.contexts > 1 ? `, ${bytes(b.node.own)} its own, ${count(b.node.contexts - 1)} contexts below` : "") +
    (r?.Limit ? `, ${share(b.node.bytes, r.Limit)} of its limit` : "") +
    (r?.Deleted ? ", deleted and held by a lease" : "");
}

// largest says which context of a group is the largest, if one is listed.
function largest(n, before) {
  const first = n.children[0];
  return first ? `${before}${first.label} with ${bytes(first.bytes)}` : "";
}

function drawCrumbs(zoom) {
  const list = path(zoom);
  const shows = JSON.stringify(list.map((n) => n.key));
  if (crumbs.dataset.shows === shows) {
    list.forEach((n, i) => setText(crumbs.children[i].firstElementChild, n.label)); // a group may have another number
    return;
  }
  const hadFocus = crumbs.contains(document.activeElement);
  crumbs.dataset.shows = shows;
  crumbs.replaceChildren(...list.map((n) => {
    const b = el("button", { type: "button" }, n.label);
    if (n === zoom) b.setAttribute("aria-current", "true");
    b.addEventListener("click", () => zoomTo(n.key));
    return el("li", {}, b);
  }));
  if (hadFocus) crumbs.lastElementChild.firstElementChild.focus();
}

// drawDetail shows all of the box under the pointer, or of the one that has the
// focus, or of the one that is zoomed to.
function drawDetail() {
  const focused = picture.contains(document.activeElement) ? currentKey : null;
  const b = boxes.get(hoverKey) ?? boxes.get(focused) ?? boxes.get(zoomed().key);
  const facts = [["context", el("code", {}, b.rest ? nameOf(b) : b.node.row?.Path ?? b.node.label)]];
  const add = (name, ...value) => facts.push([name, ...value]);
  if (b.rest) {
    add("below", el("code", {}, b.node.row?.Path ?? b.node.label));
    add("with all below", exactBytes(b.rest.bytes));
    if (b.rest.listed > 0 && b.level > 1) add("to see them", "zoom in here");
    else if (b.rest.listed < b.rest.children) add("not listed", `${count(b.rest.children - b.rest.listed)}, those with fewest bytes`);
  } else {
    const n = b.node, r = n.row;
    add("with all below", exactBytes(n.bytes), ` (${share(n.bytes, top.bytes)})`);
    if (isGroup(n)) add("largest", largest(n, ""));
    else add("own", exactBytes(n.own));
    if (r) {
      add("peak", exactBytes(r.Total.HighWater));
      if (r.Limit) add("limit", exactBytes(r.Limit), ` (${share(n.bytes, r.Limit)} used)`);
      if (r.Reserve) add("reserved", exactBytes(r.Reserve));
      add("chunks", count(r.Total.Chunks));
    }
    add("contexts", count(n.contexts));
    if (isGroup(n)) {
      add("oldest", duration(r.Age));
    } else if (r) {
      add("leases", count(r.Leases));
      add("resets", count(r.Resets));
      add("age", duration(r.Age));
      if (r.Deleted) add("state", "deleted, held by a lease");
    }
  }
  detail.replaceChildren(...facts.map(([name, ...value]) => el("div", {}, el("dt", {}, name), el("dd", {}, ...value))));
}

function zoomTo(key) {
  if (key === zoomed().key) return;
  zoomKey = key;
  wantedKey = key;
  hoverKey = null;
  draw();
}

// zoomOut shows the node above the one that is zoomed to, and reports whether
// there is one.
function zoomOut() {
  const from = zoomed();
  if (!from.parent) return false;
  zoomKey = from.parent.key;
  wantedKey = from.key;
  draw();
  return true;
}

// enter zooms to a box; the first row leads out again.
function enter(b) {
  if (b.level === 0) zoomOut();
  else zoomTo(b.node.key);
}

const boxOf = (target) => boxes.get(target.closest?.(".box")?.dataset.key);

picture.addEventListener("click", (event) => {
  const b = boxOf(event.target);
  if (b) enter(b);
});
picture.addEventListener("pointerover", (event) => {
  hoverKey = boxOf(event.target)?.key ?? null;
  drawDetail();
});
picture.addEventListener("pointerleave", () => {
  hoverKey = null;
  drawDetail();
});
picture.addEventListener("focusin", (event) => {
  const b = boxOf(event.target);
  if (!b || drawing) return;
  hoverKey = null;
  move(b.key);
  drawDetail();
});
picture.addEventListener("focusout", () => drawDetail());

// move puts another box into the tab order.
function move(key) {
  elements.get(currentKey)?.setAttribute("tabindex", -1);
  currentKey = wantedKey = key;
  elements.get(key).setAttribute("tabindex", 0);
}

picture.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const b = boxes.get(currentKey);
  const row = [...boxes.values()].filter((x) => x.level === b.level);
  const i = row.indexOf(b);
  const to = {
    ArrowDown: () => [...boxes.values()].find((x) => x.up === b.key),
    ArrowUp: () => boxes.get(b.up),
    ArrowLeft: () => row[i - 1],
    ArrowRight: () => row[i + 1],
    Home: () => row[0],
    End: () => row.at(-1),
  }[event.key];
  if (to) {
    const box = to();
    if (box) elements.get(box.key).focus();
  } else if (event.key === "Enter" || event.key === " ") {
    enter(b);
  } else {
    return;
  }
  event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !top || document.querySelector("dialog[open]")) return;
  if (zoomOut()) event.preventDefault();
});
