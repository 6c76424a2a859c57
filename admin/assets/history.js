// The last waits, and the places where they took the most time.

import { chip, foreign, h, origin, replace, who } from "./dom.js";
import { duration, exact, t, time } from "./words.js";

const filter = h("input", { type: "search", id: "history-filter", autocomplete: "off", spellcheck: "false", oninput: () => draw() });
const content = h("div");
export const element = h("section", { id: "history" }, filter, content);
let data = null;

export function set(history) {
	data = history;
	draw();
}

const place = wait => [chip(wait.gate ? "gate" : wait.mode || "IX"), " ", !wait.gate && foreign(wait.path), h("span", { class: "under" }, foreign(`${wait.namespace}/${wait.id}`))];
const somebody = party => [foreign(who(party)), h("span", { class: "under" }, h("bdi", null, origin(party)))];

// columns are the table's: what a wait shows in each.
const columns = {
	began: wait => h("time", { datetime: wait.began, title: exact(wait.began) }, time(wait.began)),
	place,
	waiter: wait => somebody(wait.waiter),
	lasted: wait => [duration(wait.waited_ms), h("span", { class: wait.outcome === "granted" ? "under" : "under bad" }, t(`outcome.${wait.outcome}`))],
	blocker: wait => wait.blocker && [somebody(wait.blocker), " ", chip(wait.blocker.gate ? "gate" : wait.blocker.mode || "IX", wait.blocker.waiting)],
};

function draw() {
	filter.hidden = !data?.waits.length;
	filter.placeholder = t("filter");
	filter.setAttribute("aria-label", t("filter"));
	if (!data) {
		replace(content, h("h2", null, t("history.title")), h("p", { class: "quiet" }, t("history.off")));
		return;
	}
	const wanted = filter.value.trim().toLowerCase();
	const waits = data.waits.filter(wait => !wanted || JSON.stringify(wait).toLowerCase().includes(wanted));
	const places = Map.groupBy(waits, wait => JSON.stringify([wait.namespace, wait.id, wait.path, wait.gate]));
	const worst = [...places.values()].map(all => ({ wait: all[0], n: all.length, ms: all.reduce((sum, wait) => sum + wait.waited_ms, 0) }))
		.sort((a, b) => b.ms - a.ms).slice(0, 5);
	replace(content, h("h2", null, t("history.title")),
		h("p", { class: "quiet" }, t("history.scope", { instance: data.instance, time: time(data.since), n: data.capacity }),
			data.dropped > 0 && ` ${t("history.dropped", { n: data.dropped })}`),
		waits.length === 0 && h("p", null, t(data.waits.length ? "nomatch" : "history.none")),
		waits.length > 0 && [
			h("h3", null, t("history.places")),
			h("ol", { id: "history-places" }, worst.map(({ wait, n, ms }) => h("li", null, place(wait), h("span", { class: "under" }, t("history.sum", { n, d: duration(ms) }))))),
			h("table", { id: "history-table" },
				h("thead", null, h("tr", null, Object.keys(columns).map(name => h("th", { scope: "col" }, t(`col.${name}`))))),
				h("tbody", null, waits.map(wait => h("tr", null, Object.entries(columns).map(([name, cell]) => h("td", { "data-label": t(`col.${name}`) }, cell(wait))))))),
		]);
}
