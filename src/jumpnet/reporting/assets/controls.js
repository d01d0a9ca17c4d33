// Mouse, touch and keys on the views, the readout, and the table of probes.

const SNAP = 9; // pixels: a click this close to an interface asks for both of its sides
const MOST_PROBES = 12;

function number(value, digits = 7) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  const text = size < 1e-3 || size >= 1e6 ? value.toExponential(digits - 1) : value.toPrecision(digits);
  return text.replaceAll("-", "−").replace("e+", "e");
}

// With as many digits as tell the numbers of a scale apart, where they differ by little: 24.9990, 25.0000, 25.0010.
function short(value, range = [value]) {
  const spread = Math.max(...range) - Math.min(...range), size = Math.max(...range.map(Math.abs));
  if (Math.abs(value) < 1e-6 * spread) return "0"; // rounding or the solver's error, at the end of a scale
  return number(value, spread > 0 ? Math.max(4, Math.min(13, Math.ceil(Math.log10(size / spread)) + 3)) : 4);
}

class Viewer {
  constructor(scene, root) {
    this.scene = scene;
    this.root = root;
    this.find = (name) => root.querySelector(`[data-is="${name}"]`);
    this.canvas = this.find("canvas");
    this.views = scene.views.map((view) => new (view.kind === "map" ? MapView : LineView)(scene, view, this.canvas));
    this.current = this.views[0];
    this.pointers = new Map();
    this.fill();
    this.listen();
    this.resize();
  }

  fill() {
    const options = (select, entries) =>
      entries.forEach(([value, text]) => select.append(new Option(text, value)));
    options(this.find("quantity"), this.scene.quantities.map((q) => [q.key, q.title]));
    options(this.find("plane"), this.scene.views.map((v, k) => [k, v.name]));
    this.find("planes").hidden = this.scene.views.length < 2;
    this.find("next").hidden = !this.scene.views.some((v) => v.curves.length);
  }

  listen() {
    const on = (name, event, act) => this.find(name).addEventListener(event, act);
    on("quantity", "change", (e) => this.choose(e.target.value));
    on("plane", "change", (e) => this.turn(Number(e.target.value)));
    on("in", "click", () => this.current.zoom(1.6));
    on("out", "click", () => this.current.zoom(1 / 1.6));
    on("home", "click", () => this.home());
    on("next", "click", () => this.step(1));
    on("clear", "click", () => this.clear());
    on("copy", "click", () => this.copy());
    on("canvas", "keydown", (e) => this.key(e));
    on("canvas", "wheel", (e) => {
      // A page with a map must still scroll: the wheel is the map's only once it has been clicked, or with Ctrl.
      if (document.activeElement !== this.canvas && !e.ctrlKey) return;
      e.preventDefault();
      this.current.zoom(Math.exp(-0.0015 * e.deltaY), ...this.place(e));
    });
    on("canvas", "pointerdown", (e) => this.down(e));
    on("canvas", "pointermove", (e) => this.move(e));
    on("canvas", "pointerup", (e) => this.up(e));
    on("canvas", "pointercancel", (e) => this.pointers.delete(e.pointerId));
    on("canvas", "pointerleave", () => this.tell(null));
    window.addEventListener("resize", () => this.resize());
  }

  resize() {
    this.current.fit();
    this.draw();
  }

  draw() {
    this.current.draw();
    this.legend();
  }

  choose(key) {
    const quantity = this.scene.quantities.find((q) => q.key === key);
    for (const view of this.views) view.quantity = quantity;
    this.find("quantity").value = key;
    this.current.reshape();
    this.draw();
  }

  turn(k) {
    const box = this.current.quantity;
    this.current = this.views[k];
    this.current.quantity = box;
    this.resize();
    this.list();
  }

  home() {
    this.current.reset();
    this.draw();
  }

