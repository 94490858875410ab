// Making and updating what is shown. Text is only ever set as text, never as
// markup.

const svgNames = new Set(["svg", "rect", "path", "text", "tspan", "title"]);

// el returns a new element with attributes and children, which are elements or
// texts.
export function el(name, attributes = {}, ...children) {
  const e = svgNames.has(name) ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

// set changes an attribute if it is not so already.
export function set(e, name, value) {
  if (e.getAttribute(name) !== String(value)) e.setAttribute(name, value);
}

// setText changes an element's text if it is not so already, so that what somebody
// has selected stays selected.
export function setText(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

// fill makes the rows of a table body. A row is {class, cells}, and a cell is made
// by one of the functions of cells.js. Rows and cells that are the same stay.
export function fill(body, rows) {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((row, i) => {
    const tr = body.rows[i] ?? body.insertRow();
    if (tr.className !== (row.class ?? "")) tr.className = row.class ?? "";
    while (tr.cells.length > row.cells.length) tr.deleteCell(-1);
    row.cells.forEach((cell, j) => {
      let td = tr.cells[j];
      if (!td) {
        td = el(j === 0 ? "th" : "td", j === 0 ? { scope: "row" } : {});
        tr.append(td);
      }
      if (td.shows === cell.shows) return;
      td.shows = cell.shows;
      td.className = cell.class ?? "";
      td.replaceChildren(...cell.make());
    });
  });
}

// fillPanel makes the rows of a panel's table, and shows the table, or what the
// panel says if there is nothing.
export function fillPanel(panel, rows) {
  panel.querySelector(".scroll").hidden = rows.length === 0;
  panel.querySelector(".empty").hidden = rows.length > 0;
  fill(panel.querySelector("tbody"), rows);
}
