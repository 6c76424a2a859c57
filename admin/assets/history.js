// The stalls that are over, or go on: each of them, by route and by place.

import { attribute, fill, foreign, h, icon, keyed } from "./dom.js";
import { count, duration, spoken, t, time } from "./words.js";
import { chip, moment, now, since } from "./describe.js";

const text = value => foreign(value ?? "");
const ms = value => duration(value ?? 0);
const ends = episode => episode.ended ? Date.parse(episode.ended) : now();
const lasted = episode => ends(episode) - Date.parse(episode.began);
const first = episode => episode.blockers[0];
const name = party => party.note || party.operation || party.route || t("unnamed");
const place = item => item.gate ? t("nodes.gate") : item.path;

// Each table has columns: its name, the value by which it sorts, what its cell shows, and whether a
// bar shows its share of the most.
const tables = {
	episodes: {
		rows: data => data.episodes, key: row => String(row.id), start: "began",
		columns: [
			{ name: "began", value: row => Date.parse(row.began), cell: row => moment(row.began) },
			{ name: "place", value: row => place(row), text: true, cell: row => [chip(row.gate ? "gate" : row.mode), " ", text(row.gate ? "" : row.path), h("span", { class: "under" }, text(`${row.namespace}/${row.tree}`))] },
			{ name: "blocker", value: row => first(row) ? name(first(row)) : "", text: true, cell: row => first(row) && [text(name(first(row))), h("span", { class: "under" }, text([first(row).route, first(row).instance].filter(Boolean).join(" · ")))] },
			{ name: "lasted", value: lasted, cell: row => row.ended ? ms(lasted(row)) : [since(row.began, ""), " ", h("span", { class: "tag" }, t("history.running"))] },
			{ name: "most", value: row => row.most_waiting, cell: row => count(row.most_waiting) },
			{ name: "waits", value: row => row.waits, cell: row => count(row.waits) },
			{ name: "timed_out", value: row => row.timed_out, cell: row => row.timed_out ? h("span", { class: "bad" }, count(row.timed_out)) : "0" },
			{ name: "longest", value: row => row.longest_ms, cell: row => ms(row.longest_ms) },
			{ name: "waiter", value: row => row.waiter_ms, cell: row => ms(row.waiter_ms), bar: true },
		],
	},
	routes: {
		rows: data => data.by_route, key: row => row.route, start: "waiter",
		columns: [
			{ name: "route", value: row => row.route, text: true, cell: row => row.route ? text(row.route) : h("span", { class: "quiet" }, t("unnamed")) },
			{ name: "waits", value: row => row.waits, cell: row => count(row.waits) },
			{ name: "waiter", value: row => row.waited_ms, cell: row => ms(row.waited_ms), bar: true },
			{ name: "longest", value: row => row.longest_ms, cell: row => ms(row.longest_ms) },
			{ name: "caused", value: row => row.caused_waits, cell: row => count(row.caused_waits) },
			{ name: "caused_ms", value: row => row.caused_ms, cell: row => ms(row.caused_ms), bar: true },
			{ name: "last", value: row => Date.parse(row.last), cell: row => moment(row.last) },
		],
	},
	places: {
		rows: data => data.by_place, key: row => JSON.stringify([row.namespace, row.tree, row.path, row.gate]), start: "waiter",
		columns: [
			{ name: "place", value: row => place(row), text: true, cell: row => [row.gate && chip("gate"), text(row.gate ? "" : row.path), h("span", { class: "under" }, text(`${row.namespace}/${row.tree}`))] },
			{ name: "episodes", value: row => row.episodes, cell: row => count(row.episodes) },
			{ name: "waits", value: row => row.waits, cell: row => count(row.waits) },
			{ name: "most", value: row => row.most_waiting, cell: row => count(row.most_waiting) },
			{ name: "longest", value: row => row.longest_ms, cell: row => ms(row.longest_ms) },
			{ name: "waiter", value: row => row.waiter_ms, cell: row => ms(row.waiter_ms), bar: true },
			{ name: "last", value: row => Date.parse(row.last), cell: row => moment(row.last) },
		],
	},
};

