"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const its = data.iterations;
const $ = id => document.getElementById(id);
const NS = "http://www.w3.org/2000/svg";
let chosen = -1;

function el(tag, props, ...kids) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) k in e && k !== "list" ? e[k] = v : e.setAttribute(k, v);
  e.append(...kids.filter(k => k !== null && k !== undefined));
  return e;
}
function svg(tag, attrs, ...kids) {
  const e = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attrs || {})) e.setAttribute(k, v);
  e.append(...kids);
  return e;
}
const number = v => v === null || v === undefined ? "n/a" : String(Math.round(v * 100) / 100);
const label = it => it.number === 0 ? "baseline" : "iteration " + it.number;
const kind = it => it.number === data.selected ? "best" : it.rejected ? "rejected" : "";

// A chart of one number over the iterations. rows: [{n, v}], v null where it was not measured.
function chart(rows, o) {
  const w = o.width, h = o.height, left = o.left, right = 12, top = 14, bottom = 22;
  const seen = rows.filter(r => r.v !== null);
  const root = svg("svg", {viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": o.name});
  if (!seen.length) { root.append(svg("text", {x: left, y: h / 2}, "not measured")); return root; }
  let min = o.min ?? Math.min(...seen.map(r => r.v)), max = o.max ?? Math.max(...seen.map(r => r.v));
  if (min === max) { max += 1; min -= min > 0 ? Math.min(1, min) : 0; }
  const pad = (max - min) * .08;
  if (o.max === undefined) max += pad;
  if (o.min === undefined) min -= pad; // so that no point lies on the edge
  const last = Math.max(1, rows.length - 1);
  const x = i => left + (w - left - right) * i / last, y = v => top + (h - top - bottom) * (1 - (v - min) / (max - min));
  const round = v => Math.round(v * digits) / digits;
  let digits = 10; // of labels that would else be the same
  while (digits < 1e4 && round(min + pad) === round(max - pad)) digits *= 10;
  for (const v of o.ticks ?? [min + pad, max - pad]) {
    root.append(svg("line", {class: "axis", x1: left, x2: w - right, y1: y(v), y2: y(v)}), svg("text", {x: left - 6, y: y(v) + 4, "text-anchor": "end"}, String(round(v)) + (o.unit ?? "")));
  }
  const path = seen.map((r, i) => (i ? "L" : "M") + x(rows.indexOf(r)).toFixed(1) + " " + y(r.v).toFixed(1)).join("");
  root.append(svg("path", {class: "curve", d: path}));
  if (o.details) o.details(root, x, y);
  const step = Math.ceil(rows.length / (o.labels ?? 8));
  rows.forEach((r, i) => {
    if (i % step === 0) root.append(svg("text", {x: x(i), y: h - 6, "text-anchor": "middle"}, String(r.n)));
    if (r.v === null) return;
    const dot = svg("circle", {class: "dot " + kind(its[i]), cx: x(i), cy: y(r.v), r: o.radius, "data-n": r.n}, svg("title", {}, `${label(its[i])}: ${number(r.v)}${o.unit ?? ""}${its[i].class ? ", " + its[i].class : ""}`));
    dot.addEventListener("click", () => show(i));
    root.append(dot);
  });
  return root;
}

function trajectory() {
  const rows = its.map(it => ({n: it.number, v: it.score === null ? null : it.score * 100}));
  $("trajectory").append(chart(rows, {name: "quality by iteration", width: 1000, height: 260, left: 48, min: Math.max(0, Math.floor(Math.min(100, ...rows.filter(r => r.v !== null).map(r => r.v)) / 10) * 10 - 10), max: 100, ticks: [0, 20, 40, 60, 80, 100].filter(t => rows.some(r => r.v !== null && r.v < t + 20)), unit: "%", radius: 6, labels: 25,
    details(root, x, y) {
      const best = rows.find(r => r.n === data.selected);
      if (best && best.v !== null) root.append(svg("line", {class: "bestline", x1: 48, x2: 988, y1: y(best.v), y2: y(best.v)}));
      its.forEach((it, i) => {
        const worst = it.alerts.filter(a => a.severity !== "INFO");
        if (!worst.length) return;
        const critical = worst.some(a => a.severity === "CRITICAL");
        root.append(svg("path", {class: "bell" + (critical ? " critical" : ""), d: `M${x(i) - 5} 11L${x(i) + 5} 11L${x(i)} 3Z`}, svg("title", {}, worst.map(a => a.severity + " " + a.rule).join("\n"))));
      });
    }}));
}

function metrics() {
  for (const m of data.metrics) {
    const rows = its.map((it, i) => ({n: it.number, v: m.values[i]}));
    if (rows.every(r => r.v === null)) continue;
    const seen = rows.filter(r => r.v !== null);
    $("metrics").append(el("figure", {}, el("figcaption", {}, el("b", {}, m.name), number(seen[0].v) + " → " + number(seen[seen.length - 1].v) + m.unit), chart(rows, {name: m.name, width: 320, height: 120, left: 44, unit: m.unit, radius: 3})));
  }
}

function alerts() {
  const t = el("table", {}, el("tr", {}, ...["iteration", "severity", "rule", "what"].map(h => el("th", {}, h))));
  let n = 0;
  its.forEach((it, i) => it.alerts.forEach(a => {
    n++;
    const go = el("button", {onclick: () => show(i)}, String(it.number));
    t.append(el("tr", {}, el("td", {}, go), el("td", {className: a.severity}, a.severity), el("td", {}, a.rule), el("td", {}, a.message + (a.tests.length ? ": " + a.tests.slice(0, 5).join(", ") + (a.tests.length > 5 ? ` and ${a.tests.length - 5} more` : "") : ""))));
  }));
  $("alerts").append(n ? t : "None.");
}

const letters = {p: "passed", f: "failed", s: "skipped", n: "did not run", x: "was not there"};
function matrix() {
  const used = Object.keys(letters).filter(s => s !== "x" && data.matrix.tests.some(row => row.states.includes(s)));
  $("matrix-note").textContent = data.matrix.note + (used.length ? ": " + used.map(s => s + " " + letters[s]).join(", ") : "");
  if (!data.matrix.tests.length) { $("matrix").remove(); return; }
  const t = el("table", {className: "matrix"}, el("tr", {}, ...its.map(it => el("th", {}, String(it.number))), el("th", {}, "test")));
  for (const row of data.matrix.tests) {
    t.append(el("tr", {}, ...[...row.states].map((s, i) => el("td", {}, el("div", {className: "cell " + s, title: `${label(its[i])}: ${letters[s]}`}, s === "x" ? "" : s))), el("td", {className: "name"}, row.name)));
  }
  $("matrix").append(t);
}

function picker() {
  its.forEach((it, i) => $("picker").append(el("button", {className: kind(it), "data-i": i, onclick: () => show(i)}, it.number === 0 ? "baseline" : String(it.number))));
  for (const b of $("tabs").children) b.onclick = () => tab(b.dataset.tab);
  addEventListener("keydown", e => {
    if (e.target.tagName === "INPUT") return;
    if (e.key === "ArrowRight" && chosen < its.length - 1) show(chosen + 1);
    if (e.key === "ArrowLeft" && chosen > 0) show(chosen - 1);
  });
}
function tab(name) {
  for (const b of $("tabs").children) b.classList.toggle("on", b.dataset.tab === name);
  for (const t of document.querySelectorAll(".tab")) t.classList.toggle("on", t.id === name);
}

function show(i) {
  chosen = i;
  const it = its[i];
  $("iteration-title").textContent = label(it)[0].toUpperCase() + label(it).slice(1) + (it.number === data.selected ? ", selected" : it.rejected ? ", rejected" : "");
  for (const d of document.querySelectorAll("#trajectory .dot")) d.classList.toggle("chosen", Number(d.dataset.n) === it.number);
  for (const b of $("picker").children) b.classList.toggle("on", Number(b.dataset.i) === i);
  $("report").innerHTML = it.report; // escaped by supervise
  $("diff").innerHTML = it.diff;
  player(it);
}

// A terminal as far as agents' output needs one: cursor, erasing, scrolling; colours are left out.
class Screen {
  constructor(cols, rows) { this.resize(cols, rows); this.reset(); }
  resize(cols, rows) { this.cols = cols; this.rows = rows; this.lines ??= []; }
  reset() { this.lines = [[]]; this.top = 0; this.x = 0; this.y = 0; this.rest = ""; this.saved = null; this.kept = [0, 0]; }
  line() { while (this.lines.length <= this.top + this.y) this.lines.push([]); return this.lines[this.top + this.y]; }
  newline() { if (this.y < this.rows - 1) this.y++; else { this.line(); this.top++; } if (this.lines.length > 5000) { const cut = this.lines.length - 4000; this.lines.splice(0, cut); this.top -= cut; } }
  write(text) {
    text = this.rest + text; this.rest = "";
    for (let i = 0; i < text.length;) {
      const c = text[i];
      if (c === "\x1b") {
        const m = /^\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]+[0-~]|([0-Z\\^-~]))/.exec(text.slice(i, i + 4096));
        if (!m) { if (text.length - i < 4096) { this.rest = text.slice(i); return; } i++; continue; }
        if (m[2]) this.csi(m[1], m[2]); else if (m[3]) this.esc(m[3]);
        i += m[0].length; continue;
      }
      const code = text.codePointAt(i), ch = String.fromCodePoint(code);
      i += ch.length;
      if (c === "\r") this.x = 0;
      else if (c === "\n") this.newline();
      else if (c === "\b") this.x = Math.max(0, this.x - 1);
      else if (c === "\t") this.x = Math.min(this.cols - 1, (this.x >> 3) + 1 << 3);
      else if (code >= 32) { if (this.x >= this.cols) { this.x = 0; this.newline(); } const l = this.line(); while (l.length < this.x) l.push(" "); l[this.x++] = ch; }
    }
  }
  esc(c) {
    if (c === "7") this.kept = [this.x, this.y];
    else if (c === "8") [this.x, this.y] = this.kept;
    else if (c === "M") this.y = Math.max(0, this.y - 1);
    else if (c === "c") this.reset();
  }
  csi(args, op) {
    const priv = args[0] === "?", n = args.replace(/^[?>=]/, "").split(";").map(a => parseInt(a, 10) || 0), one = Math.max(1, n[0]);
    const at = v => Math.max(0, Math.min(this.rows - 1, v)), l = this.line();
    switch (op) {
      case "A": this.y = at(this.y - one); break;
      case "B": this.y = at(this.y + one); break;
      case "C": this.x = Math.min(this.cols - 1, this.x + one); break;
      case "D": this.x = Math.max(0, this.x - one); break;
      case "E": this.y = at(this.y + one); this.x = 0; break;
      case "F": this.y = at(this.y - one); this.x = 0; break;
      case "G": this.x = one - 1; break;
      case "d": this.y = at(one - 1); break;
      case "H": case "f": this.y = at(one - 1); this.x = Math.max(0, (n[1] || 1) - 1); break;
      case "J": if (n[0] === 0) { l.length = Math.min(l.length, this.x); this.lines.length = this.top + this.y + 1; } else if (n[0] >= 2) { this.top = this.lines.length; this.lines.push([]); } break;
      case "K": if (n[0] === 0) l.length = Math.min(l.length, this.x); else if (n[0] === 1) l.fill(" ", 0, this.x + 1); else l.length = 0; break;
      case "P": l.splice(this.x, one); break;
      case "X": for (let i = 0; i < one && this.x + i < l.length; i++) l[this.x + i] = " "; break;
      case "s": this.kept = [this.x, this.y]; break;
      case "u": [this.x, this.y] = this.kept; break;
      case "h": if (priv && n[0] === 1049) { this.saved = [this.lines, this.top, this.x, this.y]; this.lines = [[]]; this.top = this.x = this.y = 0; } break;
      case "l": if (priv && n[0] === 1049 && this.saved) { [this.lines, this.top, this.x, this.y] = this.saved; this.saved = null; } break;
    }
  }
  text(all) { return this.lines.slice(all ? 0 : this.top).map(l => l.join("").trimEnd()).join("\n").trimEnd(); }
}

