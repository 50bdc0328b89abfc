"use strict";

// byId finds an element of page.html.
function byId(id) { return document.getElementById(id); }

// How bad the worst finding is, "" for none.
const GRADES = ["", "note", "warning", "error"];

// Page is what the reader sees: one conversation at a time, and where in it.
class Page {
  constructor(data) {
    this.data = data;
    this.series = new Map();
    this.view = new View();
    this.diagram = new Diagram(byId("diagram"), this.view);
    this.throughput = new Throughput(byId("throughput"), this.view);
    this.latency = new Latency(byId("latency"));
    this.tip = byId("diagram").appendChild(element("div", { class: "tip", hidden: "" }));
    steer(this.diagram, {
      choose: (i) => this.choose(i),
      hover: (i, at) => this.point(i, at),
      step: (by) => this.step(by),
    });
    this.tables();
    this.head();
    this.worst();
    this.tools();
  }

  head() {
    const d = this.data;
    const parts = [count(d.packets, "packet"), count(d.seen, "conversation")];
    if (d.began) parts.push("from " + d.began);
    parts.push(...d.notes);
    if (d.unlisted) parts.push("not on this page: " + count(d.unlisted, "conversation"));
    byId("about").textContent = parts.join(" \u00b7 ");
  }

  worst() {
    const d = this.data;
    if (!d.worst.length) {
      fill(byId("worst"), [element("p", {}, d.packets ? "Nothing is wrong with what was followed." : "There are no packets.")]);
      return;
    }
    const here = new Set(d.conversations.map((c) => c.number));
    const rows = d.worst.map((f) => {
      const code = d.codes[f.code];
      const packets = f.packets.flatMap((p, i) => [i ? ", " : "", here.has(f.conversation) ? packetLink(f.conversation, p) : String(p)]);
      const more = f.directions > 1 ? `, and ${number(f.directions - 1)} more` : "";
      return element("div", { class: "finding" },
        element("div", {}, badge(code.grade)),
        element("div", { class: "what" },
          element("div", {}, element("b", { title: code.means }, f.code), ` ${f.count === 1 ? "once" : number(f.count) + " times"}: ${code.title}`),
          element("div", { class: "muted" }, `${f.where}${more}; look at ${code.next}`)),
        element("div", { class: "packets" }, f.count === 1 ? "packet " : "packets ", ...packets, f.count > f.packets.length ? ", ..." : ""));
    });
    fill(byId("worst"), rows.slice(0, 6));
    if (rows.length > 6) byId("worst").append(element("details", {}, element("summary", {}, number(rows.length - 6) + " more"), ...rows.slice(6)));
  }

