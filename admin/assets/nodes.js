// The lock tree: the locked nodes and those above them, as a treegrid. It may have thousands of rows,
// of which those in the window are drawn.

import { attribute, fill, foreign, h, icon, keyed } from "./dom.js";
import { shown, spoken, t } from "./words.js";
import { chip, left, origin, since, who } from "./describe.js";
import { strength } from "./snapshot.js";

// A tree with more locks than this begins closed, but for where somebody waits.
const many = 80;
const overscan = 12;

export class Nodes {
	// select is called with the key of the entry that is chosen.
	constructor({ select }) {
		this.select = select;
		this.open = new Map(); // by path: whether the user, or a waiter there, has it open
		this.all = null; // all open or all closed, by the buttons
		this.active = null; // the key of the row that has, or would get, the focus
		this.selected = null;
		this.heading = h("h3", { id: "nodes-title" });
		this.help = h("p", { class: "sr", id: "nodes-help" });
		this.filter = h("input", { type: "search", id: "nodes-filter", autocomplete: "off", spellcheck: "false", oninput: () => this.draw() });
		this.expand = h("button", { type: "button", onclick: () => this.openAll(true) });
		this.collapse = h("button", { type: "button", onclick: () => this.openAll(false) });
		this.head = h("div", { role: "row", class: "node-head" });
		this.body = h("div", { role: "rowgroup", class: "node-rows" });
		this.grid = h("div", { role: "treegrid", class: "node-grid", "aria-labelledby": "nodes-title", "aria-describedby": "nodes-help" },
			h("div", { role: "rowgroup" }, this.head), this.body);
		this.empty = h("p", { class: "quiet" });
		this.element = h("section", { class: "nodes", id: "nodes" },
			h("div", { class: "section-head" }, this.heading, this.filter, h("div", { class: "buttons" }, this.expand, this.collapse)),
			this.help, this.grid, this.empty);
		this.grid.addEventListener("keydown", event => this.key(event));
		this.body.addEventListener("click", event => this.click(event));
		this.body.addEventListener("focusin", event => { this.active = event.target.closest("[role=row]")?.itemKey ?? this.active; });
		addEventListener("scroll", () => this.window(), { passive: true });
		addEventListener("resize", () => this.window(), { passive: true });
	}

	reset() {
		this.open.clear();
		this.all = null;
		this.big = null;
		this.active = null;
		this.filter.value = "";
	}

	set(snapshot) {
		this.snapshot = snapshot;
		this.big ??= snapshot.root.held + snapshot.root.waiting > many;
		this.draw();
	}

	mark(key) {
		this.selected = key;
		if (this.snapshot) this.window();
	}

	openAll(open) {
		this.all = open;
		this.open.clear();
		this.draw();
	}

	// isOpen says whether the children of a node are shown. A node that was opened for a waiter stays
	// open, so that nothing closes beneath the reader's eyes.
	isOpen(node) {
		const chosen = this.open.get(node.path);
		if (chosen !== undefined) return chosen;
		if (node.path === "/") return true;
		if (this.all !== null) return this.all;
		if (!this.big) return true;
		if (node.waiting === 0) return false;
		this.open.set(node.path, true);
		return true;
	}

	draw() {
		this.heading.textContent = t("nodes.title");
		this.help.textContent = t("nodes.help");
		this.expand.textContent = t("nodes.expand");
		this.collapse.textContent = t("nodes.collapse");
		attribute(this.filter, "aria-label", t("nodes.filter"));
		attribute(this.filter, "placeholder", t("nodes.filter.short"));
		attribute(this.filter, "title", t("nodes.filter"));
		fill(this.head, spoken(), () => ["node", "mode", "who", "for", "left"].map(name => h("span", { role: "columnheader", class: `cell cell-${name}` }, t(`col.${name}`))));
		const wanted = this.filter.value.trim().toLowerCase();
		this.rows = [];
		const root = this.snapshot.root;
		if (root.held + root.waiting > 0) this.flatten(root, 1, 1, 1, wanted);
		if (wanted && this.rows.length === 1 && root.locks.every(lock => !matches(lock, wanted))) this.rows = [];
		this.index = new Map(this.rows.map((row, i) => [row.key, i]));
		if (!this.index.has(this.active)) this.active = this.rows[0]?.key ?? null;
		attribute(this.grid, "aria-rowcount", this.rows.length + 1);
		this.grid.hidden = this.rows.length === 0;
		this.empty.textContent = root.held + root.waiting === 0 ? t("tree.free") : this.rows.length === 0 ? t("nodes.nomatch") : "";
		for (const control of [this.filter, this.expand, this.collapse]) control.hidden = root.held + root.waiting === 0;
		this.window();
	}

