// Who waits for whom, as a picture: a row for each lock that is in somebody's way and for each
// request that waits, in order of arrival, and beside the rows a line from each who waits to what it
// waits for.

import { attribute, fill, foreign, h, icon, keyed, svg } from "./dom.js";
import { spoken, t } from "./words.js";
import { chip, left, main, origin, since, span, who } from "./describe.js";

const atFirst = 60, further = 200;

export class Waits {
	// select is called with the key of an entry that is clicked.
	constructor({ select }) {
		this.select = select;
		this.most = atFirst;
		this.lines = svg("svg", { class: "wait-lines", "aria-hidden": "true", focusable: "false" });
		this.list = h("ol", { class: "wait-rows" });
		this.more = h("button", { type: "button", class: "more", onclick: () => { this.most += further; this.draw(); } });
		this.heading = h("h3");
		this.help = h("p", { class: "quiet" });
		this.picture = h("div", { class: "wait-picture" }, this.lines, this.list);
		this.element = h("section", { class: "waits", id: "waits", hidden: true }, this.heading, this.help, this.picture, this.more);
		new ResizeObserver(() => this.drawLines()).observe(this.list);
		for (const [name, key] of [["pointerover", true], ["focusin", true], ["pointerleave", false], ["focusout", false]]) {
			this.list.addEventListener(name, event => this.emphasise(key ? event.target.closest("li")?.itemKey : null));
		}
		this.selected = null;
	}

	reset() { this.most = atFirst; }

	set(snapshot) {
		this.snapshot = snapshot;
		this.draw();
	}

	mark(key) {
		this.selected = key;
		if (this.snapshot) this.draw();
	}

	draw() {
		const { causes, waiters } = this.snapshot.waits;
		this.element.hidden = waiters.length === 0;
		if (waiters.length === 0) {
			this.list.replaceChildren();
			this.lines.replaceChildren();
			return;
		}
		this.heading.textContent = t("waits.title");
		this.help.textContent = t("waits.help");
		// A cut never hides the causes: they are first.
		const rows = [...causes, ...waiters];
		const shown = rows.slice(0, Math.max(this.most, causes.length + 10));
		const position = new Map(waiters.map((entry, i) => [entry.key, i + 1]));
		keyed(this.list, shown, entry => entry.key, entry => this.make(entry), (row, entry) => this.row(row, entry, position.get(entry.key)));
		this.more.hidden = shown.length === rows.length;
		this.more.textContent = t("waits.more", { n: rows.length - shown.length });
		this.drawLines();
	}

	make(entry) {
		return h("li", { class: entry.fence ? "cause" : "waiter" },
			h("span", { class: "dot", "aria-hidden": "true" }),
			h("button", { type: "button", class: "wait-entry", onclick: event => this.select(event.currentTarget.parentElement.itemKey, event.currentTarget) }));
	}

	row(row, entry, position) {
		const { edges, blocks } = this.snapshot.waits;
		const behind = edges.get(entry.key);
		const button = row.lastElementChild;
		attribute(button, "aria-pressed", this.selected === entry.key ? "true" : "false");
		const first = behind.length > 0 && this.snapshot.entries.get(behind[0].key);
		const n = blocks.get(entry.key) ?? 0;
		fill(button, JSON.stringify([spoken(), entry, position, behind, first && who(first), n]), () => [
			h("span", { class: "line" },
				position && h("span", { class: "position" }, `${position}`),
				h("strong", { class: "who" }, foreign(who(entry))),
				chip(main(entry).mode, { waiting: !entry.fence }),
				entry.detached && h("span", { class: "tag", title: t("detached.help") }, t("detached")),
				h("span", { class: "origin" }, foreign(origin(entry)))),
			h("span", { class: "line second" },
				since(entry.since, entry.fence ? "since.held" : "since.waits"),
				left(entry.until, entry.fence ? "left.lease" : "left.waits"),
				h("span", { class: "claim" }, h("bdi", null, span(entry))),
				first && !entry.fence && h("span", { class: "behind" }, behind.length > 1
					? t("waits.behind.more", { who: who(first), n: behind.length - 1 }) : t("waits.behind", { who: who(first) })),
				n > 0 && h("span", { class: "blocks" }, icon("wait"), t("waits.blocks", { n }))),
		]);
	}

	// drawLines draws an arc for each edge between rows that are shown.
	drawLines() {
		const rows = new Map([...this.list.children].map(row => [row.itemKey, row]));
		const width = this.lines.clientWidth || 56;
		const height = this.list.offsetHeight;
		const x = width - 7;
		const middle = row => row.offsetTop + row.firstElementChild.offsetTop + row.firstElementChild.offsetHeight / 2;
		const drawn = [];
		for (const [key, row] of rows) {
			for (const edge of this.snapshot?.waits.edges.get(key) ?? []) {
				const other = rows.get(edge.key);
				if (!other) continue;
				// Lines that arrive at a row and that leave it do not touch.
				const up = middle(row) > middle(other) ? 1 : -1;
				const y1 = middle(row) - 4 * up, y2 = middle(other) + 4 * up;
				const bulge = Math.min((x - 4) / 0.75, 16 + Math.abs(y1 - y2) / 6); // a curve goes to 3/4 of it
				const held = this.snapshot.entries.get(edge.key)?.fence > 0;
				const kind = `edge ${edge.same ? "edge-same" : held ? "edge-held" : "edge-queued"}`;
				const path = svg("path", { class: kind, d: `M${x - 6} ${y1} C${x - bulge} ${y1} ${x - bulge} ${y2} ${x - 9} ${y2}` });
				const tip = svg("path", { class: `${kind} tip`, d: `M${x - 4} ${y2} l-7 -4 l1.5 4 l-1.5 4 Z` });
				path.dataset.from = tip.dataset.from = key;
				path.dataset.to = tip.dataset.to = edge.key;
				drawn.push(path, tip);
			}
		}
		this.lines.setAttribute("height", height);
		this.lines.replaceChildren(...drawn);
	}

	// emphasise shows what an entry waits for and who waits for it, and dims the rest.
	emphasise(key) {
		const { reach } = this.snapshot?.waits ?? {};
		const near = other => other === key || reach(key).has(other) || reach(other).has(key);
		this.picture.classList.toggle("emphasised", Boolean(key && reach));
		for (const row of this.list.children) row.classList.toggle("near", Boolean(key && near(row.itemKey)));
		for (const line of this.lines.children) line.classList.toggle("near", Boolean(key && near(line.dataset.from) && near(line.dataset.to)));
	}
}
