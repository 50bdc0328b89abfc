"use strict";

const ENDS = ["A", "B"];
const END_COLOURS = ["--request", "--response"];

// Throughput is how many bits of frames each end sends in a second.
class Throughput extends Plot {
  constructor(parent, view) {
    super(parent, 150, "Bits per second of each end, over the same time as the diagram.");
    this.view = view;
    view.listeners.push(() => this.changed());
    this.readout = parent.appendChild(document.createElement("div"));
    this.readout.className = "tip";
    this.readout.hidden = true;
    this.canvas.addEventListener("pointermove", (event) => this.read(event));
    this.canvas.addEventListener("pointerleave", () => { this.readout.hidden = true; });
  }

  show(series) {
    this.series = series;
    this.changed();
  }

  draw() {
    const { view, series: s, area: a } = this;
    const bins = Math.max(10, Math.floor(a.width / 4)), width = view.span / bins;
    this.rates = [new Float64Array(bins), new Float64Array(bins)];
    let most = 0, low = s.from(view.from);
    for (let k = 0; k < bins; k++) {
      const high = s.from(view.from + (k + 1) * width);
      for (const end of [0, 1]) {
        const rate = (s.sums[end][high] - s.sums[end][low]) * 8e9 / width;
        this.rates[end][k] = rate;
        most = Math.max(most, rate);
      }
      low = high;
    }
    const top = most * 1.25 || 1; // with room for the key
    const x = (k) => a.left + k / bins * a.width, y = (rate) => a.bottom - rate / top * a.height;
    const ticks = timeSteps(view.from, view.to, a.width / 110);
    this.grid(
      ticks.list.map((t) => ({ at: a.left + (t - view.from) / view.span * a.width, text: ticks.label(t) })),
      steps(0, top, 3).map((v) => ({ at: y(v), text: v ? metric(v, "bit/s") : "0" })),
    );
    this.clip((g) => this.rates.forEach((rates, end) => {
      g.beginPath();
      g.moveTo(x(0), a.bottom);
      rates.forEach((rate, k) => { g.lineTo(x(k), y(rate)); g.lineTo(x(k + 1), y(rate)); });
      g.lineTo(x(bins), a.bottom);
      g.globalAlpha = 0.15;
      g.fillStyle = colour(END_COLOURS[end]);
      g.fill();
      g.globalAlpha = 1;
      g.lineWidth = 1.5;
      g.strokeStyle = colour(END_COLOURS[end]);
      g.stroke();
    }));
    key(this, ENDS.map((name, end) => ({ name: "from " + name, colour: END_COLOURS[end] })));
  }

  read(event) {
    const a = this.area, bounds = this.canvas.getBoundingClientRect(), x = event.clientX - bounds.left;
    const k = Math.floor((x - a.left) / a.width * this.rates[0].length);
    this.readout.hidden = !(k >= 0 && k < this.rates[0].length);
    if (this.readout.hidden) return;
    const at = this.view.from + (k + 0.5) / this.rates[0].length * this.view.span;
    fill(this.readout, [seconds(at), ...this.rates.map((r, end) => "from " + ENDS[end] + ": " + metric(r[k], "bit/s"))].map((line) => element("div", {}, line)));
    tipAt(this.readout, { x, y: 20 }, bounds.width);
  }
}

// key says in the upper right of a plot which line is which.
function key(plot, lines) {
  const { context: g, area: a } = plot;
  let x = a.right - 6;
  g.textAlign = "right";
  for (const line of [...lines].reverse()) {
    const width = g.measureText(line.name).width + 20;
    g.fillStyle = colour("--panel");
    g.globalAlpha = 0.8;
    g.fillRect(x - width - 4, a.top + 2, width + 8, 18);
    g.globalAlpha = 1;
    g.fillStyle = colour("--text");
    g.fillText(line.name, x, a.top + 11);
    g.strokeStyle = colour(line.colour);
    g.lineWidth = 2;
    g.setLineDash(line.dash || []);
    g.beginPath();
    g.moveTo(x - width, a.top + 11);
    g.lineTo(x - width + 15, a.top + 11);
    g.stroke();
    g.setLineDash([]);
    x -= width + 14;
  }
}

// How the operations of both ends look in the diagram of latencies.
const CURVE_COLOURS = ["--request", "--response", "--again", "--nak", "--cnp", "--rnr"];

// Latency is which share of the messages took how long at most.
class Latency extends Plot {
  constructor(parent) {
    super(parent, 240, "Share of the messages over the longest time that they took, for each operation.");
  }

  show(conversation) {
    const names = [];
    this.curves = conversation.ends.flatMap((end, e) => end.operations.filter((o) => o.curve.length).map((o) => {
      if (!names.includes(o.name)) names.push(o.name);
      return { name: ENDS[e] + " " + o.name, points: o.curve, colour: CURVE_COLOURS[names.indexOf(o.name)], dash: e ? [5, 3] : [] };
    }));
    this.parent.hidden = this.curves.length === 0;
    if (this.curves.length) this.changed();
  }

  draw() {
    const { area: a } = this;
    const times = this.curves.flatMap((c) => c.points.map((p) => Math.max(1, p[1])));
    const least = Math.log10(Math.min(...times)) - 0.1, most = Math.log10(Math.max(...times)) + 0.1;
    const x = (ns) => a.left + (Math.log10(Math.max(1, ns)) - least) / (most - least) * a.width;
    const y = (share) => a.bottom - share / 1000 * a.height;
    const ticks = [];
    const fine = most - least < 2 ? [1, 2, 5] : [1];
    for (let power = Math.floor(least); power <= most; power++) {
      for (const m of fine) ticks.push(m * 10 ** power);
    }
    this.grid(
      ticks.filter((t) => Math.log10(t) >= least && Math.log10(t) <= most).map((t) => ({ at: x(t), text: duration(t).replace(/\.0+ /, " ") })),
      [0, 250, 500, 750, 900, 1000].map((v) => ({ at: y(v), text: v / 10 + " %" })),
    );
    this.clip((g) => this.curves.forEach((c) => {
      g.strokeStyle = colour(c.colour);
      g.lineWidth = 2;
      g.setLineDash(c.dash);
      g.beginPath();
      c.points.forEach(([share, ns], i) => (i ? g.lineTo(x(ns), y(share)) : g.moveTo(x(ns), y(share))));
      g.stroke();
      g.setLineDash([]);
    }));
    this.names();
  }

  // names lists the curves in the lower right, where few of them are.
  names() {
    const { context: g, area: a } = this;
    g.textAlign = "right";
    this.curves.forEach((c, i) => {
      const at = a.bottom - 14 - (this.curves.length - 1 - i) * 18, width = g.measureText(c.name).width;
      g.fillStyle = colour("--panel");
      g.globalAlpha = 0.8;
      g.fillRect(a.right - width - 36, at - 9, width + 36, 18);
      g.globalAlpha = 1;
      g.fillStyle = colour("--text");
      g.fillText(c.name, a.right - 8, at);
      g.strokeStyle = colour(c.colour);
      g.lineWidth = 2;
      g.setLineDash(c.dash);
      g.beginPath();
      g.moveTo(a.right - width - 32, at);
      g.lineTo(a.right - width - 14, at);
      g.stroke();
      g.setLineDash([]);
    });
  }
}
