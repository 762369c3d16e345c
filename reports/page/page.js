// SPDX-License-Identifier: MIT
//
// Interaction where scripts may run: each figure can switch one axis between logarithmic and
// linear, and shows the values of the point nearest to the pointer. Everything is in the page
// already (see svg_panel.h); this script only shows, hides and swaps. Without it no figure and no
// value is missing.
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

for (const figure of document.querySelectorAll("[data-figure]")) {
	const panels = figure.querySelectorAll("svg");
	panels.forEach(watch);
	figure.querySelectorAll("[hidden]").forEach(one => one.hidden = false);
	figure.querySelector("[data-switch]")?.addEventListener(
		"change", () => panels.forEach(exchange));
}

})();
