"use strict";
// Measures of the winner for other goals, computed in the page from its curve. The formulas are those of the library's
// curve.py, measures/area.py, measures/local.py and measures/early.py, ties and rounding of fractions included.
(() => {
  const data = JSON.parse(document.getElementById("curve").textContent);
  const byId = (id) => document.getElementById(id);

  // -- the curve ---------------------------------------------------------------------------------------------------

  // fraction * total, or the whole or half number it stands for where only rounding is in the way.
  function share(fraction, total) {
    const product = fraction * total;
    const nearest = Math.round(2 * product) / 2;
    return Math.abs(product - nearest) <= 4 * Number.EPSILON * product ? nearest : product;
  }

  // How many of the ascending values lie below x, or with orEqual at or below it.
  function rank(values, x, orEqual) {
    let low = 0;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < x || (orEqual && values[middle] === x)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function decoded(text) {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Float64Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true));
  }

  class Curve {
    constructor(levels) {
      const size = levels.pos.length;
      this.pos = levels.pos;
      this.neg = levels.neg;
      this.nPos = levels.nPos;
      this.nNeg = levels.nNeg;
      this.n = levels.nPos + levels.nNeg;
      this.scores = decoded(levels.scores);
      this.tp = new Float64Array(size + 1);
      this.fp = new Float64Array(size + 1);
      this.rows = new Float64Array(size + 1);
      this.pairs = new Float64Array(size + 1); // with the positive ahead, ties counting half
      for (let i = 0; i < size; i++) {
        this.pairs[i + 1] = this.pairs[i] + (this.tp[i] + this.pos[i] / 2) * this.neg[i];
        this.tp[i + 1] = this.tp[i] + this.pos[i];
        this.fp[i + 1] = this.fp[i] + this.neg[i];
        this.rows[i + 1] = this.tp[i + 1] + this.fp[i + 1];
      }
    }

    tpAfter(fp) {
      const i = rank(this.fp, fp, true) - 1;
      if (i === this.pos.length) return this.tp[i];
      return this.tp[i] + ((fp - this.fp[i]) * this.pos[i]) / this.neg[i];
    }

    tpBefore(fp) {
      const i = rank(this.fp, fp, false);
      if (i === 0) return this.tp[0];
      return this.tp[i] - ((this.fp[i] - fp) * this.pos[i - 1]) / this.neg[i - 1];
    }

    meanTpr(minFpr, maxFpr) {
      const left = share(minFpr, this.nNeg);
      const right = share(maxFpr, this.nNeg);
      const first = rank(this.fp, left, true);
      const last = rank(this.fp, right, false);
      const start = this.tpAfter(left);
      const end = this.tpBefore(right);
      if (right <= left) return start / this.nPos;
      let area;
      if (first >= last) {
        area = ((right - left) * (start + end)) / 2;
      } else {
        area = ((this.fp[first] - left) * (start + this.tp[first])) / 2;
        area += this.pairs[last - 1] - this.pairs[first];
        area += ((right - this.fp[last - 1]) * (this.tp[last - 1] + end)) / 2;
      }
      return Math.min(area / (this.nPos * (right - left)), 1);
    }

    tprAt(fpr) {
      return this.tpAfter(share(fpr, this.nNeg)) / this.nPos;
    }

    tpInFirst(nRows) {
      const i = rank(this.rows, nRows, true) - 1;
      if (i === this.pos.length) return this.tp[i];
      const part = ((nRows - this.rows[i]) * this.pos[i]) / (this.pos[i] + this.neg[i]);
      return Math.min(this.tp[i] + part, nRows);
    }

    // Rows tied at the border of the best fraction belong to it in part: the segment of the curve is cut there.
    localAuc(top) {
      const size = share(top, this.n);
      const i = rank(this.rows, size, true) - 1;
      const [levelPos, levelNeg] = i === this.pos.length ? [0, 0] : [this.pos[i], this.neg[i]];
      const part = size > this.rows[i] ? (size - this.rows[i]) / (levelPos + levelNeg) : 0;
      const [pos, neg] = [part * levelPos, part * levelNeg];
      const tp = this.tp[i] + pos;
      const pairs = this.pairs[i] + neg * (this.tp[i] + pos / 2);
      return (tp * (this.nNeg - this.fp[i] - neg) + pairs) / (this.nPos * this.nNeg);
    }

    scoreOf(row) {
      const i = rank(this.rows, row, false);
      return i === 0 ? null : this.scores[i - 1];
    }

    // The score of a row, with as few digits as it takes to lie above the next lower score.
    cutAt(row) {
      const i = rank(this.rows, row, false);
      if (i === 0) return null;
      const value = this.scores[i - 1];
      const below = i < this.scores.length ? this.scores[i] : -Infinity;
      for (let digits = 2; digits < 17; digits++) {
        const short = Number(value.toPrecision(digits));
        if (below < short && short <= value) return short;
      }
      return value;
    }
  }

  const curves = data.curves.map((levels) => new Curve(levels));
  const sum = (of) => curves.reduce((total, curve) => total + of(curve), 0);
  const mean = (of) => sum(of) / curves.length;
  const nRows = sum((curve) => curve.n);
  const nNeg = sum((curve) => curve.nNeg);

  // -- the goal ----------------------------------------------------------------------------------------------------

  // The value entered last, a false positive rate or a share of all cases, determines the other along the curve.
  const goal = { wanted: data.start.min, min: data.start.min, max: data.start.max, top: data.start.top, lead: data.lead };

  function follow() {
    if (goal.lead === "fpr") {
      const rows = sum((curve) => share(goal.max, curve.nNeg) + curve.tpAfter(share(goal.max, curve.nNeg)));
      goal.top = Math.min(rows / nRows, data.reach.top);
    } else {
      const fpr = mean((curve) => {
        const rows = share(goal.top, curve.n);
        return (rows - curve.tpInFirst(rows)) / curve.nNeg;
      });
      goal.max = Math.min(Math.max(fpr, 0), data.reach.fpr);
    }
    goal.min = goal.wanted < goal.max ? goal.wanted : 0;
  }

  function measured() {
    const rowsOf = (curve) => share(goal.top, curve.n);
    const hits = (curve) => curve.tpInFirst(rowsOf(curve));
    return {
      partial_auc: goal.min < goal.max ? mean((curve) => curve.meanTpr(goal.min, goal.max)) : null,
      tpr: mean((curve) => curve.tprAt(goal.max)),
      found: sum((curve) => curve.tprAt(goal.max) * curve.nPos),
      false_alarms: sum((curve) => share(goal.max, curve.nNeg)),
      expected: sum(hits),
      cases: sum(rowsOf),
      precision: mean((curve) => hits(curve) / rowsOf(curve)),
      recall: mean((curve) => hits(curve) / curve.nPos),
      fpr: mean((curve) => (rowsOf(curve) - hits(curve)) / curve.nNeg),
      local_auc: mean((curve) => curve.localAuc(goal.top)),
      threshold: data.byQuery ? null : curves[0].scoreOf(rowsOf(curves[0])),
    };
  }

  // -- the chart ---------------------------------------------------------------------------------------------------

  let right = data.right;
  const SIDE = 1000;
  const short = (value) => String(Math.round(value * 10) / 10);

  // Of the points in one cell of the chart only the first and the last are drawn: the others would not be visible.
  function curvePoints() {
    const points = [];
    if (data.byQuery) {
      for (let i = 0; i <= 200; i++) points.push([(right * i) / 200, mean((curve) => curve.tprAt((right * i) / 200))]);
      return [[0, 0], ...points];
    }
    const { fp, tp, nPos, nNeg: negatives } = curves[0];
    let cell = -1;
    let skipped = null;
    for (let i = 0; i < fp.length; i++) {
      const point = [fp[i] / negatives, tp[i] / nPos];
      const here = Math.floor((point[0] / right + point[1]) * 600);
      if (here !== cell) {
        if (skipped) points.push(skipped);
        points.push(point);
        skipped = null;
        cell = here;
      } else skipped = point;
      if (point[0] > right) break;
    }
    if (skipped) points.push(skipped);
    return points;
  }

  function pathOf(points) {
    return "M" + points.map(([x, y]) => `${short((SIDE * x) / right)} ${short(SIDE * (1 - y))}`).join("L");
  }

  function tickStep(length) {
    const power = 10 ** Math.floor(Math.log10(length / 5));
    return [1, 2, 5, 10].find((nice) => length / 5 <= nice * power * (1 + 1e-9)) * power;
  }

  function placed(kind, place, label) {
    const mark = document.createElement("span");
    mark.className = kind;
    mark.style.left = `${(100 * place) / right}%`;
    mark.textContent = label;
    return mark;
  }

  function drawCurve() {
    const points = curvePoints();
    byId("curve-line").setAttribute("d", pathOf(points));
    byId("under").setAttribute("d", `${pathOf(points)}L${short((SIDE * points[points.length - 1][0]) / right)} ${SIDE}L0 ${SIDE}Z`);
    byId("chance").setAttribute("d", pathOf([[0, 0], [right, right]]));
    const step = tickStep(right);
    const grid = byId("grid");
    grid.replaceChildren();
    for (let i = 0; i * step <= right * (1 + 1e-9); i++) {
      const place = Number((i * step).toPrecision(6));
      grid.append(placed("rule v", place, ""), placed("tick x", place, String(place)));
    }
  }

  // -- showing -----------------------------------------------------------------------------------------------------

  const RATES = ["partial_auc", "tpr", "precision", "recall", "fpr", "local_auc"];

  function printed(key, value) {
    if (value === null) return "–";
    if (key === "threshold") return String(curves[0].cutAt(Math.max(Math.floor(share(goal.top, curves[0].n) + 1e-9), 1)));
    if (RATES.includes(key)) return value !== 0 && Math.abs(value) < 0.0095 ? String(Number(value.toPrecision(2))) : value.toFixed(3);
    // Cases are whole: at most so many are selected or false alarms, and about so many are found.
    const whole = ["cases", "false_alarms"].includes(key) ? Math.floor(value + 1e-9) : Math.round(value);
    return whole.toLocaleString("en-US");
  }

  const plain = (value) => String(Number(value.toPrecision(6)));

  function fill(id, text) {
    const input = byId(id);
    if (input !== document.activeElement || input.type === "range") input.value = text;
    if (input !== document.activeElement) input.removeAttribute("aria-invalid");
  }

  function place(handle, value, low, high) {
    handle.style.left = `${Math.min((100 * value) / right, 100)}%`;
    handle.setAttribute("aria-valuemin", String(low));
    handle.setAttribute("aria-valuemax", String(high));
    handle.setAttribute("aria-valuenow", String(value));
  }

  function show() {
    const values = measured();
    const root = byId("control");
    for (const key of ["min", "max", "top", "lead"]) root.dataset[key] = String(goal[key]);
    for (const cell of root.querySelectorAll("[data-key]")) {
      const value = values[cell.dataset.key];
      cell.textContent = printed(cell.dataset.key, value);
      cell.dataset.value = value === null ? "" : String(value);
    }
    place(byId("handle-min"), goal.min, 0, goal.max);
    place(byId("handle-max"), goal.max, goal.min, data.reach.fpr);
    const found = `true positive rate ${printed("tpr", values.tpr)}, partial AUC ${printed("partial_auc", values.partial_auc)}`;
    byId("handle-min").setAttribute("aria-valuetext", `${plain(goal.min)}, ${found}`);
    byId("handle-max").setAttribute("aria-valuetext", `${plain(goal.max)}, ${found}`);
    byId("range-rect").setAttribute("x", String((SIDE * goal.min) / right));
    byId("range-rect").setAttribute("width", String((SIDE * (goal.max - goal.min)) / right));
    byId("point").style.left = `${(100 * values.fpr) / right}%`;
    byId("point").style.top = `${100 * (1 - values.recall)}%`;
    byId("point").hidden = values.fpr > right;
    const line = byId("line");
    if (data.byQuery) line.removeAttribute("d");
    else {
      const { nPos, nNeg: negatives } = curves[0];
      line.setAttribute("d", pathOf([[values.cases / negatives, 0], [(values.cases - nPos) / negatives, 1]]));
    }
    fill("min", String(Number(goal.min.toPrecision(5))));
    fill("max", String(Number(goal.max.toPrecision(5))));
    fill("top", String(Number(goal.top.toPrecision(5))));
    fill("cases", String(Math.max(Math.floor(values.cases + 1e-9), 1)));
    const slide = byId("slide");
    slide.max = String(mostCases());
    fill("slide", String(Math.round(values.cases)));
    slide.setAttribute("aria-valuetext", `${printed("cases", values.cases)} cases, ${printed("expected", values.expected)} found`);
  }

  function mostCases() {
    const rows = sum((curve) => share(right, curve.nNeg) + curve.tpAfter(share(right, curve.nNeg)));
    return Math.max(Math.min(Math.floor(rows), mostRows), 1);
  }

  function update() {
    follow();
    show();
  }

  // -- input -------------------------------------------------------------------------------------------------------

  function setMin(value) {
    goal.wanted = Math.max(value, 0);
    if (goal.wanted >= goal.max) goal.wanted = Math.max(goal.max - smallest(), 0);
    update();
  }

  function setMax(value) {
    goal.lead = "fpr";
    goal.max = Math.min(Math.max(value, smallest() + goal.min), data.reach.fpr);
    if (goal.max <= goal.min) goal.wanted = 0;
    update();
  }

  function setTop(value) {
    goal.lead = "top";
    goal.top = Math.min(value, data.reach.top);
    update();
  }

  // The smallest step along the axis: 1/500 of the chart, or one negative if that is more.
  const smallest = () => right / 500;
  const keyStep = () => Math.max(smallest(), 1 / nNeg);
  const rounded = (value) => Number((Math.round(value / (right / 1000)) * (right / 1000)).toPrecision(9));

  function hold(handle, set, get) {
    const stage = byId("stage");
    const at = (event) => {
      const box = stage.getBoundingClientRect();
      const x = (event.clientX - box.left - stage.clientLeft) / stage.clientWidth;
      return rounded(Math.min(Math.max(x, 0), 1) * right);
    };
    handle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      handle.focus({ preventScroll: true });
      handle.setPointerCapture(event.pointerId);
    });
    handle.addEventListener("pointermove", (event) => {
      if (handle.hasPointerCapture(event.pointerId)) set(at(event));
    });
    handle.addEventListener("keydown", (event) => {
      const many = event.shiftKey ? 10 : 1;
      const ways = {
        ArrowRight: many, ArrowUp: many, ArrowLeft: -many, ArrowDown: -many, PageUp: 10, PageDown: -10,
        Home: -Infinity, End: Infinity,
      };
      const way = ways[event.key];
      if (way === undefined) return;
      event.preventDefault();
      const moved = Math.abs(way) === Infinity ? (way > 0 ? right : 0) : get() + way * keyStep();
      set(Math.min(Math.max(Number(moved.toPrecision(9)), 0), Math.max(right, get())));
    });
  }

  function typed(id, fits, needed, set) {
    const input = byId(id);
    input.addEventListener("input", () => {
      const value = input.valueAsNumber; // not a number, and so never fitting, while nothing is typed
      input.setAttribute("aria-invalid", String(!fits(value)));
      byId("message").textContent = fits(value) ? "" : `Expected a number ${needed()}.`;
      if (fits(value)) set(value);
    });
    input.addEventListener("blur", () => {
      byId("message").textContent = "";
      show();
    });
  }

  hold(byId("handle-min"), setMin, () => goal.min);
  hold(byId("handle-max"), setMax, () => goal.max);
  const mostRows = Math.floor(share(data.reach.top, nRows));
  const above0 = (most) => `above 0 and at most ${plain(most)}`;
  typed("min", (value) => value >= 0 && value < goal.max, () => `of at least 0 and below ${plain(goal.max)}`, (value) => {
    goal.wanted = value;
    update();
  });
  typed("max", (value) => value > 0 && value <= data.reach.fpr, () => above0(data.reach.fpr), (value) => {
    goal.lead = "fpr";
    goal.max = value;
    update();
  });
  typed("top", (value) => value > 0 && value <= data.reach.top, () => above0(data.reach.top), setTop);
  typed("cases", (value) => value >= 1 && value <= mostRows, () => `from 1 to ${plain(mostRows)}`, (value) => setTop(value / nRows));
  byId("slide").addEventListener("input", (event) => setTop(event.target.valueAsNumber / nRows));
  byId("all").addEventListener("change", (event) => {
    right = event.target.checked ? data.reach.fpr : data.right;
    drawCurve();
    show();
  });
  document.querySelector("form.inputs").addEventListener("submit", (event) => event.preventDefault());

  byId("control").hidden = false;
  drawCurve();
  update();
})();
