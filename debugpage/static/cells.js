// Cells of tables. A cell is what it shows, as a string to compare with what is
// there, its class, and a function that makes its content.

import { bytes, count, share } from "./format.js";
import { el } from "./dom.js";
import { curve } from "./curve.js";

export const none = { shows: "none", make: () => [el("span", { class: "none" }, "–")] };
export const empty = { shows: "", make: () => [] };

export function text(s, cls = "text") {
  return { shows: `text ${s}`, class: cls, make: () => [s] };
}

// pathCell is the first cell of a row for a path, which may break behind its
// slashes.
export function pathCell(s, ...tags) {
  return { ...named(s, ...tags), make: () => [...broken(s), ...tagged(tags)] };
}

const opened = new Set(); // keys of the groups that somebody opened

// groupCell is the first cell of a row that stands for a group: a click lists the
// fullest of it.
export function groupCell(s, key, members) {
  return {
    shows: `group ${s} ${JSON.stringify(members)}`,
    make: () => {
      const d = el("details", { class: "group" }, el("summary", {}, ...broken(s)),
        el("ol", {}, ...members.map((m) => el("li", {}, ...broken(m.Name), ` ${share(m.Used, m.Limit)}`))));
      d.open = opened.has(key);
      d.addEventListener("toggle", () => d.open ? opened.add(key) : opened.delete(key));
      return [d];
    },
  };
}

function broken(path) {
  return path.split("/").flatMap((part, i) => i === 0 ? [part] : ["/", el("wbr"), part]);
}

const tagged = (tags) => tags.flatMap((t) => [" ", el("span", { class: "tag" }, t)]);

// named is the first cell of a row; tags stand behind the name.
export function named(s, ...tags) {
  return {
    shows: `named ${JSON.stringify([s, tags])}`,
    make: () => [s, ...tagged(tags)],
  };
}

export function exactBytes(n) {
  return el("data", { value: n, title: `${count(n)} bytes` }, bytes(n));
}

export function bytesCell(n) {
  return { shows: `bytes ${n}`, make: () => [exactBytes(n)] };
}

export function countCell(n, unit = "") {
  return { shows: `count ${n}${unit}`, make: () => [el("data", { value: n }, count(n)), unit] };
}

// gauge is a bar and its share in percent.
export function gauge(part, whole) {
  return {
    shows: `gauge ${part} ${whole}`,
    make: () => [el("span", { class: "gauge" }, bar(part, whole, "bar"), el("span", {}, share(part, whole)))],
  };
}

// rank is a bar that is as long as the largest one's share of it, and a share of
// all in percent.
export function rank(n, largest, whole) {
  return {
    shows: `rank ${n} ${largest} ${whole}`,
    make: () => [el("span", { class: "gauge" }, bar(n, largest, "bar rank"), el("span", {}, share(n, whole)))],
  };
}

function bar(part, whole, cls) {
  const full = whole > 0 ? Math.min(Math.max(part / whole, 0), 1) : 0;
  return el("svg", { class: cls, viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    el("rect", { class: "track", width: 100, height: 6 }),
    el("rect", { class: "used", width: (100 * full).toFixed(1), height: 6 }));
}

// trend is a small curve of a series, or nothing if there is none.
export function trend(history, series) {
  if (!series) return empty;
  return {
    shows: `trend ${series.Name} ${history.Times.at(-1)}`,
    class: "curve",
    make: () => [curve(history, series)],
  };
}
