// The data of the page: arrays out of one compressed text, and values between grid points, always of one piece.
"use strict";

const KINDS = { f4: Float32Array, f8: Float64Array, i2: Int16Array };

async function readScene() {
  const scene = JSON.parse(document.getElementById("scene").textContent);
  const text = atob(document.getElementById("arrays").textContent.trim());
  const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const array = (place) => new KINDS[place.kind](buffer, place.at, place.n);
  for (const view of scene.views) {
    view.curves = view.curves.map((c) => ({ pair: c.pair, closed: c.closed, rows: array(c), length: c.n / 6 }));
    for (const part of view.pieces || view.runs) {
      for (const name in part.values) part.values[name] = array(part.values[name]);
      if (part.level) part.level = array(part.level);
    }
    if (view.kind === "map") {
      view.label = array(view.label);
      view.domain = array(view.domain);
      view.byPiece = new Map(view.pieces.map((patch) => [patch.piece, patch]));
    }
  }
  return scene;
}

// Cubic weights for the four points at -1, 0, 1, 2.
function cubicWeights(t) {
  return [
    (-t * (t - 1) * (t - 2)) / 6,
    ((t + 1) * (t - 1) * (t - 2)) / 2,
    (-(t + 1) * t * (t - 2)) / 2,
    ((t + 1) * t * (t - 1)) / 6,
  ];
}

// --- maps ------------------------------------------------------------------------------------------------------------

// Bilinear value of an array over a patch's window, at grid coordinates (column, row); NaN where it is not known.
function bilinear(array, patch, column, row) {
  const [left, top, width, height] = patch.window;
  const i = Math.min(Math.max(Math.floor(column) - left, 0), width - 2);
  const j = Math.min(Math.max(Math.floor(row) - top, 0), height - 2);
  const s = column - left - i, t = row - top - j, k = j * width + i;
  return (
    (1 - t) * ((1 - s) * array[k] + s * array[k + 1]) + t * ((1 - s) * array[k + width] + s * array[k + width + 1])
  );
}

function bicubic(array, patch, column, row) {
  const [left, top, width, height] = patch.window;
  const i = Math.floor(column) - left, j = Math.floor(row) - top;
  if (i >= 1 && j >= 1 && i + 2 < width && j + 2 < height) {
    const a = cubicWeights(column - left - i), b = cubicWeights(row - top - j);
    let total = 0;
    for (let m = 0; m < 4; m++)
      for (let n = 0; n < 4; n++) total += b[m] * a[n] * array[(j + m - 1) * width + i + n - 1];
    if (Number.isFinite(total)) return total;
  }
  return bilinear(array, patch, column, row);
}

// The piece at grid coordinates: that of the four grid points around, or, where they differ, the one whose level
// function is lowest there. -1 outside the domain.
function pieceAt(view, column, row) {
  const [height, width] = view.shape;
  const i = Math.floor(column), j = Math.floor(row);
  if (!(i >= 0 && j >= 0 && i + 1 < width && j + 1 < height)) return -1;
  const k = j * width + i, label = view.label;
  const a = label[k], b = label[k + 1], c = label[k + width], d = label[k + width + 1];
  if (a === b && b === c && c === d) return a;
  const s = column - i, t = row - j, domain = view.domain;
  const corner = a < 0 || b < 0 || c < 0 || d < 0;
  if (corner) {
    const x = view.lower[0] + column * view.step[0], y = view.lower[1] + row * view.step[1];
    const box = view.inside;
    if (x < box[0] || y < box[1] || x > box[2] || y > box[3]) return -1;
    const level =
      (1 - t) * ((1 - s) * domain[k] + s * domain[k + 1]) +
      t * ((1 - s) * domain[k + width] + s * domain[k + width + 1]);
    const slack = 1e-6 * (Math.abs(view.step[0]) + Math.abs(view.step[1]));
    if (level > slack) return -1;
  }
  let best = -1, lowest = Infinity;
  for (const piece of [a, b, c, d]) {
    if (piece <= 0 || piece === best) continue;
    const patch = view.byPiece.get(piece);
    const level = bilinear(patch.level, patch, column, row);
    if (level < lowest) [best, lowest] = [piece, level];
  }
  const background = a === 0 || b === 0 || c === 0 || d === 0;
  if (best < 0) return background ? 0 : -1;
  return background && lowest > 0 ? 0 : best;
}

function gridPlace(view, x, y) {
  return [(x - view.lower[0]) / view.step[0], (y - view.lower[1]) / view.step[1]];
}

// --- lines -----------------------------------------------------------------------------------------------------------

function alongRun(run, array, x) {
  const h = (run.to - run.from) / (run.n - 1);
  const place = Math.min(Math.max((x - run.from) / h, 0), run.n - 1);
  const i = Math.min(Math.max(Math.floor(place), 1), run.n - 3);
  const w = cubicWeights(place - i);
  return w[0] * array[i - 1] + w[1] * array[i] + w[2] * array[i + 1] + w[3] * array[i + 2];
}

// --- both ------------------------------------------------------------------------------------------------------------

function combine(quantity, numbers) {
  if (quantity.kind === "plain") return numbers[0];
  return Math.sqrt(numbers.reduce((sum, v) => sum + v * v, 0));
}

// Every quantity at a point: { piece, values: { key: number } }, piece -1 outside the domain.
function valuesAt(scene, view, x, y) {
  let piece = -1, look;
  if (view.kind === "map") {
    const [column, row] = gridPlace(view, x, y);
    piece = pieceAt(view, column, row);
    const patch = view.byPiece.get(piece);
    look = (name) => bicubic(patch.values[name], patch, column, row);
  } else {
    const run = view.runs.find((r) => x >= r.from && x <= r.to);
    if (run) [piece, look] = [run.piece, (name) => alongRun(run, run.values[name], x)];
  }
  const values = {};
  if (piece >= 0) for (const q of scene.quantities) values[q.key] = combine(q, q.parts.map(look));
  return { piece, values };
}

// The interface point nearest to a place, with both sides; distances are measured by the function given.
function nearestOnInterface(view, distance) {
  let best = null, least = Infinity;
  view.curves.forEach((curve, c) => {
    for (let i = 0; i < curve.length; i++) {
      const far = distance(curve.rows[6 * i], curve.rows[6 * i + 1]);
      if (far < least) [best, least] = [{ curve: c, index: i }, far];
    }
  });
  return best && { ...best, distance: least };
}

function sidesAt(view, place) {
  const curve = view.curves[place.curve];
  const [x, y, ua, fa, ub, fb] = curve.rows.subarray(6 * place.index, 6 * place.index + 6);
  return { x, y, pair: curve.pair, u: [ua, ub], flux: [fa, fb], jump: ua - ub, fluxJump: fa - fb };
}
