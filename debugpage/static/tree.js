// The tree of contexts, made from the flat list of stats.json.

import { label } from "./format.js";

// A node is {key, label, bytes, own, contexts, children, more, moreBytes, row,
// parent}. The key says which context it is from one answer to the next: the
// labels from the root down, that of a group without its number, and which of several
// siblings with the same label. The node above several roots has no row.

// grow returns the top node: the root if there is one only, otherwise one that
// stands for all.
export function grow(s) {
  const top = node("", "all contexts", null, null);
  top.bytes = s.Totals.ContextBytes;
  top.contexts = s.Totals.Contexts;
  top.more = s.Unlisted;
  top.moreBytes = s.UnlistedBytes;
  const places = [top]; // the node that each depth had last
  const seen = new Map();
  for (const row of s.Contexts) {
    const parent = places[row.Depth];
    const name = label(row);
    const plain = parent.key + JSON.stringify(row.Siblings > 0 ? `${row.Name} ×` : name);
    const nth = seen.get(plain) ?? 0;
    seen.set(plain, nth + 1);
    const n = node(`${plain}${nth}`, name, row, parent);
    parent.children.push(n);
    places.length = row.Depth + 1;
    places.push(n);
  }
  const roots = top.children;
  sort(top);
  if (roots.length === 1 && s.Unlisted === 0) {
    roots[0].parent = null;
    return roots[0];
  }
  return top;
}

// isGroup reports whether a node stands for many contexts of one name.
export const isGroup = (n) => n.row?.Siblings > 0;

function node(key, name, row, parent) {
  return {
    key, label: name, row, parent, children: [],
    bytes: row?.Total.Bytes ?? 0, own: row?.Own.Bytes ?? 0, contexts: row?.Contexts ?? 0,
    more: row?.More ?? 0, moreBytes: row?.MoreBytes ?? 0,
  };
}

// sort puts the children with most bytes in front, all the way down.
function sort(n) {
  const todo = [n];
  for (let x; (x = todo.pop());) {
    x.children.sort((a, b) => b.bytes - a.bytes);
    todo.push(...x.children);
  }
}

// find returns the node with a key, or the nearest above it that is still there.
export function find(top, key) {
  let n = top;
  for (;;) {
    const next = n.children.find((c) => key.startsWith(c.key) && (key.length === c.key.length || key[c.key.length] === '"'));
    if (!next) return n;
    n = next;
  }
}

// path returns the nodes from the top to n.
export function path(n) {
  const list = [];
  for (let x = n; x; x = x.parent) list.unshift(x);
  return list;
}