  tables() {
    const end = (e) => ENDS[e];
    this.list = new Table(byId("conversations"), [
      { head: "#", number: true, order: (c) => c.number, cell: (c) => element("a", { href: "#" + c.number }, String(c.number)) },
      { head: "service", order: (c) => c.service, cell: (c) => c.service },
      { head: "A", order: (c) => c.ends[0].name, cell: (c) => c.ends[0].name },
      { head: "B", order: (c) => c.ends[1].name, cell: (c) => c.ends[1].name },
      { head: "packets", number: true, order: (c) => c.ends[0].packets + c.ends[1].packets, cell: (c) => number(c.ends[0].packets + c.ends[1].packets) },
      { head: "bytes", number: true, order: (c) => c.ends[0].bytes + c.ends[1].bytes, cell: (c) => metric(c.ends[0].bytes + c.ends[1].bytes, "B") },
      { head: "time", number: true, order: (c) => c.ended - c.began, cell: (c) => duration(c.ended - c.began) },
      { head: "worst", order: (c) => GRADES.indexOf(c.grade), cell: (c) => (c.grade ? badge(c.grade) : "") },
    ], {
      page: 12,
      row: (line, c) => {
        line.classList.toggle("chosen", c === this.conversation);
        line.addEventListener("click", (event) => event.target.closest("a") || this.follow(c.number));
      },
    });
    const link = (packet) => (packet ? packetLink(this.conversation.number, packet) : "");
    this.events = new Table(byId("events"), [
      { head: "packet", number: true, order: (e) => e.packet, cell: (e) => link(e.packet) },
      { head: "finding", order: (e) => e.code, cell: (e) => element("b", {}, e.code) },
      { head: "requests of", order: (e) => e.end, cell: (e) => end(e.end) },
      { head: "PSN", number: true, order: (e) => e.psn, cell: (e) => String(e.psn) },
      { head: "packets", number: true, order: (e) => e.n, cell: (e) => number(e.n) },
      { head: "because of", number: true, order: (e) => e.cause, cell: (e) => link(e.cause) },
      { head: "waited", number: true, order: (e) => e.waited, cell: (e) => (e.waited ? duration(e.waited) : "") },
      { head: "", cell: (e) => this.data.codes[e.code].title },
    ], { row: (line, e) => line.classList.toggle("chosen", e.packet === this.packet) });
    this.messages = new Table(byId("asked"), [
      { head: "packet", number: true, order: (m) => m.packet, cell: (m) => link(m.packet) },
      { head: "asked by", order: (m) => m.end, cell: (m) => end(m.end) },
      { head: "operation", order: (m) => m.op, cell: (m) => m.op },
      { head: "bytes", number: true, order: (m) => m.bytes, cell: (m) => number(m.bytes) },
      { head: "PSN", number: true, order: (m) => m.first, cell: (m) => (m.first === m.last ? m.first : m.first + " to " + m.last) },
      { head: "rkey", order: (m) => m.rkey, cell: (m) => m.rkey },
      { head: "address", order: (m) => m.va, cell: (m) => m.va },
      { head: "began", number: true, order: (m) => m.began, cell: (m) => seconds(m.began) },
      { head: "ended by", number: true, order: (m) => m.by, cell: (m) => link(m.by) },
      { head: "took", number: true, order: (m) => m.took, cell: (m) => (m.took < 0 ? "" : duration(m.took)) },
      { head: "", cell: (m) => m.what },
    ]);
    this.operations = new Table(byId("operations"), [
      { head: "asked by", cell: (o) => end(o.end) },
      { head: "operation", cell: (o) => o.name },
      { head: "messages", number: true, cell: (o) => number(o.messages) },
      { head: "bytes", number: true, cell: (o) => metric(o.bytes, "B") },
      ...[[500, "50 %"], [990, "99 %"], [1000, "all in"]].map(([share, head]) => ({
        head, number: true, cell: (o) => (o.curve.length ? duration(o.curve.find((p) => p[0] >= share)[1]) : ""),
      })),
      { head: "not whole", number: true, cell: (o) => (o.partial ? number(o.partial) : "") },
    ]);
    this.counters = new Table(byId("counters"), [
      { head: "counter", cell: (f) => f.name },
      { head: "of A", number: true, cell: (f) => number(f.values[0]) },
      { head: "of B", number: true, cell: (f) => number(f.values[1]) },
    ], { page: 100 });
  }

  tools() {
    const tools = [
      ["\u2212", "zoom out", () => this.view.zoom(2)], ["+", "zoom in", () => this.view.zoom(0.5)],
      ["\u2190", "earlier", () => this.view.pan(-0.5)], ["\u2192", "later", () => this.view.pan(0.5)],
      ["all", "the whole time", () => this.view.set(...this.view.all)],
      ["next finding", "n", () => this.step(1)],
    ];
    fill(byId("tools"), tools.map(([text, title, act]) => element("button", { type: "button", title, "aria-label": title, onclick: act }, text)));
  }

  // open shows a conversation.
  open(conversation) {
    if (this.conversation === conversation) return;
    this.conversation = conversation;
    const c = conversation;
    c.series ??= new Series(c.marks, c.packed);
    c.found = new Map();
    for (const e of c.events) c.found.set(e.packet, [...(c.found.get(e.packet) || []), e]);
    this.packet = 0;
    byId("title").textContent = `${c.number}  ${c.service}  A ${c.ends[0].name}  B ${c.ends[1].name}`;
    byId("facts").textContent = `packets ${number(c.first)} to ${number(c.last)} in ${duration(c.ended - c.began)}; ${c.joined}`;
    this.askers();
    this.legend();
    this.left();
    this.selected(-1);
    const s = c.series;
    this.view.reset(s.n ? s.time[0] : 0, s.n ? s.time[s.n - 1] : 1);
    this.diagram.show(s, this.data.pauses);
    this.throughput.show(s);
    this.latency.show(c);
    this.operations.show(c.ends.flatMap((e, i) => e.operations.map((o) => ({ end: i, ...o }))));
    this.counters.show(facts(c));
    this.tallies("");
    this.asked();
    this.list.draw();
  }

  // askers chooses whose requests the diagram shows: each end counts PSNs of its own.
  askers() {
    const s = this.conversation.series, counts = [0, 0];
    for (const asker of s.askers) counts[asker]++;
    this.diagram.asker = counts[0] && counts[1] ? (counts[1] > counts[0] ? 1 : 0) : -1;
    const choices = [["requests of A", 0], ["requests of B", 1], ["both", -1]];
    const draw = () => fill(byId("askers"), choices.map(([text, asker]) => element("button", {
      type: "button", "aria-pressed": String(this.diagram.asker === asker), onclick: () => { this.ask(asker); draw(); },
    }, text)));
    this.drawAskers = draw;
    draw();
    byId("askers").hidden = !(counts[0] && counts[1]);
  }