  // The colour scale below a map; a line has its axis.
  legend() {
    const bar = this.find("bar"), { quantity, view } = this.current;
    bar.hidden = view.kind !== "map";
    if (bar.hidden) return;
    const canvas = this.find("colours"), context = canvas.getContext("2d");
    const table = colourTable(this.scene.colours[quantity.colours]), image = context.createImageData(256, 1);
    for (let i = 0; i < 256; i++) image.data.set([table[3 * i], table[3 * i + 1], table[3 * i + 2], 255], 4 * i);
    context.putImageData(image, 0, 0);
    const [low, high] = quantity.range;
    const middle = quantity.kind === "log" ? Math.sqrt(low * high) : (low + high) / 2;
    for (const [name, value] of [["low", low], ["middle", middle], ["high", high]])
      this.find(name).textContent = short(value, quantity.kind === "log" ? [value] : quantity.range);
    this.find("shown").textContent = quantity.title + (quantity.kind === "log" ? ", logarithmic" : "");
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  down(event) {
    this.pointers.set(event.pointerId, this.place(event));
    this.moved = this.pointers.size > 1;
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    const [px, py] = this.place(event), before = this.pointers.get(event.pointerId);
    if (!before) return this.hover(px, py);
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
      const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
      this.current.zoom(apart([px, py]) / Math.max(apart(before), 1), (px + other[0]) / 2, (py + other[1]) / 2);
    } else if (this.moved || Math.hypot(px - before[0], py - before[1]) > 4) {
      this.moved = true;
      this.current.pan(px - before[0], py - before[1]);
    } else return;
    this.pointers.set(event.pointerId, [px, py]);
  }

  up(event) {
    const known = this.pointers.delete(event.pointerId);
    if (known && !this.moved && this.current.contains(...this.place(event))) this.probePixel(...this.place(event));
  }

  hover(px, py) {
    if (!this.current.contains(px, py)) return this.tell(null);
    this.tell(this.read(...this.current.toWorld(px, py)));
  }

  // --- reading ---

  read(x, y) {
    return { x, y, ...valuesAt(this.scene, this.current.view, x, y) };
  }

  where(reading) {
    const { view } = this.current, fixed = Object.entries(view.fixed).map(([k, v]) => `${k} = ${short(v)}`);
    const here = view.axes.map((axis, k) => `${axis} = ${number(k ? reading.y : reading.x, 6)}`);
    return [...here, ...fixed].join(", ");
  }

  tell(reading) {
    const words = this.find("readout");
    if (!reading) return (words.textContent = "");
    const { names, quantities } = this.scene;
    if (reading.sides) {
      const { pair, u, jump } = reading.sides;
      words.textContent =
        `${this.where(reading)}: interface of ${names[pair[0]]} and ${names[pair[1]]}, ` +
        `u = ${number(u[0])} and ${number(u[1])}, [u] = ${number(jump)}`;
      return;
    }
    const values = quantities.map((q) => `${q.title} = ${number(reading.values[q.key], q.kind === "log" ? 3 : 7)}`);
    words.textContent =
      `${this.where(reading)}: ` + (reading.piece < 0 ? "outside the domain" : [names[reading.piece], ...values].join(", "));
  }

  // A probe at a pixel: of both sides where an interface is near, else of the piece there.
  probePixel(px, py) {
    const { current } = this;
    const flat = current.view.kind === "line";
    const near = nearestOnInterface(current.view, (x, y) => {
      const [qx, qy] = current.toPixel(x, y);
      return flat ? Math.abs(qx - px) : Math.hypot(qx - px, qy - py);
    });
    if (near && near.distance <= SNAP) return this.pinSides(near);
    return this.pin(this.read(...current.toWorld(px, py)));
  }

  pinSides(place) {
    const sides = sidesAt(this.current.view, place);
    this.on = place;
    return this.pin({ x: sides.x, y: sides.y, sides, values: { u: sides.u[0] } });
  }

  pin(reading) {
    this.tell(reading);
    if (reading.piece === -1) return reading;
    const { current } = this;
    current.cursor = reading;
    current.probes = [...current.probes, reading].slice(-MOST_PROBES);
    this.list();
    current.draw();
    return reading;
  }

  clear() {
    this.current.probes = [];
    this.current.cursor = null;
    this.list();
    this.current.draw();
  }

  rows(probe, k) {
    const { scene } = this, { names, quantities } = scene;
    const at = this.current.view.axes.map((_, axis) => number(axis ? probe.y : probe.x, 6));
    if (!probe.sides) {
      const values = quantities.map((q) => number(probe.values[q.key], q.kind === "log" ? 3 : 7));
      return [[String(k + 1), ...at, names[probe.piece], ...values, ""]];
    }
    const { pair, u, flux, jump, fluxJump } = probe.sides;
    const empty = quantities.slice(1).map(() => "");
    return [
      [String(k + 1), ...at, `${names[pair[0]]} side`, number(u[0]), ...empty, number(flux[0])],
      ["", ...at.map(() => ""), `${names[pair[1]]} side`, number(u[1]), ...empty, number(flux[1])],
      ["", ...at.map(() => ""), "jump", number(jump), ...empty, number(fluxJump)],
    ];
  }

