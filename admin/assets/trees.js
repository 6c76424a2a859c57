// The list of the trees in which somebody holds or waits.

import { attribute, fill, foreign, h, icon, keyed } from "./dom.js";
import { count, spoken, t } from "./words.js";
import { since } from "./describe.js";

const keyOf = tree => JSON.stringify([tree.namespace, tree.id]);

export class Trees {
	// choose is called with the tree that is clicked.
	constructor(container, { choose }) {
		this.choose = choose;
		this.filter = h("input", { type: "search", autocomplete: "off", spellcheck: "false", oninput: () => this.draw() });
		this.list = h("ul", { class: "tree-list" });
		this.empty = h("p", { class: "quiet" });
		this.more = h("p", { class: "quiet" });
		this.heading = h("h2", { id: "trees-title" });
		this.container = container;
		container.append(h("div", { class: "trees-head" }, this.heading, this.filter), this.list, this.empty, this.more);
		this.data = null;
		this.chosen = null;
	}

	set(data) {
		this.data = data;
		this.draw();
	}

	mark(tree) {
		this.chosen = tree;
		this.draw();
	}

	draw() {
		this.heading.textContent = t("trees.title");
		attribute(this.container, "aria-label", t("trees.title"));
		attribute(this.filter, "aria-label", t("trees.filter"));
		attribute(this.filter, "placeholder", t("trees.filter"));
		if (!this.data) return;
		const { trees, total } = this.data;
		const wanted = this.filter.value.trim().toLowerCase();
		const shown = trees.filter(tree => `${tree.namespace}/${tree.id}`.toLowerCase().includes(wanted));
		this.arrange(shown);
		this.filter.hidden = trees.length < 8 && !wanted;
		keyed(this.list, shown, keyOf, () => h("li"), (row, tree) => this.row(row, tree));
		this.empty.textContent = trees.length === 0 ? t("trees.none") : shown.length === 0 ? t("trees.nomatch") : "";
		this.more.textContent = total > trees.length ? t("trees.truncated", { n: total - trees.length }) : "";
	}

	// arrange puts first where somebody waits. Nothing moves while somebody points at the list.
	arrange(trees) {
		const wait = tree => tree.longest_wait_ms ?? -1;
		if (this.list.matches(":hover, :focus-within")) {
			const at = new Map([...this.list.children].map((row, i) => [row.itemKey, i]));
			trees.sort((a, b) => (at.get(keyOf(a)) ?? at.size) - (at.get(keyOf(b)) ?? at.size));
		} else trees.sort((a, b) => wait(b) - wait(a));
	}

	row(row, tree) {
		const current = this.chosen && tree.namespace === this.chosen.namespace && tree.id === this.chosen.id;
		if (!row.firstElementChild) row.append(h("a", { onclick: event => { event.preventDefault(); this.choose(row.tree); } }));
		row.tree = tree;
		const link = row.firstElementChild;
		attribute(link, "href", "#" + new URLSearchParams({ namespace: tree.namespace, id: tree.id }));
		attribute(link, "aria-current", current ? "true" : null);
		const waiting = tree.waiters ?? 0;
		// The server says how long the wait was at the time of its answer.
		const began = waiting > 0 && tree.longest_wait_ms !== undefined && new Date(Math.round((Date.parse(this.data.now) - tree.longest_wait_ms) / 100) * 100).toISOString();
		fill(link, JSON.stringify([spoken(), tree.holders, waiting, began]), () => [
			h("span", { class: "tree-name" }, h("span", { class: "namespace" }, foreign(tree.namespace), "/"), foreign(tree.id)),
			tree.holders !== undefined && h("span", { class: "tree-counts" },
				h("span", { class: "count-held", title: t("trees.held", { n: tree.holders }) }, icon("lock"), count(tree.holders)),
				waiting > 0 && h("span", { class: "count-waiting", title: t("trees.waiting", { n: waiting }) }, icon("wait"), count(waiting)),
				h("span", { class: "sr" }, t("trees.held", { n: tree.holders }), ", ", t("trees.waiting", { n: waiting }))),
			began && h("span", { class: "tree-longest" }, since(began, "trees.longest")),
		]);
	}
}
