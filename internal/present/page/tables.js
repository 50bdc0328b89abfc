"use strict";

// element makes an element. Text from the capture becomes text, never markup.
function element(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (value !== undefined) e.setAttribute(name, value);
  }
  e.append(...children);
  return e;
}

function fill(parent, children) { parent.replaceChildren(...children); }

// tipAt puts a tip beside a place, within the width.
function tipAt(tip, at, width) {
  const right = at.x > width / 2;
  tip.style.left = right ? "auto" : at.x + 16 + "px";
  tip.style.right = right ? width - at.x + 16 + "px" : "auto";
  tip.style.top = at.y + 8 + "px";
}

function packetLink(conversation, packet) {
  return element("a", { href: "#" + conversation + "/" + packet }, String(packet));
}

function badge(grade) { return element("span", { class: "grade " + grade }, grade); }

// Table shows rows, some at a time, in an order that a click on a head chooses.
// A column has a head, cell(row), which makes a cell's content, and order(row), by
// which it is sorted.
class Table {
  constructor(parent, columns, { page = 25, row } = {}) {
    Object.assign(this, { parent, columns, page, rowOf: row, at: 0, by: -1, down: false });
  }

  show(rows) {
    this.rows = rows;
    this.at = 0;
    this.by = -1;
    this.draw();
  }

  sort(column) {
    this.down = this.by === column ? !this.down : false;
    this.by = column;
    this.at = 0;
    this.draw();
  }

  sorted() {
    if (this.by < 0) return this.rows;
    const order = this.columns[this.by].order, sign = this.down ? -1 : 1;
    return [...this.rows].sort((a, b) => {
      const x = order(a), y = order(b);
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
  }

  draw() {
    const heads = this.columns.map((c, i) => {
      const sorts = this.by === i ? (this.down ? "descending" : "ascending") : undefined;
      return element("th", { class: c.number ? "number" : undefined, "aria-sort": sorts, scope: "col" },
        c.order ? element("button", { type: "button", onclick: () => this.sort(i) }, c.head) : c.head);
    });
    const shown = this.sorted().slice(this.at, this.at + this.page);
    const body = shown.map((r) => {
      const cells = this.columns.map((c) => element("td", { class: c.number ? "number" : undefined }, c.cell(r)));
      const line = element("tr", {}, ...cells);
      this.rowOf?.(line, r);
      return line;
    });
    fill(this.parent, [
      element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body))),
      ...this.pager(),
    ]);
  }

  pager() {
    const n = this.rows.length;
    if (n <= this.page) return [];
    const go = (at) => () => { this.at = at; this.draw(); };
    const button = (text, at, able) => element("button", { type: "button", onclick: go(at), disabled: able ? undefined : "" }, text);
    return [element("div", { class: "pager" },
      button("earlier", Math.max(0, this.at - this.page), this.at > 0),
      `${number(this.at + 1)} to ${number(Math.min(n, this.at + this.page))} of ${number(n)}`,
      button("later", this.at + this.page, this.at + this.page < n))];
  }
}
