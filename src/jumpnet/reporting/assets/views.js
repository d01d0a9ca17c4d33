// Two canvases to look at a solution with: a map of a plane and a line. They draw, and turn pixels into coordinates.

const INK = "#22262b", FAINT = "#9aa3ad", MARK = "#d55e00";

function colourTable(hex) {
  const table = new Uint8ClampedArray(768);
  for (let i = 0; i < 768; i++) table[i] = parseInt(hex.substr(2 * i, 2), 16);
  return table;
}

// The place of a value on the colour scale, from 0 to 1.
function onScale(quantity, value) {
  const [low, high] = quantity.range;
  if (quantity.kind === "log") return Math.log(value / low) / Math.log(high / low);
  return high > low ? (value - low) / (high - low) : 0.5;
}

// Round numbers between two others, about `count` of them.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

// As many digits as tell a tick from the next one: 25.0001 and 25.0002, never 25.00 twice.
function tickText(value, step) {
  const digits = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9))), size = Math.abs(value);
  if (size < 1e-12 * step) return "0";
  const apart = Math.max(2, Math.min(12, Math.ceil(Math.log10(size / step) - 1e-9)));
  const fixed = size < 1e5 && (step >= 1e-5 || (size >= 1e-3 && digits < 10));
  return fixed ? value.toFixed(digits) : value.toExponential(apart);
}

class View {
  constructor(scene, view, canvas) {
    Object.assign(this, { scene, view, canvas, probes: [], cursor: null, quantity: scene.quantities[0] });
    this.margin = { left: 52, right: 12, top: 10, bottom: 34 };
    this.reset();
  }

  // Size the canvas to its width on the page; sharp on screens with more than one dot to a pixel.
  fit() {
    const width = Math.max(this.canvas.clientWidth, 120), height = this.heightFor(width);
    const dots = window.devicePixelRatio || 1;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * dots);
    this.canvas.height = Math.round(height * dots);
    Object.assign(this, { width, height, dots });
    this.inner = {
      x: this.margin.left, y: this.margin.top,
      w: width - this.margin.left - this.margin.right, h: height - this.margin.top - this.margin.bottom,
    };
    this.reshape();
  }

  toPixel(x, y) {
    const { inner, box } = this;
    return [inner.x + ((x - box[0]) / (box[2] - box[0])) * inner.w, inner.y + ((box[3] - y) / (box[3] - box[1])) * inner.h];
  }

  toWorld(px, py) {
    const { inner, box } = this;
    return [box[0] + ((px - inner.x) / inner.w) * (box[2] - box[0]), box[3] - ((py - inner.y) / inner.h) * (box[3] - box[1])];
  }

  contains(px, py) {
    const { inner } = this;
    return px >= inner.x && py >= inner.y && px <= inner.x + inner.w && py <= inner.y + inner.h;
  }

  pan(dx, dy) {
    const { inner, box } = this;
    const x = (-dx / inner.w) * (box[2] - box[0]), y = (dy / inner.h) * (box[3] - box[1]);
    this.box = [box[0] + x, box[1] + y, box[2] + x, box[3] + y];
    this.draw();
  }

  zoom(factor, px, py) {
    const { inner } = this;
    const [x, y] = this.toWorld(px ?? inner.x + inner.w / 2, py ?? inner.y + inner.h / 2);
    const box = this.box.map((end, k) => (k % 2 ? y : x) + (end - (k % 2 ? y : x)) / factor);
    const size = this.home[2] - this.home[0], now = box[2] - box[0];
    if (now > 4 * size || now < 1e-7 * size) return;
    this.box = this.zoomed(box);
    this.draw();
  }

  zoomed(box) {
    return box;
  }

  // Axes, marks of probes, and the cursor; the same for both kinds.
  drawFrame(context) {
    const { inner, box } = this;
    context.strokeStyle = FAINT;
    context.fillStyle = INK;
    context.lineWidth = 1;
    context.font = "12px system-ui, sans-serif";
    const across = ticks(box[0], box[2], inner.w / 80), up = ticks(box[1], box[3], inner.h / 50);
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const x of across) {
      const [px] = this.toPixel(x, box[1]);
      context.beginPath();
      context.moveTo(px, inner.y + inner.h);
      context.lineTo(px, inner.y + inner.h + 4);
      context.stroke();
      context.fillText(tickText(x, (across[1] ?? x + 1) - across[0] || 1), px, inner.y + inner.h + 6);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const y of up) {
      const [, py] = this.toPixel(box[0], y);
      context.beginPath();
      context.moveTo(inner.x - 4, py);
      context.lineTo(inner.x, py);
      context.stroke();
      context.fillText(tickText(y, (up[1] ?? y + 1) - up[0] || 1), inner.x - 6, py);
    }
    context.font = "italic 13px serif";
    context.textAlign = "center";
    context.textBaseline = "bottom";
    context.fillText(this.view.axes[0], inner.x + inner.w / 2, this.height);
    context.save();
    context.translate(10, inner.y + inner.h / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(this.view.axes[1] ?? this.quantity.title, 0, 6);
    context.restore();
  }

  drawMarks(context) {
    const { inner } = this;
    context.save();
    context.beginPath();
    context.rect(inner.x, inner.y, inner.w, inner.h);
    context.clip();
    this.probes.forEach((probe, k) => {
      const [px, py] = this.markAt(probe);
      context.strokeStyle = "#fff";
      context.fillStyle = MARK;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(px, py, 5, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      context.font = "bold 12px system-ui, sans-serif";
      context.textAlign = "left";
      context.textBaseline = "bottom";
      context.lineWidth = 3;
      context.strokeText(k + 1, px + 7, py - 4);
      context.fillText(k + 1, px + 7, py - 4);
    });
    if (this.cursor) {
      const [px, py] = this.markAt(this.cursor);
      for (const [colour, width] of [["#fff", 3], [INK, 1]]) {
        context.strokeStyle = colour;
        context.lineWidth = width;
        context.beginPath();
        for (const [a, b] of [[4, 12], [-4, -12]]) {
          context.moveTo(px + a, py);
          context.lineTo(px + b, py);
          context.moveTo(px, py + a);
          context.lineTo(px, py + b);
        }
        context.stroke();
      }
    }
    context.restore();
  }

  draw() {
    const context = this.canvas.getContext("2d");
    context.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.drawContent(context);
    this.drawFrame(context);
    this.drawMarks(context);
  }
}