  heads() {
    return ["probe", ...this.current.view.axes, "piece", ...this.scene.quantities.map((q) => q.title), "A∇u·n"];
  }

  list() {
    const table = this.find("probes"), { probes } = this.current;
    this.find("panel").hidden = probes.length === 0;
    const line = (cells, tag) => {
      const row = document.createElement("tr");
      cells.forEach((text, k) => {
        const cell = document.createElement(tag);
        cell.textContent = text;
        if (k) cell.className = "n";
        row.append(cell);
      });
      return row;
    };
    const body = probes.flatMap((probe, k) => this.rows(probe, k));
    table.replaceChildren(line(this.heads(), "th"), ...body.map((cells) => line(cells, "td")));
    [...table.rows].forEach((row) => row.classList.toggle("jump", row.cells[this.heads().indexOf("piece")].textContent === "jump"));
  }

  async copy() {
    const { probes } = this.current;
    const lines = [this.heads(), ...probes.flatMap((probe, k) => this.rows(probe, k))];
    const text = lines.map((cells) => cells.map((c) => c.replaceAll("−", "-").replaceAll(",", ";")).join(",")).join("\n");
    try {
      await navigator.clipboard.writeText(text);
      this.find("readout").textContent = `${probes.length} probes copied as CSV`;
    } catch {
      this.find("readout").textContent = "the browser refuses to copy; select the table by hand";
    }
  }

  // --- keys ---

  // The next or previous point of the interfaces, a few samples on; the first time the one nearest to the middle.
  step(direction) {
    const { view } = this.current;
    if (!view.curves.length) return;
    let place = this.on;
    if (!place || place.curve >= view.curves.length) {
      const [x0, y0, x1, y1] = this.current.box;
      place = nearestOnInterface(view, (x, y) => Math.hypot(x - (x0 + x1) / 2, view.kind === "line" ? 0 : y - (y0 + y1) / 2));
    } else {
      const curve = view.curves[place.curve], stride = Math.max(1, Math.round(curve.length / 24));
      let { curve: c, index } = place;
      index += direction * stride;
      if (index < 0 || index >= curve.length) {
        c = (c + direction + view.curves.length) % view.curves.length;
        index = direction > 0 ? 0 : view.curves[c].length - 1;
      }
      place = { curve: c, index };
    }
    this.pinSides(place);
  }

  key(event) {
    const { current } = this, { key, shiftKey } = event;
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const acts = {
      "+": () => current.zoom(1.6), "=": () => current.zoom(1.6), "-": () => current.zoom(1 / 1.6),
      0: () => this.home(), n: () => this.step(1), p: () => this.step(-1),
      Enter: () => current.cursor && this.probePixel(...current.markAt(current.cursor)),
      Escape: () => this.clear(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (arrows[key]) {
      const [dx, dy] = arrows[key];
      if (shiftKey) current.pan(-40 * dx, -40 * dy);
      else this.moveCursor(12 * dx, 12 * dy);
    } else if (acts[key]) acts[key]();
    else return;
    event.preventDefault();
  }

  moveCursor(dx, dy) {
    const { current } = this, { inner } = current;
    let [px, py] = current.cursor ? current.markAt(current.cursor) : [inner.x + inner.w / 2 - dx, inner.y + inner.h / 2 - dy];
    px = Math.min(Math.max(px + dx, inner.x), inner.x + inner.w);
    py = Math.min(Math.max(py + dy, inner.y), inner.y + inner.h);
    current.cursor = this.read(...current.toWorld(px, py));
    this.tell(current.cursor);
    current.draw();
  }
}

(async () => {
  const root = document.querySelector("[data-is=viewer]");
  for (const button of document.querySelectorAll("[data-copies]")) {
    button.addEventListener("click", async () => {
      const text = document.getElementById(button.dataset.copies).textContent;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "copied";
      } catch {
        button.textContent = "select it by hand";
      }
    });
  }
  if (!root) return;
  try {
    const viewer = new Viewer(await readScene(), root);
    window.jumpnet = { viewer, probe: (x, y = 0) => viewer.read(x, y), sides: (c, i) => sidesAt(viewer.current.view, { curve: c, index: i }) };
    root.dataset.ready = "yes";
  } catch (problem) {
    root.hidden = true;
    throw problem;
  }
})();
