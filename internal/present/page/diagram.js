"use strict";

// The shapes of marks: trace adds one to a path, s times its usual size.
const SHAPES = {
  square: { fill: true, trace: (p, x, y, s) => p.rect(x - 1.5 * s, y - 1.5 * s, 3 * s, 3 * s) },
  dash: { fill: true, trace: (p, x, y, s) => p.rect(x - 3 * s, y - 0.75, 6 * s, 1.5) },
  up: { fill: true, trace: (p, x, y, s) => polygon(p, x, y, s, 0, -4, 4, 3, -4, 3) },
  down: { fill: true, trace: (p, x, y, s) => polygon(p, x, y, s, 0, 5, 4.5, -3.5, -4.5, -3.5) },
  diamond: { fill: true, trace: (p, x, y, s) => polygon(p, x, y, s, 0, -4.5, 4.5, 0, 0, 4.5, -4.5, 0) },
  disc: { fill: true, trace: (p, x, y, s) => circle(p, x, y, 4.5 * s) },
  ring: { thin: true, trace: (p, x, y, s) => circle(p, x, y, 5 * s) },
  cross: { trace: (p, x, y, s) => { stroke(p, x, y, 4 * s, 4 * s); stroke(p, x, y, 4 * s, -4 * s); } },
  plus: { trace: (p, x, y, s) => { stroke(p, x, y, 5 * s, 0); stroke(p, x, y, 0, 5 * s); } },
};

function polygon(p, x, y, s, ...corners) {
  p.moveTo(x + corners[0] * s, y + corners[1] * s);
  for (let i = 2; i < corners.length; i += 2) p.lineTo(x + corners[i] * s, y + corners[i + 1] * s);
  p.closePath();
}

function circle(p, x, y, radius) {
  p.moveTo(x + radius, y);
  p.arc(x, y, radius, 0, 2 * Math.PI);
}

function stroke(p, x, y, dx, dy) {
  p.moveTo(x - dx, y - dy);
  p.lineTo(x + dx, y + dy);
}

// paint draws a path of marks in the way of its layer.
function paint(g, layer, path) {
  const shape = SHAPES[layer.shape];
  if (shape.fill) {
    g.fillStyle = colour(layer.colour);
    g.fill(path);
  } else {
    g.lineWidth = shape.thin ? 1.5 : 2.2;
    g.strokeStyle = colour(layer.colour);
    g.stroke(path);
  }
}

// Beyond so many packets for each pixel of the width, the diagram shows what
// each column of pixels spans instead of single packets.
const DENSE = 4;

// Diagram is PSNs over time.
class Diagram extends Plot {
  constructor(parent, view) {
    super(parent, 420, "PSN over time. Arrow keys move, plus and minus zoom, 0 shows all, n and p go from finding to finding.");
    this.view = view;
    this.hidden = LAYERS.map(() => false);
    this.asker = -1;
    this.chosen = -1;
    this.columns = LAYERS.map(() => ({ low: new Float32Array(0), high: new Float32Array(0) }));
    this.stats = { frames: 0, draws: 0, visible: 0, width: 0, layers: LAYERS.length, milliseconds: 0 };
    view.listeners.push(() => this.changed());
  }

  show(series, pauses) {
    this.series = series;
    this.pauses = pauses;
    this.chosen = -1;
    this.changed();
  }

  shows(i) {
    return !this.hidden[this.series.layer[i]] && (this.asker < 0 || this.series.askers[i] === this.asker);
  }

  x(time) { return this.area.left + (time - this.view.from) / this.view.span * this.area.width; }
  y(psn) { return this.area.bottom - (psn - this.heights[0]) / (this.heights[1] - this.heights[0]) * this.area.height; }
  timeAt(x) { return this.view.from + (x - this.area.left) / this.area.width * this.view.span; }
  psnAt(y) { return this.heights[0] + (this.area.bottom - y) / this.area.height * (this.heights[1] - this.heights[0]); }

  draw() {
    const began = performance.now();
    const { series: s, view, stats, area } = this;
    stats.draws = 0;
    const low = s.from(view.from), high = s.from(view.to);
    this.heights = view.heights || this.span(low, high);
    this.axes();
    this.clip((g, a) => {
      this.bands(g, a);
      if (high - low > DENSE * a.width) this.dense(g, low, high); else this.sparse(g, low, high);
      this.choice(g, a);
    });
    stats.frames++;
    stats.visible = high - low;
    stats.width = area.width;
    stats.milliseconds = performance.now() - began;
  }

