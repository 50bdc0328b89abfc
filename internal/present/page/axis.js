"use strict";

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

// duration writes nanoseconds with three digits that matter.
function duration(ns) {
  if (ns < 0) return "-" + duration(-ns);
  for (const [size, unit] of UNITS) {
    if (ns >= size) {
      const value = ns / size;
      return value.toFixed(Math.max(0, 3 - String(Math.floor(value)).length)) + " " + unit;
    }
  }
  return "0 s";
}

// seconds writes a time with all its digits.
function seconds(ns) {
  return (ns / 1e9).toFixed(9) + " s";
}

const grouped = new Intl.NumberFormat("en-GB");
function number(n) { return grouped.format(n); }

// count writes a number of things.
function count(n, what) { return number(n) + " " + what + (n === 1 ? "" : "s"); }

// metric writes a number with a prefix.
function metric(value, unit) {
  for (const [size, prefix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (value >= size) return trim(value / size) + " " + prefix + unit;
  }
  return trim(value) + " " + unit;
}

function trim(value) {
  return String(Number(value.toPrecision(3)));
}

// steps are the round numbers between two values, about so many.
function steps(low, high, about) {
  const raw = (high - low) / Math.max(1, about);
  if (!(raw > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.999);
  const list = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) list.push(k * step || 0);
  return list;
}

// timeSteps are the ticks of a time axis. When all of them begin with the same
// digits, base has those.
function timeSteps(low, high, about) {
  const list = steps(low, high, about);
  if (list.length < 2) return { base: 0, list, label: seconds };
  const step = list[1] - list[0];
  const base = low > 200 * step ? Math.floor(low / (1000 * step)) * 1000 * step : 0;
  const [size, unit] = UNITS.find(([s]) => high - base >= s) || UNITS[3];
  const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  return { base, list, label: (t) => (base ? "+" : "") + ((t - base) / size).toFixed(digits) + " " + unit };
}

// The margins of every plot, so that times are above each other.
const MARGIN = { left: 76, right: 16, top: 12, bottom: 26 };

// Plot is a canvas with axes. It draws itself anew when something has changed, at
// most once a frame.
class Plot {
  constructor(parent, height, label) {
    this.parent = parent;
    this.height = height;
    this.canvas = parent.appendChild(document.createElement("canvas"));
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", label);
    this.context = this.canvas.getContext("2d");
    new ResizeObserver(() => this.changed()).observe(parent);
  }

  changed() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.prepare();
      this.draw();
    });
  }

  // prepare clears the canvas and measures it.
  prepare() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(320, this.parent.clientWidth);
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(this.height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(this.height * ratio);
      this.canvas.style.height = this.height + "px";
    }
    this.area = {
      left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: this.height - MARGIN.bottom,
      width: width - MARGIN.left - MARGIN.right, height: this.height - MARGIN.top - MARGIN.bottom,
    };
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, this.height);
    this.context.font = "12px " + getComputedStyle(document.body).fontFamily;
    this.context.textBaseline = "middle";
  }

  // grid draws the lines and labels of both axes.
  grid(xs, ys) {
    const { context: g, area: a } = this;
    g.lineWidth = 1;
    g.strokeStyle = colour("--line");
    g.beginPath();
    for (const { at } of xs) { g.moveTo(Math.round(at) + 0.5, a.top); g.lineTo(Math.round(at) + 0.5, a.bottom); }
    for (const { at } of ys) { g.moveTo(a.left, Math.round(at) + 0.5); g.lineTo(a.right, Math.round(at) + 0.5); }
    g.stroke();
    g.fillStyle = colour("--muted");
    g.textAlign = "center";
    let end = -Infinity;
    for (const { at, text } of xs) {
      const half = g.measureText(text).width / 2;
      if (at - half < end + 10 || at + half > a.right + MARGIN.right) continue;
      g.fillText(text, at, a.bottom + 14);
      end = at + half;
    }
    g.textAlign = "right";
    for (const { at, text } of ys) g.fillText(text, a.left - 8, at);
  }

  clip(draw) {
    const { context: g, area: a } = this;
    g.save();
    g.beginPath();
    g.rect(a.left, a.top, a.width, a.height);
    g.clip();
    draw(g, a);
    g.restore();
  }
}

// colour is one of the page's colours, as the reader's light or dark has it.
let colours = new Map();
function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return colours.get(name);
}

// View is the part of the time that all plots show.
class View {
  constructor() {
    this.listeners = [];
    this.all = [0, 1];
    this.set(0, 1);
  }

  reset(from, to) {
    const margin = Math.max(1000, (to - from) * 0.01);
    this.all = [from - margin, to + margin];
    this.set(...this.all);
  }

  get span() { return this.to - this.from; }
  get whole() { return this.from <= this.all[0] && this.to >= this.all[1]; }

  // set shows a part: within the whole, and not shorter than clocks can tell.
  set(from, to, heights) {
    const [first, last] = this.all;
    const span = Math.min(last - first, Math.max(100, to - from));
    this.from = Math.min(Math.max(first, (from + to - span) / 2), last - span);
    this.to = this.from + span;
    this.heights = heights || null;
    for (const listener of this.listeners) listener();
  }

  // zoom keeps the time at a place, which is a share of the width.
  zoom(factor, place = 0.5) {
    const at = this.from + place * this.span;
    this.set(at - place * this.span * factor, at + (1 - place) * this.span * factor);
  }

  pan(share) {
    const by = share * this.span;
    this.set(this.from + by, this.to + by, this.heights);
  }
}
