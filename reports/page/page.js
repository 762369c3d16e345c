// SPDX-License-Identifier: MIT
//
// What a page has besides where scripts may run: axes that switch between logarithmic and
// linear, and what is nearest to the pointer told at once. It draws from the attributes that
// plot.c leaves, in the same way. A page without it lacks no figure and no value.
"use strict";
(() => {

const WIDTH = 360, RIGHT = 12, LABELS = 6, NINES_MOST = 6;
// How near the pointer is to be, and how many letters there are in a line of what it tells.
const NEAR = 30, LETTERS = 44;
const SVG = "http://www.w3.org/2000/svg";

function make(space, name, attributes, text) {
	const made = space ? document.createElementNS(space, name) : document.createElement(name);
	for (const key in attributes)
		made.setAttribute(key, attributes[key]);
	if (text !== undefined)
		made.textContent = text;
	return made;
}

const pixels = value => value.toFixed(1);
const number = text => text === undefined ? NaN : Number(text);

// Axes, as axis.c has them.

function readAxis(panel, name) {
	const group = panel.querySelector(`[data-axis=${name}]`);
	const [grid, labels, title] = group.children;
	const axis = {
		name, group, labels, grid,
		title: title.textContent,
		isSizes: "sizes" in group.dataset,
		isFixed: "counted" in group.dataset || group.dataset.scale === "nines" ||
			(name === "y" && panel.dataset.mark === "intervals"),
		drawn: {grid: grid.getAttribute("d"), labels: [...labels.children]},
	};
	for (const key of ["unit", "least", "most", "from", "to"])
		axis[key] = number(group.dataset[key]);
	axis.scale = group.dataset.scale;
	axis.own = {scale: axis.scale, least: axis.least, most: axis.most};
	return axis;
}

function bend(axis, value) {
	if (axis.scale === "log")
		return Math.log10(value);
	if (axis.scale === "nines")
		return value < 1 ? Math.min(-Math.log10(1 - value), NINES_MOST) : NINES_MOST;
	return value;
}

function at(axis, value) {
	const inside = Math.min(Math.max(value, axis.least), axis.most);
	const first = bend(axis, axis.least), last = bend(axis, axis.most);
	const part = last > first ? (bend(axis, inside) - first) / (last - first) : 0;
	return axis.from + part * (axis.to - axis.from);
}

function roundWith(value, choose) {
	const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
	return choose(value / power) * power;
}

const roundDown = value => roundWith(value, lead => lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
const roundUp = value => roundWith(value,
	lead => lead > 5 ? 10 : lead > 2 ? 5 : lead > 1 ? 2 : 1);

function label(axis, value) {
	if (axis.isSizes) {
		let letter = "";
		for (const next of "kmg") {
			if (value < 1024 || value % 1024)
				break;
			value /= 1024;
			letter = next;
		}
		return value + letter;
	}
	value /= axis.unit;
	for (const [letter, unit] of [["T", 1e12], ["G", 1e9], ["M", 1e6]])
		if (value >= unit * (1 - 1e-9))
			return Number((value / unit).toPrecision(6)) + letter;
	if (value >= 1e4 * (1 - 1e-9))
		return Number((value / 1e3).toPrecision(6)) + "k";
	return String(Number(value.toPrecision(6)));
}

function linearTicks(axis) {
	const span = (axis.most - axis.least) / axis.unit / LABELS;
	const step = axis.isSizes ? 2 ** Math.ceil(Math.log2(span)) : roundUp(span) * axis.unit;
	const ticks = [];
	for (let i = 0; axis.least + i * step <= axis.most * (1 + 1e-9); i++)
		ticks.push(axis.least + i * step);
	return ticks;
}

function logTicks(axis) {
	const decades = Math.log10(axis.most / axis.least);
	// So narrow that hardly a round number lies within: there it is nearly linear.
	if (decades < 0.3)
		return linearTicks(axis);
	const leads = decades > 2.2 ? [1] : decades > 0.5 ? [1, 2, 5]
		: [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
	const step = decades > 2.2 ? Math.ceil(decades / LABELS) : 1;
	const ticks = [];
	let power = Math.floor(Math.log10(axis.least / axis.unit) + 1e-9);
	for (; 10 ** power * axis.unit <= axis.most * 1.001; power += step)
		for (const lead of leads) {
			const value = lead * 10 ** power * axis.unit;
			if (value >= axis.least * 0.999 && value <= axis.most * 1.001)
				ticks.push(value);
		}
	return ticks;
}

function drawAxis(axis, across) {
	const top = Math.min(across.from, across.to), bottom = Math.max(across.from, across.to);
	for (const key of ["scale", "least", "most"])
		axis.group.dataset[key] = axis[key];
	if (axis.scale === axis.own.scale) {
		axis.grid.setAttribute("d", axis.drawn.grid);
		axis.labels.replaceChildren(...axis.drawn.labels);
		return;
	}
	const ticks = axis.scale === "log" ? logTicks(axis) : linearTicks(axis);
	const lines = [], texts = [];
	for (const tick of ticks) {
		const place = at(axis, tick), text = label(axis, tick);
		if (axis.name === "y") {
			lines.push(`M${pixels(across.from - 4)} ${pixels(place)}H${pixels(across.to)}`);
			texts.push(make(SVG, "text", {x: across.from - 6, y: pixels(place + 3.5)}, text));
			continue;
		}
		const isLast = place > axis.to - RIGHT && text.length > 3;
		lines.push(`M${pixels(place)} ${pixels(bottom + 4)}V${pixels(top)}`);
		texts.push(make(SVG, "text", {
			x: isLast ? WIDTH - 2 : pixels(place), y: bottom + 15,
			"text-anchor": isLast ? "end" : "middle",
		}, text));
	}
	axis.grid.setAttribute("d", lines.join(""));
	axis.labels.replaceChildren(...texts);
}

// The least that a logarithmic axis could show; none: it cannot be one.
function leastPositive(panel, name) {
	// What low and high are along is y where there are lines, and else x.
	const keys = (name === "y") === (panel.mark === "lines") ? [name, "low", "high"] : [name];
	const values = panel.series.flatMap(series =>
		series.points.flatMap(point => keys.map(key => point[key])));
	return Math.min(...values.filter(value => value > 0));
}

function rescale(panel, name, scale) {
	const axis = panel[name], own = axis.own;
	axis.scale = scale;
	axis.least = own.least;
	axis.most = own.most;
	if (scale === own.scale)
		return;
	// A column as low as the axis begins would be none.
	const lowest = leastPositive(panel, name) / (panel.mark === "bars" && name === "y" ? 2 : 1);
	axis.least = scale === "linear" ? 0
		: own.least > 0 ? own.least
		: roundDown(lowest / axis.unit) * axis.unit;
	if (axis.least >= axis.most)
		axis.least = axis.most / 10;
}

// Panels, as plot.c has them.

function readPanel(svg) {
	const panel = {svg, mark: svg.dataset.mark, x: readAxis(svg, "x"), y: readAxis(svg, "y")};
	panel.level = svg.querySelector("[data-level]");
	panel.series = [...svg.querySelectorAll("[data-series]")].map(group => ({
		group,
		bands: [...group.querySelectorAll("path[fill-opacity]")],
		line: group.querySelector("path[stroke-dasharray]"),
		spans: [...group.querySelectorAll("path[stroke-width='2']")],
		points: [...group.querySelectorAll("[data-case]")].map(path => ({
			path,
			marker: path.getAttribute("d").replace(/^[^a-z]*/, ""),
			x: number(path.dataset.x), y: number(path.dataset.y),
			low: number(path.dataset.low), high: number(path.dataset.high),
		})),
	}));
	return panel;
}

// Where the letters are, there are the vertices: of a line one for each point.
const letters = path => path.getAttribute("d").match(/[ML]/g);

function drawLine(panel, series) {
	const place = (point, value) => `${pixels(at(panel.x, point.x))} ${pixels(at(panel.y, value))}`;
	let first = 0;
	for (const band of series.bands) {
		const points = series.points.slice(first, first += letters(band).length / 2);
		const edges = points.map(point => place(point, isNaN(point.high) ? point.y : point.high));
		points.reverse();
		edges.push(...points.map(point => place(point, isNaN(point.low) ? point.y : point.low)));
		band.setAttribute("d", `M${edges.join("L")}z`);
	}
	series.line.setAttribute("d", letters(series.line).map(
		(letter, i) => letter + place(series.points[i], series.points[i].y)).join(""));
}

function drawBars(panel, series) {
	const {x, y} = panel, bottom = pixels(y.from);
	for (const point of series.points)
		point.path.setAttribute("d", `M${pixels(at(x, point.low))} ${bottom}V${pixels(
			at(y, point.y))}H${pixels(at(x, point.high))}V${bottom}z`);
}

function drawSpans(panel, series) {
	series.points.filter(point => !isNaN(point.low)).forEach((point, i) => {
		series.spans[i].setAttribute("d", `M${pixels(at(panel.x, point.low))} ${pixels(
			at(panel.y, point.y) - 4)}v8m0-4H${pixels(at(panel.x, point.high))}m0-4v8`);
	});
}

function drawLevel(panel) {
	const {x, y, mark, level} = panel, value = number(level.dataset.value);
	const [line, name] = level.children;
	const place = at(mark === "intervals" ? x : y, value);
	if (mark === "intervals")
		line.setAttribute("d", `M${pixels(place)} ${pixels(y.from)}V${pixels(y.to)}`);
	else
		line.setAttribute("d", `M${pixels(x.from)} ${pixels(place)}H${pixels(x.to)}`);
	if (name)
		name.setAttribute("y", pixels(place + 11));
}

function draw(panel) {
	const {x, y, mark} = panel;
	drawAxis(x, y);
	if (mark !== "intervals")
		drawAxis(y, x);
	if (panel.level)
		drawLevel(panel);
	for (const series of panel.series) {
		({lines: drawLine, bars: drawBars, intervals: drawSpans})[mark](panel, series);
		for (const point of mark === "bars" ? [] : series.points)
			point.path.setAttribute("d",
				`M${pixels(at(x, point.x))} ${pixels(at(y, point.y))}${point.marker}`);
	}
}

// The values of what is nearest to the pointer, where there is room for them.

function nearest(panel, event) {
	const box = panel.svg.getBoundingClientRect();
	const scale = WIDTH / box.width;
	const left = (event.clientX - box.left) * scale, top = (event.clientY - box.top) * scale;
	let found = {distance: NEAR, top};
	for (const series of panel.series) {
		if (getComputedStyle(series.group).display === "none")
			continue;
		for (const point of series.points) {
			const isBar = panel.mark === "bars";
			const x = isBar ? (at(panel.x, point.low) + at(panel.x, point.high)) / 2
				: at(panel.x, point.x);
			const y = at(panel.y, point.y);
			const distance = Math.hypot(left - x, isBar ? 0 : top - y);
			if (distance < found.distance)
				found = {distance, top, point, x, y};
		}
	}
	return found;
}

function fold(text) {
	const lines = [""];
	for (const word of text.split(" ")) {
		if (lines.at(-1) && lines.at(-1).length + word.length >= LETTERS)
			lines.push("");
		lines.push(`${lines.pop()} ${word}`.trim());
	}
	return lines;
}

function tell(panel, found) {
	const readout = make(SVG, "g", {"data-readout": "", "pointer-events": "none"});
	const lines = fold(found.point.path.textContent);
	const {x, y, svg} = panel;
	const height = 14 * lines.length + 6;
	const isUpper = found.y < (y.from + y.to) / 2;
	const top = Math.max(y.from, y.to) - height - 2, begin = Math.min(y.from, y.to) + 2;
	readout.append(make(SVG, "circle", {
		cx: pixels(found.x), cy: pixels(found.y), r: 6, fill: "none", stroke: "currentColor",
	}), make(SVG, "rect", {
		x: x.from, y: isUpper ? top : begin, width: x.to - x.from, height,
		fill: "Canvas", stroke: "currentColor",
	}));
	lines.forEach((line, i) => readout.append(make(SVG, "text", {
		x: x.from + 6, y: (isUpper ? top : begin) + 14 * (i + 1),
	}, line)));
	svg.append(readout);
	panel.readout = readout;
}

function watch(panel) {
	const point = event => {
		const found = nearest(panel, event);
		panel.readout?.remove();
		if (found.point)
			tell(panel, found);
	};
	panel.svg.addEventListener("pointermove", point);
	panel.svg.addEventListener("pointerdown", point);
	// A finger that is lifted leaves what it has found.
	panel.svg.addEventListener("pointerleave", event => {
		if (event.pointerType === "mouse")
			panel.readout?.remove();
	});
}

// What switches axes: below the series that can be hidden, if there are any.

function findDetails(figure, panels) {
	const found = [...figure.querySelectorAll("details")].find(
		details => details.querySelector("[role=radiogroup]"));
	if (found) {
		found.querySelector("summary").textContent = "Series and axes";
		return found;
	}
	const made = make("", "details", {});
	made.append(make("", "summary", {}, "Axes"));
	panels[0].svg.parentNode.before(made);
	return made;
}

let names = 0;

function addSwitch(details, panels, axis) {
	const name = `axis${names++}`;
	const row = make("", "div", {role: "radiogroup", "aria-label": `axis of ${axis.title}`});
	for (const scale of ["log", "linear"]) {
		const choice = make("", "label", {});
		const input = make("", "input", {type: "radio", name, autocomplete: "off"});
		input.checked = scale === axis.scale;
		input.addEventListener("change", () => panels.forEach(panel => {
			rescale(panel, axis.name, scale);
			panel.readout?.remove();
			draw(panel);
		}));
		choice.append(input, ` ${scale}`);
		row.append(choice, " ");
	}
	row.append(make("", "b", {}, axis.title));
	details.append(row);
}

for (const figure of document.querySelectorAll("[data-figure]")) {
	const panels = [...figure.querySelectorAll("svg")].map(readPanel);
	const axes = ["y", "x"].filter(name => panels.every(
		panel => !panel[name].isFixed && isFinite(leastPositive(panel, name))));
	panels.forEach(watch);
	if (!axes.length)
		continue;
	const details = findDetails(figure, panels);
	for (const name of axes)
		addSwitch(details, panels, panels[0][name]);
}

})();
