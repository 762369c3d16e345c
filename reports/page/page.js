// SPDX-License-Identifier: MIT
//
// What a page does where scripts may run: the values of the point nearest to the pointer, series
// that a click hides, one scale for all figures, figures in the size of the window, and tables to
// sort, filter and copy. All of it is in the page already (svg_panel.h has both scales); this
// script shows, hides and moves. Large heat maps (reports/fleet/page/heatmap.h) show the values of
// a cell only here.
"use strict";
(() => {

// Panel width and maximum pointer distance in pixels, and characters per line of the readout.
const WIDTH = 360, NEAR = 30, LETTERS = 44;

function make(name, attributes, text) {
	const made = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const key in attributes)
		made.setAttribute(key, attributes[key]);
	if (text !== undefined)
		made.textContent = text;
	return made;
}

// Swaps the two pairs of axes.
function exchange(svg) {
	for (const path of svg.querySelectorAll("[data-d]")) {
		const [, place, shape] = path.getAttribute("d").match(/^([^a-z]*)(.*)$/);
		path.setAttribute("d", path.dataset.d + shape);
		path.dataset.d = place;
	}
	for (const group of svg.querySelectorAll("[data-either]"))
		if (group.getAttribute("display"))
			group.removeAttribute("display");
		else
			group.setAttribute("display", "none");
	hide(svg);
}

const hide = svg => svg.querySelector("[data-readout]")?.remove();

function nearest(svg, event) {
	const box = svg.getBoundingClientRect();
	const scale = WIDTH / box.width;
	const left = (event.clientX - box.left) * scale, top = (event.clientY - box.top) * scale;
	const isBar = svg.dataset.mark === "bars";
	let found = {distance: NEAR};
	for (const series of svg.querySelectorAll("[data-series]")) {
		if (getComputedStyle(series).display === "none")
			continue;
		for (const point of series.querySelectorAll("[data-case]")) {
			const drawn = point.getBBox();
			const x = drawn.x + drawn.width / 2;
			const y = drawn.y + (isBar ? 0 : drawn.height / 2);
			const distance = Math.hypot(left - x, isBar ? 0 : top - y);
			if (distance < found.distance)
				found = {distance, point, x, y};
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

// Shows the readout in the half of the panel that does not have the point.
function show(svg, found) {
	const ends = name => ["from", "to"].map(
		end => Number(svg.querySelector(`[data-axis=${name}]`).dataset[end])).sort((a, b) => a - b);
	const [left, right] = ends("x"), [top, bottom] = ends("y");
	const lines = fold(found.point.textContent);
	const height = 14 * lines.length + 6;
	const begin = found.y < (top + bottom) / 2 ? bottom - height - 2 : top + 2;
	const readout = make("g", {"data-readout": "", "pointer-events": "none"});
	readout.append(make("circle", {
		cx: found.x, cy: found.y, r: 6, fill: "none", stroke: "currentColor",
	}), make("rect", {
		x: left, y: begin, width: right - left, height, fill: "Canvas", stroke: "currentColor",
	}));
	lines.forEach((line, i) => readout.append(
		make("text", {x: left + 6, y: begin + 14 * (i + 1)}, line)));
	svg.append(readout);
}

function watch(svg) {
	const point = event => {
		const found = nearest(svg, event);
		hide(svg);
		if (found.point)
			show(svg, found);
	};
	svg.addEventListener("pointermove", point);
	svg.addEventListener("pointerdown", point);
	// On touch screens, the readout stays when the finger is lifted.
	svg.addEventListener("pointerleave", event => event.pointerType === "mouse" && hide(svg));
}

// Hides or shows a series in all panels of a figure, one of which may be in a dialog.
function toggle(panels, name, isShown) {
	for (const svg of panels) {
		for (const legend of svg.querySelectorAll("[data-label]"))
			if (legend.dataset.label === name)
				legend.setAttribute("aria-pressed", isShown);
		for (const series of svg.querySelectorAll("[data-series]"))
			if (series.dataset.series === name)
				if (isShown)
					series.removeAttribute("display");
				else
					series.setAttribute("display", "none");
		hide(svg);
	}
}

// Makes the names in the legend buttons, unless there is only one: hiding it would leave nothing.
function watchLegends(panels) {
	const legends = panels.flatMap(svg => [...svg.querySelectorAll("[data-label]")]);
	if (new Set(legends.map(one => one.dataset.label)).size < 2)
		return;
	for (const legend of legends) {
		const name = legend.dataset.label;
		// The content of an image has no buttons.
		legend.closest("svg").setAttribute("role", "group");
		for (const [key, value] of [["role", "button"], ["tabindex", 0], ["aria-pressed", true],
			["aria-label", `show ${name}`]])
			legend.setAttribute(key, value);
		const press = () => toggle(
			panels, name, legend.getAttribute("aria-pressed") === "false");
		legend.addEventListener("click", press);
		legend.addEventListener("keydown", event => {
			if (event.key === "Enter" || event.key === " ") {
				event.preventDefault();
				press();
			}
		});
	}
}

function button(text, pressed) {
	const made = document.createElement("button");
	made.type = "button";
	made.textContent = text;
	made.addEventListener("click", pressed);
	return made;
}

// Shows one panel in a dialog, where it is as large as the window allows.
function enlarge(svg, place) {
	const dialog = document.createElement("dialog");
	dialog.setAttribute("aria-label", svg.querySelector("title").textContent);
	dialog.append(svg, button("Close", () => dialog.close()));
	dialog.addEventListener("close", () => {
		place.prepend(svg);
		dialog.remove();
	});
	document.body.append(dialog);
	dialog.showModal();
}

for (const figure of document.querySelectorAll("[data-figure]")) {
	const panels = [...figure.querySelectorAll("svg")];
	for (const svg of panels) {
		watch(svg);
		const place = svg.parentElement;
		const larger = button("Enlarge", () => enlarge(svg, place));
		larger.setAttribute("aria-label", `Enlarge ${svg.querySelector("title").textContent}`);
		place.append(larger);
	}
	watchLegends(panels);
}

// Gives all figures the same scale, where they have it; "": the one that they were drawn with.
const scaleOf = svg => svg.querySelector("[data-axis][data-either]:not([display])").dataset.scale;
const scaled = [...document.querySelectorAll("svg")].filter(
	svg => svg.querySelector("[data-axis][data-either]"));
for (const svg of scaled)
	svg.dataset.drawn = scaleOf(svg);
const scales = document.querySelector("[data-scales]");
scales.hidden = !scaled.length;
scales.addEventListener("change", event => {
	for (const svg of scaled) {
		const wanted = event.target.value || svg.dataset.drawn;
		if (scaleOf(svg) !== wanted && svg.querySelector(
			`[data-axis][data-either][display][data-scale="${wanted}"]`))
			exchange(svg);
	}
});

// Unfolds what a link of the contents leads to, where browsers do not.
document.querySelector("nav")?.addEventListener("click", event => {
	const chosen = event.target.hash && document.querySelector(event.target.hash);
	for (let up = chosen; up = up?.parentElement?.closest("details");)
		up.open = true;
});

// The value of a cell, as a number if it begins with one: "4k", "0.86 (0.85 to 0.87)", "97.5 %".
function valueOf(cell) {
	const [, digits, letter = ""] =
		cell.textContent.match(/^(-?[\d.]+(?:e[-+]?\d+)?)([kmgMG](?!\w))?/) || [];
	return digits === undefined ? NaN : digits * 1024 ** " kmg".indexOf(letter.toLowerCase() || " ");
}

function sortBy(table, column, isUp) {
	const body = table.tBodies[0], key = row => row.cells[column];
	// Cells without a value are last either way.
	const compare = (one, other) => {
		const [a, b] = [valueOf(one), valueOf(other)], sign = isUp ? 1 : -1;
		if (isNaN(a) !== isNaN(b))
			return isNaN(a) - isNaN(b);
		return sign * (isNaN(a) ? one.textContent.localeCompare(
			other.textContent, undefined, {numeric: true}) : a - b);
	};
	const rows = [...body.rows].sort((one, other) => compare(key(one), key(other)));
	body.append(...rows);
	for (const head of table.tHead.rows[0].cells)
		head.removeAttribute("aria-sort");
	table.tHead.rows[0].cells[column].setAttribute("aria-sort", isUp ? "ascending" : "descending");
}

function csvOf(table) {
	const quote = text => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
	return [...table.rows].filter(row => !row.hidden).map(
		row => [...row.cells].map(cell => quote(cell.textContent)).join()).join("\n") + "\n";
}

// Tables can be sorted by a column, filtered by a word, and copied.
function equip(box) {
	const table = box.querySelector("table"), tools = document.createElement("div");
	const rows = [...table.tBodies[0].rows];
	if (rows.length < 2)
		return;
	[...table.tHead.rows[0].cells].forEach((head, column) => head.replaceChildren(
		button(head.textContent, () =>
			sortBy(table, column, head.getAttribute("aria-sort") !== "ascending"))));
	tools.className = "tools";
	if (rows.length > 8) {
		const filter = document.createElement("input");
		filter.type = "search";
		filter.placeholder = filter.ariaLabel = "Filter rows";
		filter.addEventListener("input", () => {
			const words = filter.value.toLowerCase().split(" ");
			for (const row of rows)
				row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
		});
		tools.append(filter);
	}
	if (navigator.clipboard) {
		const copy = button("Copy as CSV", () => navigator.clipboard.writeText(csvOf(table)).then(
			() => copy.textContent = "Copied", () => copy.textContent = "Cannot copy"));
		tools.append(copy);
	}
	box.before(tools);
}

document.querySelectorAll(".table").forEach(equip);

// Values of base64 digits, by their character code.
const VALUES = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].forEach(
	(digit, i) => VALUES[digit.charCodeAt()] = i);
const ZERO = 16382;
// In the order of the bits in enum fleet_fault.
const FAULTS = ["failed", "below the floor", "outlier", "error counters rose"];

// Decodes the cells of a heat map, see reports/fleet/page/packed.h.
function unpack(text, size) {
	const cells = new Uint32Array(size);
	for (let i = 0, at = 0; i < text.length; i += 3) {
		const isRun = text[i] === "~";
		i += isRun;
		const digit = k => VALUES[text.charCodeAt(i + k)];
		const value = digit(0) << 12 | digit(1) << 6 | digit(2);
		if (isRun)
			at += value;
		else
			cells[at++] = value;
	}
	return cells;
}

// Describes the figure from one node to another; empty if it was not measured.
function describe(map, fleet, cell, from, to) {
	const {low, step, unit, within, between, self, latency, errors} = map.dataset;
	const faults = FAULTS.filter((_, i) => cell >> 14 + i & 1), code = (cell & 16383) - 1;
	let text = `${fleet.nodes[from]} to ${fleet.nodes[to]}: `;
	if (code < 0)
		return "";
	if (cell >> 14 & 1)
		return text + ["failed", errors.split("\n")[code]].filter(Boolean).join(": ");
	const value = code === ZERO ? 0 : low * Math.exp(code * step);
	const [one, other] = [fleet.groups[from], fleet.groups[to]];
	const median = Number(from) === Number(to) ? self
		: one && other && one !== other ? between : within;
	text += `${Number(value.toPrecision(4))} ${unit}`;
	const share = latency === undefined ? value / median : median / value;
	if (Number.isFinite(share))
		text += `, ${(100 * share).toFixed(1)} % of the median`;
	return [text, ...faults].join(", ");
}

// Shows the figure of the cell below the pointer, next to it.
function watchMap(map, fleet, svg, tip) {
	const {left, cell} = svg.dataset, order = svg.dataset.order.split(" ");
	const count = order.length;
	const point = event => {
		const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(
			svg.getScreenCTM().inverse());
		const column = Math.floor((at.x - left) / cell), row = Math.floor((at.y - left) / cell);
		const isInside = Math.min(row, column) >= 0 && Math.max(row, column) < count;
		const from = order[row], to = order[column];
		map.cells = map.cells || unpack(map.dataset.cells, count * count);
		tip.textContent = isInside
			? describe(map, fleet, map.cells[from * count + Number(to)], from, to) : "";
		tip.hidden = !tip.textContent;
		const isRight = event.clientX > innerWidth / 2;
		tip.style.left = isRight ? "auto" : `${event.clientX + 14}px`;
		tip.style.right = isRight ? `${innerWidth - event.clientX + 14}px` : "auto";
		tip.style.top = `${event.clientY + 14}px`;
	};
	// The readout replaces the titles of the cells.
	svg.querySelectorAll("path > title").forEach(title => title.remove());
	svg.addEventListener("pointermove", point);
	svg.addEventListener("pointerdown", point);
	svg.addEventListener("pointerleave", () => tip.hidden = true);
}

for (const section of document.querySelectorAll("[data-nodes]")) {
	const fleet = {
		nodes: section.dataset.nodes.split("\n"), groups: section.dataset.groups.split("\n"),
	};
	const tip = document.createElement("output"), sort = section.querySelector("[data-sort]");
	Object.assign(tip.style, {position: "fixed", padding: "2px 6px", border: "1px solid",
		background: "Canvas", pointerEvents: "none"});
	tip.hidden = true;
	section.append(tip);
	for (const map of section.querySelectorAll("[data-heatmap]"))
		map.querySelectorAll("svg").forEach(svg => watchMap(map, fleet, svg, tip));
	if (!sort)
		continue;
	sort.closest("[hidden]").hidden = false;
	sort.addEventListener("change", () => {
		for (const svg of section.querySelectorAll("[data-by]"))
			if (svg.dataset.by === sort.value)
				svg.removeAttribute("display");
			else
				svg.setAttribute("display", "none");
	});
}

})();
