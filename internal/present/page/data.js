"use strict";

// What a packet is, and what else there is to it: as in mark.go.
const KIND = { request: 0, response: 1, ack: 2, nak: 3, rnr: 4, cnp: 5, other: 6 };
const FLAG = { end: 1, old: 2, ce: 4, bad: 8, found: 16, far: 32 };

// What the diagram shows, from the back to the front. Those that are rare are
// drawn as marks however many there are.
const LAYERS = [
  { name: "acknowledgement", colour: "--ack", shape: "dash" },
  { name: "request", colour: "--request", shape: "square" },
  { name: "READ or atomic response", colour: "--response", shape: "square" },
  { name: "sent again, or late", colour: "--again", shape: "up" },
  { name: "CNP", colour: "--cnp", shape: "down", rare: true },
  { name: "RNR NAK", colour: "--rnr", shape: "disc", rare: true },
  { name: "NAK", colour: "--nak", shape: "cross", rare: true },
  { name: "wrong ICRC", colour: "--bad", shape: "plus", rare: true },
  { name: "undefined opcode", colour: "--other", shape: "diamond", rare: true },
  { name: "marked CE", colour: "--ce", shape: "ring", rare: true },
];
const AGAIN = 3, BAD = 7, CE = 9;

// layerOf says as what a packet is drawn; the mark CE is drawn beside it.
function layerOf(kind, flags) {
  if (flags & FLAG.bad) return BAD;
  if (flags & FLAG.old) return AGAIN;
  return [1, 2, 0, 6, 5, 4, 8][kind];
}

// Varints reads the differences that mark.go wrote.
class Varints {
  constructor(base64) {
    const text = atob(base64);
    this.bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) this.bytes[i] = text.charCodeAt(i);
    this.at = 0;
  }

  next() {
    let value = 0, scale = 1, byte;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }

  column(array) {
    let value = 0;
    for (let i = 0; i < array.length; i++) array[i] = value += this.next();
    return array;
  }
}

// Series is the packets of a conversation in the order of their times.
class Series {
  constructor(n, base64) {
    const r = new Varints(base64);
    this.n = n;
    this.number = r.column(new Int32Array(n));
    this.time = r.column(new Float64Array(n));
    this.y = r.column(new Float64Array(n));
    this.psn = r.column(new Uint32Array(n));
    this.size = r.column(new Uint32Array(n));
    this.wire = r.column(new Float64Array(n));
    this.kind = r.column(new Uint8Array(n));
    this.flags = r.column(new Uint8Array(n));
    this.opcode = r.column(new Uint8Array(n));
    this.syndrome = r.column(new Uint8Array(n));
    this.sort();
    this.layer = new Uint8Array(n);
    this.askers = new Uint8Array(n); // the end whose PSN a packet has
    this.counts = LAYERS.map(() => 0);
    this.sums = [new Float64Array(n + 1), new Float64Array(n + 1)];
    for (let i = 0; i < n; i++) {
      const flags = this.flags[i];
      this.layer[i] = layerOf(this.kind[i], flags);
      this.counts[this.layer[i]]++;
      const own = this.kind[i] === KIND.request || this.kind[i] === KIND.other;
      this.askers[i] = (flags & FLAG.end) === (own ? 1 : 0) ? 1 : 0;
      if (flags & FLAG.ce) this.counts[CE]++;
      for (const end of [0, 1]) {
        this.sums[end][i + 1] = this.sums[end][i] + ((flags & FLAG.end) === end ? this.wire[i] : 0);
      }
    }
  }

  // sort repairs the order where the capture's clock went back.
  sort() {
    const time = this.time;
    if (time.every((t, i) => i === 0 || time[i - 1] <= t)) return;
    const order = Uint32Array.from(time.keys()).sort((a, b) => time[a] - time[b] || a - b);
    for (const [name, column] of Object.entries(this)) {
      if (ArrayBuffer.isView(column)) this[name] = column.map((_, i) => column[order[i]]);
    }
  }

  // from is the first packet at a time, or after it.
  from(time) {
    let low = 0, high = this.n;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time[middle] < time) low = middle + 1; else high = middle;
    }
    return low;
  }

  // find is where a packet is, or the one that is there in its stead.
  find(number) {
    let best = -1;
    for (let i = 0; i < this.n; i++) {
      if (this.number[i] === number) return i;
      if (this.number[i] > number && (best < 0 || this.number[i] < this.number[best])) best = i;
    }
    return best < 0 ? this.n - 1 : best;
  }
}

// readData reads what the page is about.
function readData() {
  return JSON.parse(document.getElementById("data").textContent);
}