class MapView extends View {
  reset() {
    const [x0, y0, x1, y1] = this.view.inside, room = 0.02 * Math.max(x1 - x0, y1 - y0);
    this.home = [x0 - room, y0 - room, x1 + room, y1 + room];
    this.box = this.home;
    if (this.inner) this.reshape();
  }

  heightFor(width) {
    const { left, right, top, bottom } = this.margin;
    const shape = (this.home[3] - this.home[1]) / (this.home[2] - this.home[0]);
    const tall = (width - left - right) * shape;
    return Math.round(Math.max(180, Math.min(tall, 0.78 * window.innerHeight)) + top + bottom);
  }

  // Both axes at the same scale: the box grows around its middle to the shape of the canvas.
  reshape() {
    const { inner } = this, whole = this.box === this.home || this.box === this.whole;
    const box = whole ? this.home : this.box; // or it would grow with every change of the window
    const wide = (box[2] - box[0]) / inner.w, tall = (box[3] - box[1]) / inner.h, unit = Math.max(wide, tall);
    const x = (box[0] + box[2]) / 2, y = (box[1] + box[3]) / 2;
    this.box = [x - (unit * inner.w) / 2, y - (unit * inner.h) / 2, x + (unit * inner.w) / 2, y + (unit * inner.h) / 2];
    if (whole) this.whole = this.box;
  }

  markAt(probe) {
    return this.toPixel(probe.x, probe.y);
  }

  drawContent(context) {
    const { inner, dots } = this;
    const width = Math.round(inner.w * dots), height = Math.round(inner.h * dots);
    const image = context.createImageData(width, height);
    this.colour(image.data, width, height);
    context.putImageData(image, Math.round(inner.x * dots), Math.round(inner.y * dots));
    context.save();
    context.beginPath();
    context.rect(inner.x, inner.y, inner.w, inner.h);
    context.clip();
    context.lineJoin = "round";
    for (const curve of this.view.curves) {
      context.beginPath();
      for (let i = 0; i < curve.length; i++) {
        const [px, py] = this.toPixel(curve.rows[6 * i], curve.rows[6 * i + 1]);
        i ? context.lineTo(px, py) : context.moveTo(px, py);
      }
      if (curve.closed) context.closePath();
      context.strokeStyle = "rgba(255,255,255,0.9)";
      context.lineWidth = 1.4;
      context.stroke();
    }
    context.restore();
  }