// stalled shows a stall in short.
export function stalled(row) {
	return [chip(row.gate ? "gate" : row.mode), " ", text(row.gate ? "" : row.path), h("span", { class: "under" }, moment(row.began), " · ", text(`${row.namespace}/${row.tree}`),
		first(row) && [" · ", text(name(first(row)))])];
}

export class History {
	constructor({ changed }) {
		this.changed = changed;
		this.kind = "episodes";
		this.sort = Object.fromEntries(Object.entries(tables).map(([kind, table]) => [kind, { by: table.start, down: true }]));
		this.open = new Set();
		this.heading = h("h2");
		this.scope = h("p", { class: "quiet" });
		this.tabs = h("div", { role: "tablist", class: "tabs" });
		this.filter = h("input", { type: "search", id: "history-filter", autocomplete: "off", spellcheck: "false", oninput: () => this.draw() });
		this.by = h("select", { id: "history-sort", onchange: () => this.order(this.by.value, this.sort[this.kind].down) });
		this.down = h("button", { type: "button", onclick: () => this.order(this.sort[this.kind].by, !this.sort[this.kind].down) });
		this.byLabel = h("label", { for: "history-sort", class: "narrow" });
		this.head = h("tr", { role: "row" });
		this.body = h("tbody", { role: "rowgroup" });
		this.table = h("table", { class: "history-table", role: "table", id: "history-table" }, h("thead", { role: "rowgroup" }, this.head), this.body);
		this.empty = h("p", { class: "quiet" });
		this.panel = h("div", { role: "tabpanel", id: "history-panel" }, this.table, this.empty);
		this.element = h("section", { class: "history", id: "history", hidden: true }, this.heading, this.scope,
			h("div", { class: "section-head" }, this.tabs, this.filter, h("div", { class: "narrow buttons" }, this.byLabel, this.by, this.down)), this.panel);
		this.tabs.addEventListener("keydown", event => this.key(event));
	}

	set(data) {
		this.data = data;
		this.draw();
	}

	// show chooses the table, and how it is sorted.
	show(kind, by, down) {
		if (!tables[kind]) return;
		this.kind = kind;
		if (tables[kind].columns.some(column => column.name === by)) this.sort[kind] = { by, down };
		this.draw();
	}

	order(by, down) {
		this.sort[this.kind] = { by, down };
		this.draw();
		this.changed();
	}

	choose(kind) {
		this.kind = kind;
		this.draw();
		this.changed();
	}

	draw() {
		this.heading.textContent = t("history.title");
		keyed(this.tabs, Object.keys(tables), kind => kind,
			kind => h("button", { type: "button", role: "tab", id: `history-${kind}`, "aria-controls": "history-panel", onclick: () => this.choose(kind) }),
			(tab, kind) => {
				tab.textContent = t(`history.${kind}`);
				attribute(tab, "aria-selected", String(kind === this.kind));
				attribute(tab, "tabindex", kind === this.kind ? "0" : "-1");
			});
		attribute(this.panel, "aria-labelledby", `history-${this.kind}`);
		attribute(this.filter, "aria-label", t("history.filter"));
		attribute(this.filter, "placeholder", t("history.filter"));
		if (!this.data) return;
		const { by, down } = this.sort[this.kind];
		const table = tables[this.kind];
		this.scope.textContent = t("history.scope", { instance: this.data.instance ?? "", time: time(this.data.since), capacity: this.data.capacity })
			+ (this.data.dropped > 0 ? " " + t("history.dropped", { n: this.data.dropped }) : "");
		this.byLabel.textContent = t("history.sort");
		fill(this.by, this.kind + spoken(), () => table.columns.map(column => h("option", { value: column.name }, t(`col.${column.name}`))));
		this.by.value = by;
		this.down.textContent = t(down ? "history.descending" : "history.ascending");
		fill(this.head, JSON.stringify([this.kind, spoken()]), () => table.columns.map(column =>
			h("th", { role: "columnheader", scope: "col", class: column.text ? "text" : "figure", "data-column": column.name },
				h("button", { type: "button", onclick: () => this.order(column.name, this.sort[this.kind].by === column.name ? !this.sort[this.kind].down : !column.text) }, t(`col.${column.name}`), icon("sort")))));
		for (const cell of this.head.children) attribute(cell, "aria-sort", cell.dataset.column === by ? (down ? "descending" : "ascending") : null);
		const rows = this.sorted(table, by, down);
		const most = Object.fromEntries(table.columns.filter(column => column.bar).map(column => [column.name, Math.max(1, ...rows.map(column.value))]));
		const items = rows.flatMap(row => {
			const key = `${this.kind} ${table.key(row)}`;
			return this.open.has(key) ? [{ key, row }, { key: key + " open", row, detail: true }] : [{ key, row }];
		});
		keyed(this.body, items, item => item.key, () => h("tr", { role: "row" }), (element, item) => this.row(element, item, table, most));
		this.table.hidden = rows.length === 0;
		this.empty.textContent = rows.length > 0 ? "" : table.rows(this.data).length > 0 ? t("history.nomatch") : t("history.none", { time: time(this.data.since) });
	}

