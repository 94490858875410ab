// What the leak finder found. An article stays as long as its finding, so that a
// stack somebody opened stays open.

import { count, duration } from "./format.js";
import { el, setText } from "./dom.js";
import { exactBytes } from "./cells.js";

const articles = new Map(); // by what finds are told apart by

export function render(s) {
  const list = document.getElementById("leak-list");
  const found = s.Totals.Leaks > 0;
  const badge = document.getElementById("leak-count");
  setText(badge, found ? count(s.Totals.Leaks) : "none");
  badge.classList.toggle("tag", found);
  if (articles.size === 0) list.replaceChildren(); // those that the server made
  const seen = new Set();
  for (const leak of s.Leaks) {
    const key = JSON.stringify([leak.Kind, leak.What, leak.Name, leak.Type, leak.Released, leak.Stack]);
    seen.add(key);
    let a = articles.get(key);
    if (!a) {
      a = article(leak);
      articles.set(key, a);
      list.append(a);
    }
    a.querySelector("h3").replaceChildren(el("span", { class: "tag" }, leak.Kind), ` ${leak.What} ${leak.Path || leak.Name}`);
    a.querySelector("p").replaceChildren(
      el("data", { value: leak.Count }, count(leak.Count)), ` times, the latest ${duration(leak.Age)} old`,
      ...(leak.Bytes > 0 ? [", with ", exactBytes(leak.Bytes)] : []),
      ...(leak.Type ? [` of ${leak.Type}`] : []));
  }
  for (const [key, a] of articles) {
    if (seen.has(key)) continue;
    a.remove();
    articles.delete(key);
  }
  list.hidden = !found;
  document.querySelector("#leaks .empty").hidden = found;
}

function article(leak) {
  const stacks = [];
  if (leak.Released) stacks.push(stack("where it was released", leak.Released));
  if (leak.Stack) stacks.push(stack("where it was made", leak.Stack));
  if (stacks.length === 0) stacks.push(el("p", { class: "note" }, "Its stack was not sampled: see check.SampleStacks."));
  return el("article", { class: "leak" }, el("h3"), el("p"), ...stacks);
}

function stack(title, text) {
  return el("details", {}, el("summary", {}, title), el("pre", { tabindex: 0 }, text));
}