	// flatten makes rows of a node and of what is open beneath it. A chain of nodes without locks is
	// one row.
	flatten(node, level, position, size, wanted) {
		let name = node.name;
		while (level > 1 && node.locks.length === 0 && node.sorted.length === 1) {
			node = node.sorted[0];
			name += " / " + node.name;
		}
		const locks = wanted ? node.locks.filter(lock => matches(lock, wanted)) : node.locks;
		const children = wanted ? node.sorted.filter(child => within(child, wanted)) : node.sorted;
		const single = locks.length === 1 ? locks[0] : null;
		const opens = children.length > 0 || locks.length > 1;
		const open = opens && (wanted !== "" || this.isOpen(node));
		this.rows.push({ key: "n:" + node.path, level, position, size, node, name, lock: single, locks, opens, open });
		if (!open) return;
		const beneath = (single ? 0 : locks.length) + children.length;
		let at = 0;
		if (!single) for (const lock of locks) {
			this.rows.push({ key: `l:${node.path}\n${lock.entry.key}`, level: level + 1, position: ++at, size: beneath, node, lock, opens: false, open: false });
		}
		for (const child of children) this.flatten(child, level + 1, ++at, beneath, wanted);
	}

	// window draws the rows that are in the window, and the active one, which may have the focus.
	window() {
		if (!this.rows || this.element.closest("[hidden]")) return;
		const height = parseFloat(getComputedStyle(this.grid).getPropertyValue("--row")) || 34;
		this.body.style.height = `${this.rows.length * height}px`;
		const top = this.body.getBoundingClientRect().top;
		const from = Math.max(0, Math.floor(-top / height) - overscan);
		const to = Math.min(this.rows.length, Math.ceil((innerHeight - top) / height) + overscan);
		const shown = this.rows.slice(from, Math.max(from, to));
		const active = this.index.get(this.active);
		if (active !== undefined && active < from) shown.unshift(this.rows[active]);
		if (active !== undefined && active >= Math.max(from, to)) shown.push(this.rows[active]);
		keyed(this.body, shown, row => row.key, () => h("div", { role: "row", class: "node-row" }), (element, row) => this.row(element, row, height));
	}