  ask(asker) {
    this.diagram.asker = asker;
    this.view.set(this.view.from, this.view.to);
  }

  legend() {
    const { counts } = this.conversation.series;
    const items = LAYERS.map((layer, i) => ({ layer, i, n: counts[i] })).filter(({ n }) => n);
    fill(byId("legend"), items.map(({ layer, i, n }) => {
      const button = element("button", { type: "button", "aria-pressed": String(!this.diagram.hidden[i]), title: "show or hide" }, icon(layer), layer.name + " ", element("span", { class: "muted" }, number(n)));
      button.addEventListener("click", () => {
        const hidden = this.diagram.hidden;
        hidden[i] = !hidden[i];
        button.setAttribute("aria-pressed", String(!hidden[i]));
        this.diagram.changed();
      });
      return button;
    }));
    const { pauses, unpaused } = this.data;
    if (!pauses.length) return;
    byId("legend").append(element("span", { class: "item" }, element("i", { class: "pause" }), "a link is paused ",
      element("span", { class: "muted" }, number(pauses.length) + (unpaused ? ", and " + number(unpaused) + " later ones that are not shown" : ""))));
  }

  left() {
    const c = this.conversation, [plain, marked] = c.left;
    byId("left").textContent = plain + marked
      ? `Left out of the diagram, evenly: ${count(plain, "packet")} that nothing happened to, and ${number(marked)} others. Their bytes are in the throughput.` : "";
  }

  // tallies are the kinds of findings, of which one can be chosen.
  tallies(code) {
    const c = this.conversation, sums = new Map();
    for (const t of c.tallies) sums.set(t.code, (sums.get(t.code) || 0) + t.count);
    const choices = [["", "all"], ...[...sums].map(([name, n]) => [name, name, n])];
    fill(byId("tallies"), choices.map(([name, text, n]) => element("button", {
      type: "button", "aria-pressed": String(name === code), title: name && this.data.codes[name].title, onclick: () => this.tallies(name),
    }, text, n ? element("span", { class: "muted" }, " " + number(n)) : "")));
    const rows = c.events.filter((e) => !code || e.code === code).sort((a, b) => a.packet - b.packet);
    byId("tallies").hidden = !sums.size;
    byId("events").hidden = !rows.length;
    this.events.show(rows);
    if (c.untold) byId("tallies").append(element("span", { class: "muted" }, count(c.untold, "finding") + " more are counted and not listed"));
    if (!sums.size) {
      byId("tallies").hidden = false;
      fill(byId("tallies"), [element("span", { class: "muted" }, "none")]);
    }
  }

  asked() {
    const c = this.conversation, all = c.messages.length + c.unsaid;
    byId("asked-about").textContent = c.unsaid ? `The ${number(c.messages.length)} that ended first, of ${number(all)}.` : all ? "" : "none";
    byId("asked").hidden = !c.messages.length;
    this.messages.show(c.messages);
  }

  // point tells of the packet under the mouse.
  point(i, at) {
    const c = this.conversation, lines = [];
    if (i >= 0) lines.push(...describe(this.data, c, i), ...(c.found.get(c.series.number[i]) || []).map((e) => e.code));
    const time = i >= 0 ? c.series.time[i] : at ? this.diagram.timeAt(at.x) : NaN;
    const paused = this.data.pauses.filter((p) => p.from <= time && time <= p.to).map((p) => "paused: " + p.what);
    lines.push(...paused.slice(0, 4));
    this.tip.hidden = !lines.length;
    if (!lines.length) return;
    fill(this.tip, lines.map((line) => element("div", {}, line)));
    tipAt(this.tip, at, this.diagram.parent.clientWidth);
  }

  // selected tells of the packet that was chosen.
  selected(i) {
    const c = this.conversation, box = byId("selected");
    this.diagram.chosen = i;
    this.diagram.changed();
    if (i < 0) {
      fill(box, [element("p", { class: "muted" }, "A click on a packet, or on its number anywhere on this page, shows it here. The wheel zooms, a drag chooses a part, with Shift it moves, a double click shows all.")]);
      return;
    }
    const packet = c.series.number[i];
    const findings = (c.found.get(packet) || []).map((e) => element("div", { class: "finding" },
      element("div", {}, badge(this.data.codes[e.code].grade)),
      element("div", { class: "what" },
        element("div", {}, element("b", {}, e.code), " " + this.data.codes[e.code].title),
        element("div", { class: "muted" }, this.data.codes[e.code].means))));
    fill(box, [
      element("p", {}, element("b", {}, "packet " + packet), " \u00b7 " + describe(this.data, c, i).slice(1).join(" \u00b7 ")),
      ...findings,
      element("p", { class: "muted" }, "all of it: ", element("code", {}, `rocecap decode -V -Y 'frame.number == ${packet}' ${this.data.file}`)),
    ]);
  }