let playing = null;
function player(it) {
  clearTimeout(playing); playing = null;
  const box = $("transcript"), cast = it.cast;
  if (!cast) { box.replaceChildren(el("p", {}, it.cast_note || "There is no transcript.")); return; }
  let at = cast.events.length;
  const pre = el("pre", {className: "screen"}), range = el("input", {type: "range", min: 0, max: cast.events.length, value: at, "aria-label": "position"});
  const button = el("button", {id: "play"}, "play"), all = el("button", {}, "full text"), clock = el("span", {});
  let screen, done;
  const start = () => { screen = new Screen(cast.cols, cast.rows); done = 0; };
  const draw = (to, all) => {
    if (!screen || to < done) start();
    for (; done < to; done++) { const [, type, text] = cast.events[done]; if (type === "o") screen.write(text); else if (type === "r") { const [c, r] = text.split("x").map(Number); screen.resize(c, r); } }
    at = to; range.value = to; clock.textContent = (to ? cast.events[to - 1][0] : 0).toFixed(1) + " s";
    pre.textContent = screen.text(all);
  };
  const stop = () => { clearTimeout(playing); playing = null; button.textContent = "play"; };
  const step = () => {
    if (at >= cast.events.length) { stop(); return; }
    draw(at + 1);
    const wait = at < cast.events.length ? cast.events[at][0] - cast.events[at - 1][0] : 0;
    playing = setTimeout(step, Math.min(1000, wait * 1000 / 4));
  };
  button.onclick = () => { if (playing) { stop(); return; } if (at >= cast.events.length) draw(0); button.textContent = "pause"; step(); };
  range.oninput = () => { stop(); draw(Number(range.value)); };
  all.onclick = () => { stop(); draw(cast.events.length, true); };
  box.replaceChildren(el("div", {className: "bar"}, button, range, clock, all), pre, it.cast_note ? el("p", {}, it.cast_note) : "");
  draw(at, true);
}

trajectory(); metrics(); alerts(); matrix(); picker();
show(Math.max(0, its.findIndex(it => it.number === data.selected)));