	row(element, row, height) {
		const index = this.index.get(row.key);
		element.style.top = `${index * height}px`;
		element.style.setProperty("--level", row.level - 1);
		attribute(element, "aria-rowindex", index + 2);
		attribute(element, "aria-level", row.level);
		attribute(element, "aria-posinset", row.position);
		attribute(element, "aria-setsize", row.size);
		attribute(element, "aria-expanded", row.opens ? String(row.open) : null);
		attribute(element, "tabindex", row.key === this.active ? "0" : "-1");
		attribute(element, "aria-selected", row.lock ? String(row.lock.entry.key === this.selected) : null);
		element.classList.toggle("waiting", Boolean(row.lock?.waiting));
		const { node, lock } = row;
		const entry = lock?.entry;
		const modes = [...node.modes].sort((a, b) => strength[b[0]] - strength[a[0]]);
		fill(element, JSON.stringify([spoken(), row.opens, row.open, row.name, entry, lock?.mode, node.held, node.waiting, row.open ? 0 : modes, row.locks?.length]), () => [
			h("span", { role: "gridcell", class: "cell cell-node" },
				h("span", { class: "twisty", "aria-hidden": "true" }, row.opens && icon("chevron")),
				row.name === undefined ? h("span", { class: "name quiet" }, icon(lock.waiting ? "wait" : "lock"))
					: h("span", { class: "name", title: shown(node.path) }, node.path === "/" ? t("nodes.root") : foreign(row.name))),
			h("span", { role: "gridcell", class: "cell cell-mode" },
				lock && chip(lock.mode, { waiting: lock.waiting }),
				entry?.detached && h("span", { class: "tag", title: t("detached.help") }, t("detached")),
				!lock && row.opens && !row.open && modes.map(([mode, n]) => chip(mode, { n })),
				!row.open && row.opens && node.waiting > 0 && !lock?.waiting && h("span", { class: "chip chip-waiting" }, icon("wait"), String(node.waiting), h("span", { class: "sr" }, t("trees.waiting", { n: node.waiting })))),
			h("span", { role: "gridcell", class: "cell cell-who" }, entry
				? [h("strong", { class: "who" }, foreign(who(entry))), h("span", { class: "origin" }, foreign(origin(entry)))]
				: h("span", { class: "quiet" }, row.locks.length > 1 ? t("nodes.here", { n: row.locks.length }) : node.held > 0 ? t("nodes.beneath", { n: node.held }) : t("trees.waiting", { n: node.waiting }))),
			h("span", { role: "gridcell", class: "cell cell-for" }, entry && since(entry.since, lock.waiting ? "since.waits" : "")),
			h("span", { role: "gridcell", class: "cell cell-left" }, entry && left(entry.until, "")),
		]);
	}

	click(event) {
		const element = event.target.closest("[role=row]");
		const row = element && this.rows[this.index.get(element.itemKey)];
		if (!row) return;
		this.focus(row.key);
		if (row.opens && (event.target.closest(".twisty") || !row.lock)) this.toggle(row, !row.open);
		else if (row.lock) this.select(row.lock.entry.key, element);
	}

	toggle(row, open) {
		if (!row.opens || row.open === open) return;
		this.open.set(row.node.path, open);
		this.draw();
		this.focus(row.key);
	}

	// focus moves the roving focus to a row.
	focus(key) {
		this.active = key;
		this.window();
		const element = [...this.body.children].find(child => child.itemKey === key);
		element?.focus({ preventScroll: true });
		element?.scrollIntoView({ block: "nearest" });
	}

	key(event) {
		if (event.altKey || event.ctrlKey || event.metaKey) return;
		const at = this.index.get(this.active);
		const row = this.rows[at];
		if (!row) return;
		const page = Math.max(1, Math.floor(innerHeight / 2 / (parseFloat(getComputedStyle(this.grid).getPropertyValue("--row")) || 34)));
		const go = index => this.focus(this.rows[Math.min(this.rows.length - 1, Math.max(0, index))].key);
		switch (event.key) {
		case "ArrowDown": go(at + 1); break;
		case "ArrowUp": go(at - 1); break;
		case "PageDown": go(at + page); break;
		case "PageUp": go(at - page); break;
		case "Home": go(0); break;
		case "End": go(this.rows.length - 1); break;
		case "ArrowRight":
			if (row.opens && !row.open) this.toggle(row, true);
			else if (row.open) go(at + 1);
			break;
		case "ArrowLeft":
			if (row.open) this.toggle(row, false);
			else {
				let above = at;
				while (above > 0 && this.rows[above].level >= row.level) above--;
				go(above);
			}
			break;
		case "Enter": case " ":
			if (row.lock) this.select(row.lock.entry.key, event.target);
			else this.toggle(row, !row.open);
			break;
		default: return;
		}
		event.preventDefault();
	}
}

// matches reports whether a lock is looked for.
function matches({ entry }, wanted) {
	entry.text ??= [entry.note, entry.operation, entry.route, entry.instance, entry.request_id, entry.owner, ...entry.claims.map(claim => claim.path)]
		.filter(Boolean).join("\n").toLowerCase();
	return entry.text.includes(wanted);
}

// within reports whether a lock on a node, or beneath it, is looked for.
function within(node, wanted) {
	return node.locks.some(lock => matches(lock, wanted)) || node.sorted.some(child => within(child, wanted));
}