  // Every pixel from its own piece: nothing is smeared across an interface, however far one zooms in.
  colour(data, width, height) {
    const { view, quantity, box } = this, table = colourTable(this.scene.colours[quantity.colours]);
    const [c0, r0] = gridPlace(view, box[0], box[3]), [c1, r1] = gridPlace(view, box[2], box[1]);
    const numbers = new Array(quantity.parts.length);
    let last = -2, patch = null, arrays = null;
    for (let j = 0; j < height; j++) {
      const row = r0 + ((r1 - r0) * (j + 0.5)) / height;
      for (let i = 0; i < width; i++) {
        const column = c0 + ((c1 - c0) * (i + 0.5)) / width, piece = pieceAt(view, column, row);
        if (piece < 0) continue;
        if (piece !== last) {
          patch = view.byPiece.get(piece);
          arrays = quantity.parts.map((name) => patch.values[name]);
          last = piece;
        }
        for (let k = 0; k < arrays.length; k++) numbers[k] = bilinear(arrays[k], patch, column, row);
        const place = onScale(quantity, combine(quantity, numbers)), at = 4 * (j * width + i);
        if (Number.isNaN(place)) continue;
        const c = 3 * Math.max(0, Math.min(255, Math.round(255 * place)));
        data[at] = table[c];
        data[at + 1] = table[c + 1];
        data[at + 2] = table[c + 2];
        data[at + 3] = 255;
      }
    }
  }
}

class LineView extends View {
  reset() {
    const [a, b] = this.view.inside, room = 0.02 * (b - a);
    this.home = [a - room, 0, b + room, 1];
    this.box = this.home;
    this.reshape();
  }

  heightFor(width) {
    return Math.round(Math.max(220, Math.min(0.55 * width, 420)));
  }

  shown(value) {
    return this.quantity.kind === "log" ? Math.log10(Math.max(value, this.quantity.range[0])) : value;
  }

  // The height follows the quantity.
  reshape() {
    let [low, high] = this.quantity.range.map((end) => this.shown(end));
    const room = 0.06 * (high - low) || Math.abs(high) || 1;
    this.box = [this.box[0], low - room, this.box[2], high + room];
    const up = ticks(this.box[1], this.box[3], 6), step = up.length > 1 ? up[1] - up[0] : 1;
    const left = Math.max(52, 26 + 6.5 * Math.max(0, ...up.map((y) => tickText(y, step).length))); // room for long numbers
    this.margin.left = left;
    if (this.inner) Object.assign(this.inner, { x: left, w: this.inner.x + this.inner.w - left });
  }

  zoomed(box) {
    return [box[0], this.box[1], box[2], this.box[3]];
  }

  pan(dx) {
    super.pan(dx, 0);
  }

  markAt(probe) {
    const value = probe.values?.[this.quantity.key];
    return this.toPixel(probe.x, value === undefined ? (this.box[1] + this.box[3]) / 2 : this.shown(value));
  }

  drawContent(context) {
    const { inner, view, quantity } = this;
    context.save();
    context.beginPath();
    context.rect(inner.x, inner.y, inner.w, inner.h);
    context.clip();
    context.strokeStyle = FAINT;
    context.lineWidth = 1;
    for (const curve of view.curves) {
      const [px] = this.toPixel(curve.rows[0], 0);
      context.beginPath();
      context.moveTo(px, inner.y);
      context.lineTo(px, inner.y + inner.h);
      context.stroke();
    }
    context.strokeStyle = "#0072b2";
    context.lineWidth = 2;
    for (const run of view.runs) {
      context.beginPath();
      for (let i = 0; i < run.n; i++) {
        const x = run.from + ((run.to - run.from) * i) / (run.n - 1);
        const value = combine(quantity, quantity.parts.map((name) => run.values[name][i]));
        const [px, py] = this.toPixel(x, this.shown(value));
        i ? context.lineTo(px, py) : context.moveTo(px, py);
      }
      context.stroke();
    }
    context.restore();
  }
}