	sorted(table, by, down) {
		const wanted = this.filter.value.trim().toLowerCase();
		const column = table.columns.find(({ name }) => name === by);
		const rows = table.rows(this.data).filter(row => wanted === "" || JSON.stringify(row).toLowerCase().includes(wanted));
		const compare = column.text ? (a, b) => String(column.value(a)).localeCompare(String(column.value(b)), spoken(), { numeric: true }) : (a, b) => column.value(a) - column.value(b);
		return rows.sort((a, b) => (down ? compare(b, a) : compare(a, b)) || table.key(b).localeCompare(table.key(a), "en", { numeric: true }));
	}

	row(element, { key, row, detail }, table, most) {
		element.className = detail ? "detail" : "";
		if (detail) {
			fill(element, JSON.stringify([spoken(), row]), () => h("td", { role: "cell", colspan: table.columns.length }, this.parties(row)));
			return;
		}
		const opens = this.kind === "episodes";
		const open = this.open.has(key);
		fill(element, JSON.stringify([spoken(), row, most, open]), () => table.columns.map((column, i) => {
			const content = [column.cell(row)];
			if (column.bar) {
				const bar = h("span", { class: "bar", "aria-hidden": "true" });
				bar.style.setProperty("--share", column.value(row) / most[column.name]);
				content.push(bar);
			}
			if (i === 0 && opens) {
				content.unshift(h("button", { type: "button", class: "twisty-button", "aria-expanded": String(open), "aria-label": t("history.open"), title: t("history.open"), onclick: () => this.toggle(key) }, icon("chevron")));
			}
			return h("td", { role: "cell", class: column.text ? "text" : "figure", "data-label": t(`col.${column.name}`), "data-column": column.name }, content);
		}));
	}

	toggle(key) {
		if (!this.open.delete(key)) this.open.add(key);
		this.draw();
		[...this.body.children].find(row => row.itemKey === key)?.querySelector(".twisty-button")?.focus({ preventScroll: true });
	}

	// parties lists who was in the way, and who had to wait.
	parties(row) {
		const list = (title, parties, more, detail) => h("div", null, h("h3", null, t(title)), h("ul", { class: "parties" }, parties.map(party => h("li", null,
			h("strong", null, text(name(party))), " ", chip(party.gate ? "gate" : party.mode), " ", !party.gate && h("code", null, text(party.path)),
			h("span", { class: "under" }, text([party.route, party.instance, party.request_id, party.owner].filter(Boolean).join(" · "))),
			h("span", { class: "quiet" }, detail(party))))), more > 0 && h("p", { class: "quiet" }, t("history.more", { n: more })));
		return h("div", { class: "both" },
			list("history.blockers", row.blockers, row.blockers_more, party => t("history.cost", { d: ms(party.waiter_ms) })),
			list("history.waiters", row.waiters, row.waiters_more, party => `${t("history.waited", { d: ms(party.waited_ms) })}, ${t(`outcome.${party.outcome}`)}`));
	}

	key(event) {
		const kinds = Object.keys(tables), at = kinds.indexOf(this.kind);
		const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: kinds.length - 1 }[event.key];
		if (to === undefined) return;
		event.preventDefault();
		this.choose(kinds[(to + kinds.length) % kinds.length]);
		this.tabs.children[kinds.indexOf(this.kind)].focus();
	}
}
