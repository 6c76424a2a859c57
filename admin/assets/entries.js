// The locks and the waits of a tree: a row for each, which opens to all that is known of it. Beside
// the rows of those who wait, and of those whom they wait for, a line leads from the one to the
// other.

import { chip, foreign, h, icon, keep, left, origin, replace, since, who } from "./dom.js";
import { exact, isolated, t } from "./words.js";

const atFirst = 100;
export const strength = { gate: 6, X: 5, SIX: 4, S: 3, IX: 2, IS: 1 };

// main is the strongest of the places that an entry locks.
function main(entry) {
	if (entry.gate) return { path: t("whole"), mode: "gate" };
	return entry.claims.reduce((best, claim) => strength[claim.mode] >= strength[best.mode] ? claim : best, { path: "/", mode: "IS" });
}

export class Entries {
	// release is called with the entry whose release is asked for; null if nobody may.
	constructor(release) {
		this.release = release;
		this.most = atFirst;
		this.filter = h("input", { type: "search", id: "filter", autocomplete: "off", spellcheck: "false", oninput: () => this.draw() });
		this.lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
		this.lines.setAttribute("aria-hidden", "true");
		this.lines.setAttribute("class", "wait-lines");
		this.queue = h("ol", { class: "rows queue" });
		this.others = h("ol", { class: "rows" });
		this.heading = h("h3");
		this.othersHeading = h("h3");
		this.help = h("p", { class: "quiet" });
		this.empty = h("p", { class: "quiet" });
		this.waits = h("section", { id: "waits" }, this.heading, this.help, h("div", { class: "picture" }, this.lines, this.queue));
		this.rest = h("section", { id: "others" }, this.othersHeading, this.others);
		this.more = h("button", { type: "button", onclick: () => { this.most *= 4; this.draw(); } });
		this.element = h("div", { id: "entries" }, this.filter, this.waits, this.rest, this.empty, this.more);
		new ResizeObserver(() => this.drawLines()).observe(this.queue);
	}

	set(tree) {
		if (tree?.id !== this.tree?.id || tree?.namespace !== this.tree?.namespace) {
			this.most = atFirst;
			this.filter.value = "";
		}
		this.tree = tree;
		this.draw();
	}

	// draw is to be called after a change of the language, too.
	draw() {
		const { holders, waiters } = this.tree;
		this.byKey = new Map([...holders, ...waiters].map(entry => [entry.key, entry]));
		const wanted = this.filter.value.trim().toLowerCase();
		const found = entries => entries.filter(entry => !wanted || text(entry).includes(wanted));
		const queue = [...found(holders).filter(entry => entry.waited_for).sort((a, b) => b.waited_for - a.waited_for), ...found(waiters)];
		const others = found(holders).filter(entry => !entry.waited_for).sort((a, b) => main(a).path.localeCompare(main(b).path, undefined, { numeric: true }));
		const places = new Map(waiters.map((entry, i) => [entry.key, i + 1]));
		const item = entry => {
			const first = entry.waits_for?.length ? this.byKey.get(entry.waits_for[0].key) : null;
			return { ...entry, place: places.get(entry.key), first: first && who(first), language: document.documentElement.lang };
		};
		keep(this.queue, queue.slice(0, this.most).map(item), (entry, old) => this.row(entry, old));
		keep(this.others, others.slice(0, Math.max(0, this.most - queue.length)).map(item), (entry, old) => this.row(entry, old));
		const hidden = queue.length + others.length - this.queue.children.length - this.others.children.length;
		this.heading.textContent = t("waits.title");
		this.help.textContent = t("waits.help");
		this.othersHeading.textContent = t("others.title");
		this.waits.hidden = queue.length === 0;
		this.rest.hidden = this.others.children.length === 0;
		this.more.hidden = hidden === 0;
		this.more.textContent = t("more", { n: hidden });
		this.filter.hidden = this.byKey.size === 0;
		this.filter.placeholder = t("filter");
		this.filter.setAttribute("aria-label", t("filter"));
		this.empty.textContent = this.byKey.size === 0 ? t("tree.free") : queue.length + others.length === 0 ? t("nomatch") : "";
		this.drawLines();
	}

