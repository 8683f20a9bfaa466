// The chart at the top: choose data, metric and methods, and read values by pointing at a mark. Without this script, and
// in print, the static figure is shown instead.
{
  const SHAPES = { // corners in units of a mark's radius
    s: "-.85,-.85 .85,-.85 .85,.85 -.85,.85", D: "0,-1.15 1.15,0 0,1.15 -1.15,0",
    "^": "0,-1.1 1.05,.85 -1.05,.85", v: "0,1.1 1.05,-.85 -1.05,-.85",
    "<": "-1.1,0 .85,-1.05 .85,1.05", ">": "1.1,0 -.85,-1.05 -.85,1.05",
    P: "-.4,-1.1 .4,-1.1 .4,-.4 1.1,-.4 1.1,.4 .4,.4 .4,1.1 -.4,1.1 -.4,.4 -1.1,.4 -1.1,-.4 -.4,-.4",
    X: "0,-.5 .6,-1.1 1.1,-.6 .5,0 1.1,.6 .6,1.1 0,.5 -.6,1.1 -1.1,.6 -.5,0 -1.1,-.6 -.6,-1.1",
    h: "0,-1.1 .95,-.55 .95,.55 0,1.1 -.95,.55 -.95,-.55", _: "-1.1,-.25 1.1,-.25 1.1,.25 -1.1,.25",
    "*": "0,-1.2 .3,-.4 1.15,-.37 .48,.16 .7,.97 0,.5 -.7,.97 -.48,.16 -1.15,-.37 -.3,-.4",
    p: "0,-1.15 1.1,-.36 .68,.93 -.68,.93 -1.1,-.36",
  };
  const data = JSON.parse(document.getElementById("numbers").textContent);
  const box = document.getElementById("explore");
  const tested = data.values.some((value) => value[6]); // a leaderboard does not test methods of several runs
  const hidden = new Set(); // methods that the reader has switched off
  const element = (name, attributes = {}, text = "") => {
    const made = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    made.textContent = text;
    return made;
  };
  const drawn = (name, attributes, text = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    made.textContent = text;
    return made;
  };
  const choice = (label, options) => {
    const select = element("select"), wrapped = element("label", {}, label + " ");
    select.append(...options.map((text, number) => element("option", { value: number }, text)));
    wrapped.append(select);
    return [wrapped, select];
  };
  const mark = (method, x, y, radius) => {
    const { marker, colour } = data.methods[method];
    if (!(marker in SHAPES)) return drawn("circle", { cx: x, cy: y, r: radius, fill: colour, class: "mark" });
    const transform = `translate(${x} ${y}) scale(${radius})`;
    return drawn("polygon", { points: SHAPES[marker], transform, fill: colour, class: "mark" });
  };
  const seconds = (value) => value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
  const ticks = (low, high) => { // four to eight round numbers
    const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((times) => times * power >= rough) * power;
    const first = Math.ceil(low / step - 1e-9);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, n) => ((first + n) * step).toFixed(digits));
  };

  const [taskLabel, task] = choice("Data and protocol", data.tasks.map((each) => each.title));
  const [metricLabel, metric] = choice("Metric", data.metrics);
  const [viewLabel, view] = choice("Shown", ["against training time", "with 95 % intervals"]);
  const controls = element("div", { class: "controls" });
  controls.append(taskLabel, metricLabel, viewLabel);
  const chart = element("div", { class: "chart" }), legend = element("div", { class: "legend", role: "group", "aria-label": "Methods" });
  const tip = element("div", { class: "tip", role: "status" });
  box.append(controls, chart, legend, element("p", { class: "hint" }));

  // The methods on the chosen task, with their values in the chosen metric.
  const found = () => data.values
    .filter(([where, what]) => where === +task.value && what === +metric.value)
    .map(([, , method, value, low, high, best]) => {
      const timed = data.seconds.find(([where, row]) => where === +task.value && row === method);
      const [, , marks, limits] = data.marks.find(([where, row]) => where === +task.value && row === method) || [0, 0, "", ""];
      const title = data.methods[method].title + marks;
      return { method, value, low, high, best, limits, seconds: timed ? timed[2] : null, ...data.methods[method], title };
    });
  const words = (row) => {
    const interval = row.low === null ? "" : ` [${row.low.toFixed(4)}, ${row.high.toFixed(4)}]`;
    const verdict = ["", "; not significantly different from the best", "; best"][row.best];
    const time = row.seconds === null ? "" : `; ${seconds(row.seconds)} s of training`;
    return `${row.title}: ${data.metrics[metric.value]} ${row.value.toFixed(4)}${interval}${verdict}${time}${row.limits ? `; ${row.limits}` : ""}`;
  };
  const pointing = (shape, row, x, y) => {
    Object.entries({ tabindex: 0, role: "img", "aria-label": words(row) }).forEach(([key, value]) => shape.setAttribute(key, value));
    const show = () => {
      tip.textContent = words(row);
      chart.append(tip);
      tip.style.left = `${Math.max(0, Math.min(x + 12, chart.clientWidth - tip.offsetWidth))}px`;
      tip.style.top = `${y > 70 ? y - tip.offsetHeight - 10 : y + 12}px`;
    };
    ["pointerenter", "focus"].forEach((event) => shape.addEventListener(event, show));
    ["pointerleave", "blur"].forEach((event) => shape.addEventListener(event, () => tip.remove()));
    return shape;
  };

  // Name the marks of some methods, in this order. A name is left out if it would cover a mark or an earlier name at
  // each of the four corners of its mark; the legend still shows it.
  const name_marks = (svg, named, rows, x, y) => {
    const taken = rows.map((row) => ({ x: x(row.seconds) - 6, y: y(row.value) - 6, width: 12, height: 12 }));
    const apart = (a, b) => a.x + a.width < b.x || b.x + b.width < a.x || a.y + a.height < b.y || b.y + b.height < a.y;
    const inside = (box) => box.x > 0 && box.x + box.width < chart.clientWidth && box.y > 0;
    for (const row of named) {
      const name = drawn("text", { class: "name" }, row.title);
      svg.append(name);
      const placed = [[10, -9], [-10, -9], [10, 18], [-10, 18]].some(([right, down]) => {
        name.setAttribute("x", x(row.seconds) + right);
        name.setAttribute("y", y(row.value) + down);
        name.setAttribute("text-anchor", right > 0 ? "start" : "end");
        return inside(name.getBBox()) && taken.every((box) => apart(box, name.getBBox()));
      });
      if (placed) taken.push(name.getBBox());
      else name.remove();
    }
  };

  const against_time = (rows, width) => {
    const height = 340, left = 56, right = width - 16, top = 16, bottom = height - 44;
    const svg = drawn("svg", { width, height, role: "group", "aria-label": `${data.metrics[metric.value]} against seconds of training` });
    const times = rows.map((row) => row.seconds), values = rows.map((row) => row.value);
    const first = Math.floor(Math.log10(Math.min(...times) * .95)), last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...times) * 1.05)));
    const spread = Math.max(...values) - Math.min(...values) || .1;
    const low = Math.max(0, Math.min(...values) - .08 * spread), high = Math.max(...values) + .08 * spread;
    const x = (value) => left + (Math.log10(value) - first) / (last - first) * (right - left);
    const y = (value) => bottom - (value - low) / (high - low) * (bottom - top);
    for (const tick of ticks(low, high)) {
      svg.append(drawn("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), class: "grid" }));
      svg.append(drawn("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, tick));
    }
    for (let decade = first; decade <= last; decade += 1) {
      for (const times of last - first <= 2 && decade < last ? [1, 2, 5] : [1]) {
        const at = x(times * 10 ** decade);
        svg.append(drawn("line", { x1: at, x2: at, y1: top, y2: bottom, class: "grid" }));
        svg.append(drawn("text", { x: at, y: bottom + 18, "text-anchor": "middle" }, seconds(times * 10 ** decade)));
      }
    }
    svg.append(drawn("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, "seconds of training on one core (log)"));
    const sign = data.signs[+metric.value];
    const beaten = (row) => rows.some((other) => other.seconds <= row.seconds && sign * other.value >= sign * row.value && (other.seconds < row.seconds || other.value !== row.value));
    const front = rows.filter((row) => sign && row.role !== "oracle" && !beaten(row)).sort((a, b) => a.seconds - b.seconds);
    svg.append(drawn("path", { d: front.map((row, n) => n ? `H${x(row.seconds)}V${y(row.value)}` : `M${x(row.seconds)} ${y(row.value)}`).join(""), class: "front" }));
    for (const row of rows) svg.append(pointing(mark(row.method, x(row.seconds), y(row.value), 6), row, x(row.seconds), y(row.value)));
    chart.replaceChildren(svg); // a text has a size only on the page
    name_marks(svg, width > 480 ? front.reverse() : [], rows, x, y); // on a phone, names would overlap marks
    return svg;
  };

  const with_intervals = (rows, width) => {
    const sign = data.signs[+metric.value], step = 22, height = rows.length * step + 50, left = Math.min(230, width * .45), right = width - 20, bottom = height - 40;
    const svg = drawn("svg", { width, height, role: "group", "aria-label": `${data.metrics[metric.value]} with 95 % intervals, ${sign ? "best" : "largest"} first` });
    const ends = rows.flatMap((row) => [row.low ?? row.value, row.high ?? row.value]);
    const spread = Math.max(...ends) - Math.min(...ends) || .1, low = Math.max(0, Math.min(...ends) - .05 * spread), high = Math.max(...ends) + .02 * spread;
    const x = (value) => left + (value - low) / (high - low) * (right - left);
    for (const tick of ticks(low, high)) {
      svg.append(drawn("line", { x1: x(tick), x2: x(tick), y1: 4, y2: bottom, class: "grid" }));
      svg.append(drawn("text", { x: x(tick), y: bottom + 18, "text-anchor": "middle" }, tick));
    }
    [...rows].sort((a, b) => (sign || 1) * (b.value - a.value)).forEach((row, number) => {
      const y = 14 + number * step, fits = Math.floor((left - 12) / 7.2);
      const title = row.title.length > fits ? row.title.slice(0, fits - 1) + "…" : row.title;
      svg.append(drawn("text", { x: left - 12, y: y + 4, "text-anchor": "end", class: row.best ? "name" : "" }, title));
      if (row.low !== null) svg.append(drawn("line", { x1: x(row.low), x2: x(row.high), y1: y, y2: y, stroke: row.colour, class: "mark interval-line" }));
      svg.append(pointing(mark(row.method, x(row.value), y, 5), row, x(row.value), y));
    });
    svg.append(drawn("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, data.metrics[metric.value]));
    return svg;
  };

  const redraw = () => {
    const all = found(), by_time = view.value === "0";
    const possible = by_time ? all.filter((row) => row.seconds !== null) : all;
    const rows = possible.filter((row) => !hidden.has(row.method));
    const nothing = all.length ? (possible.length ? "All methods are hidden." : "No method was timed on this data.") : "This metric was not computed on this data.";
    chart.replaceChildren(rows.length ? (by_time ? against_time : with_intervals)(rows, chart.clientWidth) : element("p", {}, nothing));
    legend.replaceChildren(...possible.map((row) => {
      const button = element("button", { type: "button", "aria-pressed": !hidden.has(row.method) });
      const swatch = drawn("svg", { width: 14, height: 14, "aria-hidden": true });
      swatch.append(mark(row.method, 7, 7, 5.5));
      button.append(swatch, row.title);
      button.addEventListener("click", () => {
        if (!hidden.delete(row.method)) hidden.add(row.method);
        const number = [...legend.children].indexOf(button);
        redraw();
        keep();
        legend.children[number].focus();
      });
      return button;
    }));
    box.lastChild.textContent = by_time
      ? "The line joins the methods for which no other method is at least as accurate and also at least as fast. Controls, and methods that were not timed, are not shown. Point at a mark to see its numbers; click a name to hide its method."
      : `${tested ? "Bold: the best method, and those that are not significantly different from it. " : ""}Point at a mark to see its numbers; click a name to hide its method.`;
  };
  const choose_task = () => { metric.value = data.tasks[task.value].metric; redraw(); };
  // The address of the page contains what the reader has chosen, so a link to it shows the same chart.
  const VIEWS = ["time", "intervals"], CHART = "#chart?";
  const keep = () => {
    const state = new URLSearchParams({ data: data.tasks[task.value].id, metric: data.metrics[metric.value], view: VIEWS[view.value] });
    if (hidden.size) state.set("hidden", [...hidden].map((method) => data.methods[method].id).join(" "));
    history.replaceState(null, "", CHART + state);
  };
  const restore = () => {
    if (!location.hash.startsWith(CHART)) return;
    const state = new URLSearchParams(location.hash.slice(CHART.length));
    const select = (menu, number) => { if (number >= 0) menu.value = number; }; // a link of another run may name others
    select(task, data.tasks.findIndex(({ id }) => id === state.get("data")));
    select(metric, data.metrics.indexOf(state.get("metric")));
    select(view, VIEWS.indexOf(state.get("view")));
    hidden.clear();
    const names = (state.get("hidden") || "").split(" ");
    data.methods.forEach(({ id }, method) => { if (names.includes(id)) hidden.add(method); });
    redraw();
  };
  task.addEventListener("change", () => { choose_task(); keep(); });
  [metric, view].forEach((select) => select.addEventListener("change", () => { redraw(); keep(); }));
  const best_was_timed = () => found().every((row) => row.best !== 2 || row.seconds !== null);
  document.documentElement.classList.add("live");
  choose_task();
  // A chart against time would hide a best method that was not timed, such as a model that was trained elsewhere.
  if (!data.seconds.length || !best_was_timed()) {
    view.value = "1";
    redraw();
  }
  restore();
  addEventListener("hashchange", restore);
  let width = chart.clientWidth;
  new ResizeObserver(() => { if (chart.clientWidth !== width) { width = chart.clientWidth; redraw(); } }).observe(chart);
}