  // choose takes a packet that is in sight.
  choose(i) {
    if (i < 0) return;
    this.packet = this.conversation.series.number[i];
    history.replaceState(null, "", `#${this.conversation.number}/${this.packet}`);
    this.selected(i);
    this.events.draw();
  }

  follow(conversation, packet) {
    location.hash = "#" + conversation + (packet ? "/" + packet : "");
  }

  // first is the conversation that is likeliest to be looked for.
  first() {
    const packets = (c) => c.ends[0].packets + c.ends[1].packets;
    return [...this.data.conversations].sort((a, b) => GRADES.indexOf(b.grade) - GRADES.indexOf(a.grade) || packets(b) - packets(a))[0];
  }

  // go shows what the address names: #conversation/packet.
  go() {
    const [conversation, packet] = location.hash.slice(1).split("/").map(Number);
    const c = this.data.conversations.find((c) => c.number === conversation) || this.first();
    if (!c) return;
    this.open(c);
    if (packet && c.marks) this.show(packet);
  }

  // show shows a packet, and those around it when it is not in sight, or too close
  // to others.
  show(packet) {
    const c = this.conversation, s = c.series, i = s.find(packet);
    this.packet = packet;
    if (this.diagram.asker >= 0 && this.diagram.asker !== s.askers[i]) {
      this.diagram.asker = s.askers[i];
      this.drawAskers();
    }
    const around = 60, time = s.time[i], { from, to, span } = this.view;
    const close = s.from(to) - s.from(from) <= 8 * around;
    if (!close || time < from + span * 0.05 || time > to - span * 0.05) {
      const reach = Math.max(time - s.time[Math.max(0, i - around)], s.time[Math.min(s.n - 1, i + around)] - time, 1000);
      this.view.set(time - reach, time + reach);
    }
    this.selected(i);
    this.events.draw();
    const place = byId("diagram").getBoundingClientRect();
    if (place.top < 0 || place.bottom > innerHeight) byId("diagram").scrollIntoView({ block: "center" });
  }

  // step goes to the next packet in which something was found, or the one before.
  step(by) {
    const packets = [...this.conversation.found.keys()].sort((a, b) => a - b);
    const next = by > 0 ? packets.find((p) => p > this.packet) : packets.findLast((p) => p < this.packet);
    if (next) this.follow(this.conversation.number, next);
  }

  repaint() {
    colours = new Map();
    for (const plot of [this.diagram, this.throughput, this.latency]) plot.changed();
    this.legend();
  }
}

// facts are the counters of both ends, side by side.
function facts(c) {
  const rows = new Map();
  c.ends.forEach((end, e) => {
    for (const f of [...end.facts, ...end.counters]) {
      if (!rows.has(f.name)) rows.set(f.name, { name: f.name, values: [0, 0] });
      rows.get(f.name).values[e] = f.value;
    }
  });
  return [...rows.values()].filter((r) => r.values[0] || r.values[1]);
}

// describe says what a packet is.
function describe(data, c, i) {
  const s = c.series, flags = s.flags[i], from = flags & FLAG.end;
  const what = s.kind[i] === KIND.nak || s.kind[i] === KIND.rnr ? data.syndromes[s.syndrome[i]] : data.opcodes[s.opcode[i]];
  const lines = [
    "packet " + s.number[i],
    seconds(s.time[i]),
    `${ENDS[from]} to ${ENDS[1 - from]}: ${what || "opcode " + s.opcode[i]}`,
  ];
  if (s.kind[i] !== KIND.cnp) lines.push(`PSN ${s.psn[i]}`);
  if (s.size[i]) lines.push(number(s.size[i]) + " B");
  if (flags & FLAG.bad) lines.push("wrong ICRC");
  else if (flags & FLAG.old) lines.push("sent again, or late");
  if (flags & FLAG.ce) lines.push("marked CE");
  if (flags & FLAG.far) lines.push("its PSN is far from all others");
  return lines;
}

// icon is the mark of a layer.
function icon(layer) {
  const canvas = element("canvas", { width: 32, height: 32, "aria-hidden": "true" });
  const g = canvas.getContext("2d"), path = new Path2D();
  g.scale(2, 2);
  SHAPES[layer.shape].trace(path, 8, 8, layer.rare ? 1 : 1.4);
  paint(g, layer, path);
  return canvas;
}

function start() {
  const page = new Page(readData());
  byId("main").hidden = false;
  byId("text").open = !page.data.conversations.length;
  byId("list").hidden = byId("conversation").hidden = !page.data.conversations.length;
  page.list.show(page.data.conversations);
  page.go();
  addEventListener("hashchange", () => page.go());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.repaint());
  window.rocecap = page;
}

start();