	// row shows an entry, open if it was open before.
	row(entry, old) {
		const at = main(entry), waits = !entry.fence;
		const behind = entry.waits_for?.length ?? 0, n = behind - 1 + (entry.waits_for_more ?? 0);
		const details = h("details", { open: old?.lastElementChild.open },
			h("summary", { id: "entry-" + entry.key },
				h("span", { class: "line" },
					entry.place && h("span", { class: "quiet" }, String(entry.place)),
					h("strong", { class: "who" }, foreign(who(entry))), chip(at.mode, waits),
					entry.detached && h("span", { class: "tag", title: t("detached.help") }, t("detached")),
					h("span", { class: "quiet" }, h("bdi", null, origin(entry)))),
				h("span", { class: "line second" },
					since(entry.since, waits ? "waits" : "for"), left(entry.until, waits ? "gives_up" : "lease"),
					h("span", null, h("bdi", null, t(waits ? "wants" : "holds", { mode: at.mode === "gate" ? t("gate") : at.mode, path: at.path }))),
					entry.first && h("span", null, n > 0 ? t("behind.more", { who: entry.first, n }) : t("behind", { who: entry.first })),
					entry.waited_for && h("span", { class: "blocks" }, icon("wait"), t("blocks", { n: entry.waited_for })))));
		details.addEventListener("toggle", () => this.fill(details, entry));
		if (details.open) this.fill(details, entry);
		return h("li", { class: waits ? "waiter" : "holder", "data-key": entry.key }, h("span", { class: "dot", "aria-hidden": "true" }), details);
	}

	// fill puts all that is known of an entry into its open row.
	fill(details, entry) {
		const facts = ["operation", "note", "route", "instance", "request_id", "trace", "owner", "fence"].filter(name => entry[name])
			.map(name => [t(`info.${name}`), foreign(String(entry[name]))]);
		for (const name of ["since", "until"]) if (entry[name]) facts.push([t(`info.${name}`), h("time", { datetime: entry[name] }, exact(entry[name]))]);
		const claims = [...entry.gate ? [{ mode: "gate", path: t("whole") }] : [], ...entry.claims];
		facts.push([t("info.claims"), h("ul", null, claims.map(claim => h("li", null, chip(claim.mode), " ", h("code", null, foreign(claim.path)))))]);
		if (entry.waits_for) facts.push([t("info.waits_for"), h("ul", null, entry.waits_for.map(edge =>
			h("li", null, foreign(who(this.byKey.get(edge.key) ?? {})), " ", chip(edge.gate ? "gate" : edge.mode), " ", !edge.gate && h("code", null, foreign(edge.path)))),
			entry.waits_for_more && h("li", null, `+ ${entry.waits_for_more}`))]);
		details.querySelector(".facts")?.remove();
		if (details.open) details.append(h("div", { class: "facts" },
			entry.detached && h("p", null, t("detached.help")),
			h("dl", null, facts.map(([name, value]) => [h("dt", null, name), h("dd", null, value)])),
			this.release && h("button", { type: "button", class: "danger", id: "release-" + entry.key, onclick: () => this.release(this.tree, entry) }, t("release.open"))));
	}

	// drawLines draws an arc for each wait between rows that are shown, but for those that another
	// line leads on to.
	drawLines() {
		const rows = new Map([...this.queue.children].map(row => [row.dataset.key, row]));
		const x = 48, drawn = [];
		const middle = row => row.offsetTop + 24;
		for (const [key, row] of rows) {
			const edges = this.byKey.get(key)?.waits_for ?? [];
			for (const edge of edges) {
				const other = rows.get(edge.key);
				if (!other || edges.some(via => this.byKey.get(via.key)?.waits_for?.some(on => on.key === edge.key))) continue;
				const y1 = middle(row) - 4, y2 = middle(other) + 4, bulge = Math.min(x + 12, 16 + (y1 - y2) / 6);
				const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
				line.setAttribute("class", this.byKey.get(edge.key).fence ? "edge edge-held" : "edge edge-queued");
				line.setAttribute("d", `M${x - 6} ${y1} C${x - bulge} ${y1} ${x - bulge} ${y2} ${x - 6} ${y2} m-6 -4 l6 4 l-6 4`);
				drawn.push(line);
			}
		}
		this.lines.setAttribute("height", this.queue.offsetHeight);
		replace(this.lines, drawn);
	}
}

// text is what the filter looks at.
function text(entry) {
	return [entry.note, entry.operation, entry.route, entry.instance, entry.request_id, entry.owner, ...entry.claims.map(claim => claim.path)].filter(Boolean).join("\n").toLowerCase();
}

// summary says who it is about, for the question before a release.
export function summary(entry) {
	return [who(entry), entry.route, entry.instance].filter(Boolean).map(isolated).join(" · ");
}