  // span is the PSNs of the packets that are shown.
  span(low, high) {
    let least = Infinity, most = -Infinity;
    for (let i = low; i < high; i++) {
      if (!this.shows(i)) continue;
      const y = this.series.y[i];
      if (y < least) least = y;
      if (y > most) most = y;
    }
    if (least > most) return [0, 1];
    const margin = Math.max(1, (most - least) * 0.06);
    return [least - margin, most + margin];
  }

  axes() {
    const { view, area: a } = this;
    const ticks = timeSteps(view.from, view.to, a.width / 110);
    this.grid(
      ticks.list.map((t) => ({ at: this.x(t), text: ticks.label(t) })),
      steps(this.heights[0], this.heights[1], a.height / 50).filter(Number.isInteger).map((v) => ({ at: this.y(v), text: number(v) })),
    );
    const g = this.context;
    g.textAlign = "left";
    g.fillStyle = colour("--muted");
    if (ticks.base) g.fillText(seconds(ticks.base), 4, a.bottom + 14);
    g.save();
    g.translate(10, a.top + a.height / 2);
    g.rotate(-Math.PI / 2);
    g.textAlign = "center";
    g.fillText("PSN, from the first", 0, 0);
    g.restore();
  }

  // bands are the times in which a link was paused.
  bands(g, a) {
    g.fillStyle = colour("--pause");
    let end = -1;
    for (const p of this.pauses) {
      if (p.to < this.view.from || p.from > this.view.to) continue;
      const left = Math.max(end, Math.floor(this.x(p.from))), right = Math.max(left + 1, Math.ceil(this.x(p.to)));
      if (right <= end) continue;
      g.fillRect(left, a.top, right - left, a.height);
      end = right;
      this.stats.draws++;
    }
  }

  sparse(g, low, high) {
    const s = this.series;
    const paths = LAYERS.map(() => null), shown = high - low, { width } = this.area;
    const size = shown < width / 5 ? 1.5 : shown < width / 2 ? 1 : 0.7;
    const add = (layer, i) => {
      paths[layer] ??= new Path2D();
      SHAPES[LAYERS[layer].shape].trace(paths[layer], this.x(s.time[i]), this.y(s.y[i]), LAYERS[layer].rare ? 1 : size);
      this.stats.draws++;
    };
    for (let i = low; i < high; i++) {
      if (!this.shows(i)) continue;
      add(s.layer[i], i);
      if (s.flags[i] & FLAG.ce && !this.hidden[CE]) add(CE, i);
    }
    paths.forEach((path, layer) => path && paint(g, LAYERS[layer], path));
  }

  // dense finds the least and the greatest PSN of each layer in each column of
  // pixels, and draws those.
  dense(g, low, high) {
    const s = this.series, width = Math.ceil(this.area.width) + 1;
    for (const c of this.columns) {
      if (c.low.length !== width) {
        c.low = new Float32Array(width);
        c.high = new Float32Array(width);
      }
      c.low.fill(Infinity);
      c.high.fill(-Infinity);
    }
    const scale = this.area.width / this.view.span, from = this.view.from;
    const note = (c, x, y) => {
      if (y < c.low[x]) c.low[x] = y;
      if (y > c.high[x]) c.high[x] = y;
    };
    for (let i = low; i < high; i++) {
      if (!this.shows(i)) continue;
      const x = ((s.time[i] - from) * scale) | 0, y = this.y(s.y[i]);
      note(this.columns[s.layer[i]], x, y);
      if (s.flags[i] & FLAG.ce && !this.hidden[CE]) note(this.columns[CE], x, y);
    }
    this.columns.forEach((c, layer) => this.spans(g, LAYERS[layer], c, width));
  }

  spans(g, layer, c, width) {
    const path = new Path2D(), shape = SHAPES[layer.shape];
    for (let x = 0; x < width; x++) {
      if (c.low[x] > c.high[x]) continue;
      const at = this.area.left + x;
      if (layer.rare) {
        shape.trace(path, at, c.low[x], 1);
        this.stats.draws++;
        if (c.high[x] - c.low[x] < 6) continue;
        shape.trace(path, at, c.high[x], 1);
      } else {
        path.rect(at - 0.5, c.low[x] - 1, 2, c.high[x] - c.low[x] + 2);
      }
      this.stats.draws++;
    }
    paint(g, layer, path);
  }

