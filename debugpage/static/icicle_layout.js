// Where the boxes of the icicle are. The node that is zoomed to is the first row,
// as wide as the picture; its children hang below it, each as wide as its bytes
// are, the largest at the left. What is not covered at the right is the memory of
// the node itself. The children of a group are shown when it is zoomed to. Where there
// is little room, as on a phone, there is no icicle but a list: the node that is zoomed
// to, and below it its children, each as wide as there is room, and filled as far as its
// bytes are a share of the largest one's.

import { isGroup } from "./tree.js";

const narrowest = 4; // pixels; children that would be narrower share a box
const deepest = 24; // rows
const roomy = 560; // pixels; a narrower picture is a list
const listed = 24; // rows of the list; the others share one

// layout returns the boxes, each node's before those of its children. A box is
// {key, node, rest, level, row, x, width, part, position, of, up}: rest is how many
// contexts it stands for and their bytes, if it is not one node's; part is how much of
// its width is filled; up is the key of the box above it; it is the position-th of so
// many in its row below up.
export function layout(zoom, width) {
  const boxes = [];
  if (width < roomy) return list(zoom, width);
  add({ key: zoom.key, node: zoom, level: 0, x: 0, width, position: 1, of: 1, up: null });
  return boxes;

  function add(box) {
    boxes.push({ ...box, row: box.level, part: 1 });
    if (box.rest || box.level + 1 >= deepest || box.level > 0 && isGroup(box.node)) return;
    const n = box.node;
    // Without a byte anywhere, contexts are the measure, so that there is something
    // to see.
    const measure = n.bytes > 0 ? (c) => c.bytes : (c) => c.contexts;
    const whole = n.bytes > 0 ? n.bytes : Math.max(n.contexts, 1);
    const scale = box.width / whole;
    let shown = n.children.findIndex((c) => measure(c) * scale < narrowest);
    if (shown < 0 || (shown === n.children.length - 1 && n.more === 0)) shown = n.children.length; // one is not several
    const small = n.children.slice(shown);
    const rest = restOf(n, small);
    // No box is too narrow to be seen: the others make room.
    let restWidth = 0;
    if (rest.children > 0) {
      const share = n.bytes > 0 ? rest.bytes : small.reduce((sum, c) => sum + c.contexts, 0) + n.more;
      restWidth = Math.min(Math.max(share * scale, narrowest), box.width);
    }
    const widths = n.children.slice(0, shown).map((c) => Math.max(measure(c) * scale, Math.min(narrowest, box.width)));
    const taken = widths.reduce((sum, w) => sum + w, 0);
    const squeeze = taken + restWidth > box.width && taken > 0 ? (box.width - restWidth) / taken : 1;
    const of = shown + (rest.children > 0 ? 1 : 0);
    let x = box.x;
    n.children.slice(0, shown).forEach((c, i) => {
      const w = widths[i] * squeeze;
      add({ key: c.key, node: c, level: box.level + 1, x, width: w, position: i + 1, of, up: box.key });
      x += w;
    });
    if (rest.children > 0) {
      add({ key: `${n.key}…`, node: n, rest, level: box.level + 1, x, width: restWidth, position: of, of, up: box.key });
    }
  }
}

// restOf is what a box stands for that has some of the children of a node, and those
// that are not listed.
function restOf(n, small) {
  return {
    children: small.length + n.more,
    bytes: small.reduce((sum, c) => sum + c.bytes, 0) + n.moreBytes,
    listed: small.length,
  };
}

// list is the layout where there is little room.
function list(zoom, width) {
  const boxes = [{ key: zoom.key, node: zoom, level: 0, row: 0, x: 0, width, part: 1, position: 1, of: 1, up: null }];
  const shown = zoom.children.slice(0, listed);
  const rest = restOf(zoom, zoom.children.slice(listed));
  const of = shown.length + (rest.children > 0 ? 1 : 0);
  const most = Math.max(shown[0]?.bytes ?? 0, rest.bytes, 1);
  const add = (key, node, bytes, rest) => boxes.push({
    key, node, rest, level: 1, row: boxes.length, x: 0, width, part: bytes / most, position: boxes.length, of, up: zoom.key,
  });
  for (const c of shown) add(c.key, c, c.bytes);
  if (rest.children > 0) add(`${zoom.key}…`, zoom, rest.bytes, rest);
  return boxes;
}
