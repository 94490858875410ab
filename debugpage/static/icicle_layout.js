// Where the boxes of the icicle are. The node that is zoomed to is the first row,
// as wide as the picture; its children hang below it, each as wide as its bytes
// are, the largest at the left. What is not covered at the right is the memory of
// the node itself.

const narrowest = 4; // pixels; children that would be narrower share a box
const deepest = 24; // rows

// layout returns the boxes, each node's before those of its children. A box is
// {key, node, rest, level, x, width, position, of, up}: rest is how many contexts
// it stands for and their bytes, if it is not one node's; up is the key of the box
// above it; it is the position-th of so many in its row below up.
export function layout(zoom, width) {
  const boxes = [];
  add({ key: zoom.key, node: zoom, level: 0, x: 0, width, position: 1, of: 1, up: null });
  return boxes;

  function add(box) {
    boxes.push(box);
    if (box.rest || box.level + 1 >= deepest) return;
    const n = box.node;
    // Without a byte anywhere, contexts are the measure, so that there is something
    // to see.
    const measure = n.bytes > 0 ? (c) => c.bytes : (c) => c.contexts;
    const whole = n.bytes > 0 ? n.bytes : Math.max(n.contexts, 1);
    const scale = box.width / whole;
    let shown = n.children.findIndex((c) => measure(c) * scale < narrowest);
    if (shown < 0 || (shown === n.children.length - 1 && n.more === 0)) shown = n.children.length; // one is not several
    const small = n.children.slice(shown);
    const rest = {
      children: small.length + n.more,
      bytes: small.reduce((sum, c) => sum + c.bytes, 0) + n.moreBytes,
      listed: small.length,
    };
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