  // choice points at the packet that was chosen.
  choice(g, a) {
    if (this.chosen < 0) return;
    const x = this.x(this.series.time[this.chosen]), y = this.y(this.series.y[this.chosen]);
    g.strokeStyle = colour("--text");
    g.lineWidth = 1;
    g.setLineDash([3, 3]);
    g.beginPath();
    g.moveTo(x, a.top);
    g.lineTo(x, a.bottom);
    g.stroke();
    g.setLineDash([]);
    g.lineWidth = 2;
    g.beginPath();
    g.arc(x, y, 9, 0, 2 * Math.PI);
    g.stroke();
  }

  // nearest is the packet at a place of the canvas, -1 for none.
  nearest(x, y) {
    const reach = 12, s = this.series;
    let best = -1, least = reach * reach;
    for (let i = s.from(this.timeAt(x - reach)); i < s.n && s.time[i] <= this.timeAt(x + reach); i++) {
      if (!this.shows(i)) continue;
      const dx = this.x(s.time[i]) - x, dy = this.y(s.y[i]) - y, square = dx * dx + dy * dy;
      if (square < least || (square === least && s.layer[i] > s.layer[best])) {
        best = i;
        least = square;
      }
    }
    return best;
  }
}

// steer lets a reader move in a diagram with mouse and keys. It calls choose with
// packets that are clicked at, and hover with those that are pointed at.
function steer(diagram, { choose, hover, step }) {
  const { canvas, view } = diagram;
  const box = diagram.parent.appendChild(document.createElement("div"));
  box.className = "box";
  box.hidden = true;
  let drag = null;
  const place = (event) => {
    const bounds = canvas.getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  };

  canvas.addEventListener("wheel", (event) => {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!sideways && event.deltaY > 0 && view.whole) return; // the page scrolls
    event.preventDefault();
    const turn = (event.deltaY || event.deltaX) * (event.deltaMode ? 20 : 1);
    if (sideways) {
      view.pan((event.deltaX || event.deltaY) / diagram.area.width);
    } else {
      view.zoom(Math.exp(Math.max(-300, Math.min(300, turn)) * 0.002), (place(event).x - diagram.area.left) / diagram.area.width);
    }
  }, { passive: false });

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 1) return;
    canvas.setPointerCapture(event.pointerId);
    drag = { from: place(event), last: place(event), pans: event.shiftKey || event.button === 1, moved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (!drag) {
      hover(diagram.nearest(at.x, at.y), at);
      return;
    }
    drag.moved ||= Math.abs(at.x - drag.from.x) + Math.abs(at.y - drag.from.y) > 4;
    if (!drag.moved) return;
    hover(-1);
    if (drag.pans) {
      view.pan((drag.last.x - at.x) / diagram.area.width);
      drag.last = at;
      return;
    }
    const part = selection(diagram, drag.from, at);
    box.hidden = false;
    box.style.left = part.left + "px";
    box.style.top = part.top + "px";
    box.style.width = part.right - part.left + "px";
    box.style.height = part.bottom - part.top + "px";
  });
  canvas.addEventListener("pointerup", (event) => {
    const done = drag, at = place(event);
    drag = null;
    box.hidden = true;
    if (!done) return;
    if (!done.moved) {
      choose(diagram.nearest(at.x, at.y));
    } else if (!done.pans) {
      const part = selection(diagram, done.from, at);
      view.set(diagram.timeAt(part.left), diagram.timeAt(part.right), part.flat ? null : [diagram.psnAt(part.bottom), diagram.psnAt(part.top)]);
    }
  });
  canvas.addEventListener("pointercancel", () => { drag = null; box.hidden = true; });
  canvas.addEventListener("pointerleave", () => hover(-1));
  canvas.addEventListener("dblclick", () => view.set(...view.all));
  canvas.addEventListener("keydown", (event) => {
    const act = {
      ArrowLeft: () => view.pan(-0.2), ArrowRight: () => view.pan(0.2), "+": () => view.zoom(0.5), "=": () => view.zoom(0.5), "-": () => view.zoom(2),
      0: () => view.set(...view.all), Home: () => view.set(...view.all), n: () => step(1), p: () => step(-1),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
}

// selection is the part of a diagram that a mouse was dragged over: all heights
// when it went sideways.
function selection(diagram, from, to) {
  const a = diagram.area;
  const inside = (v, low, high) => Math.min(high, Math.max(low, v));
  const part = {
    left: inside(Math.min(from.x, to.x), a.left, a.right), right: inside(Math.max(from.x, to.x), a.left, a.right),
    top: inside(Math.min(from.y, to.y), a.top, a.bottom), bottom: inside(Math.max(from.y, to.y), a.top, a.bottom),
  };
  part.flat = part.bottom - part.top < 24;
  if (part.flat) Object.assign(part, { top: a.top, bottom: a.bottom });
  return part;
}
