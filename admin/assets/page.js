// The admin page: what is chosen, what is known, and what is drawn of it.

import { chip, foreign, h, icon, keep, replace, setNow, since, tick } from "./dom.js";
import { Entries, strength } from "./entries.js";
import * as history from "./history.js";
import { confirmRelease } from "./release.js";
import { ask } from "./request.js";
import { shown, speak, spoken, t, time } from "./words.js";

const byId = id => document.getElementById(id);
const { poll: pollMS, release: mayRelease, history: hasHistory } = document.documentElement.dataset;

// What is known, and how the last request went: see Failure.
let trees = null, tree = null, past = null, link = { kind: "connecting" }, asOf = null;
// What is chosen; the fragment of the address says the same.
let view = "now", chosen = null;

// remembered is localStorage if the browser grants it.
const remembered = (action, ...args) => { try { return localStorage[action]("pathlock.language", ...args); } catch { return null; } };
speak(new URLSearchParams(location.search).get("lang") ?? remembered("getItem") ?? document.documentElement.lang);

const entries = new Entries(mayRelease ? (tree, entry) => confirmRelease(tree, entry, poll) : null);
const treeTitle = h("h2", { id: "tree-title" });
const back = h("a", { class: "back", href: "#" });
const summary = h("p", { class: "summary", id: "summary" });
const legend = h("details", { class: "legend" });
const present = h("section", { id: "now" }, back, treeTitle, summary, entries.element, legend);
const overview = h("section", { id: "overview" });
byId("main").append(overview, present, history.element);
const filter = h("input", { type: "search", id: "trees-filter", autocomplete: "off", spellcheck: "false", oninput: () => drawTrees() });
const treesTitle = h("h2"), treeList = h("ul", { class: "tree-list" }), treesNote = h("p", { class: "quiet" });
byId("trees").append(treesTitle, filter, treeList, treesNote);

// recall reads what is chosen from the fragment of the address.
function recall() {
	const params = new URLSearchParams(location.hash.slice(1));
	view = params.get("view") === "history" ? "history" : "now";
	chosen = params.has("id") ? { namespace: params.get("namespace") ?? "", id: params.get("id") } : null;
	if (tree && (tree.id !== chosen?.id || tree.namespace !== chosen.namespace)) tree = null;
	draw();
	poll();
}

const fragment = tree => "#" + new URLSearchParams({ namespace: tree.namespace, id: tree.id });

// poll asks for what is shown, and again after a while.
let timer, latest = 0;
async function poll() {
	clearTimeout(timer);
	const run = ++latest;
	try {
		const wanted = chosen && "api/tree?" + new URLSearchParams(chosen);
		const [all, one, waits] = await Promise.all([ask("api/trees"), wanted && ask(wanted), view === "history" && hasHistory ? ask("api/history") : past]);
		if (run !== latest) return;
		if (all !== trees) setNow(all.now); // otherwise it was said before
		asOf = new Date().toISOString();
		const changed = all !== trees || one !== tree || waits !== past || link.kind !== "live";
		[trees, tree, past, link] = [all, one, waits, { kind: "live" }];
		if (changed) redraw();
	} catch (failure) {
		if (run !== latest) return;
		link = failure;
		redraw();
		if (failure.kind === "ended" || failure.kind === "forbidden") return; // until somebody comes back
	}
	if (!document.hidden) timer = setTimeout(poll, pollMS);
}

// redraw draws, but not between the two halves of a click: the element under the pointer would go,
// and the click with it. Where a menu opens, no pointerup may come.
let pressed = false, late = false;
function redraw() {
	late = pressed;
	if (!pressed) draw();
}

function press(event) {
	pressed = event.type === "pointerdown";
	if (!pressed) setTimeout(() => late && redraw()); // the click comes first
}

// draw brings the page up to date.
function draw() {
	document.title = (chosen && view === "now" ? `${shown(chosen.id)} · ` : "") + `${t("title")} · pathlock`;
	document.body.dataset.view = view === "history" ? "history" : chosen ? "tree" : "trees";
	byId("skip").textContent = t("skip");
	byId("title").textContent = t("title");
	byId("views").setAttribute("aria-label", t("views"));
	replace(byId("views"), ["now", "history"].map(name =>
		h("a", { href: name === "now" ? (chosen ? fragment(chosen) : "#") : (chosen ? fragment(chosen) + "&" : "#") + "view=history", id: `view-${name}`, "aria-current": view === name && "page" }, t(name))));
	replace(byId("switches"), !mayRelease && h("span", { class: "tag", id: "readonly" }, t("readonly")),
		h("button", { type: "button", id: "language", lang: spoken() === "en" ? "zh-CN" : "en", title: t("language.label"), "aria-label": t("language.label"), onclick: changeLanguage }, t("language")));
	overview.hidden = view !== "now" || chosen !== null;
	present.hidden = view !== "now" || chosen === null;
	history.element.hidden = view !== "history";
	byId("trees").hidden = view !== "now";
	drawLink();
	drawTrees();
	replace(overview, h("h2", null, t("choose.title")), h("p", { class: "quiet" }, t("choose.text")));
	if (view === "history") history.set(past);
	if (chosen) drawTree();
}

// drawLink says how up to date everything is. The status line is read aloud when it changes.
function drawLink() {
	const at = asOf ? time(asOf) : "–", kind = link.kind;
	const text = t(kind === "broken" || kind === "degraded" ? "link.trouble" : `link.${kind}`, { time: at });
	if (byId("link").textContent !== text) byId("link").textContent = text;
	byId("link").dataset.kind = kind;
	const well = kind === "live" || kind === "connecting";
	byId("page").classList.toggle("stale", !well);
	byId("banner").hidden = well;
	const said = well ? "" : t(`banner.${kind}`, { time: at, detail: kind === "degraded" ? time(link.detail) : link.detail });
	if (byId("banner").dataset.said === said) return;
	byId("banner").dataset.said = said;
	replace(byId("banner"), h("span", null, said), kind !== "trouble" && kind !== "degraded" && !well && h("button", { type: "button", onclick: () => location.reload() }, t("reload")));
}

// drawTrees lists the trees, first those in which somebody has waited longest.
function drawTrees() {
	treesTitle.textContent = t("trees.title");
	byId("trees").setAttribute("aria-label", t("trees.title"));
	filter.placeholder = t("filter");
	filter.setAttribute("aria-label", t("filter"));
	if (!trees) return;
	const wanted = filter.value.trim().toLowerCase();
	const found = trees.trees.filter(tree => `${tree.namespace}/${tree.id}`.toLowerCase().includes(wanted))
		.toSorted((a, b) => (a.waiting_since ?? "~").localeCompare(b.waiting_since ?? "~"));
	filter.hidden = trees.trees.length < 8;
	const hidden = trees.total - trees.trees.length;
	treesNote.textContent = [trees.total === 0 ? t("trees.none") : found.length === 0 && t("nomatch"),
		hidden > 0 && t("trees.truncated", { n: hidden })].filter(Boolean).join(" ");
	keep(treeList, found.map(tree => ({ ...tree, key: fragment(tree), current: fragment(tree) === (chosen && fragment(chosen)), language: spoken() })), tree =>
		h("li", null, h("a", { href: tree.key, id: "tree-" + tree.key, "aria-current": tree.current && "true" },
			h("span", { class: "tree-name" }, h("span", { class: "quiet" }, foreign(tree.namespace), "/"), foreign(tree.id)),
			tree.holders !== undefined && h("span", { class: "tree-counts" },
				h("span", { class: "quiet" }, t("held", { n: tree.holders })), tree.waiters > 0 && h("span", { class: "blocks" }, t("waiting", { n: tree.waiters }))),
			tree.waiting_since && h("span", { class: "tree-longest" }, since(tree.waiting_since, "trees.longest")))));
}

function drawTree() {
	replace(back, icon("back"), t("trees.back"));
	replace(treeTitle, h("span", { class: "quiet" }, foreign(chosen.namespace), "/"), foreign(chosen.id));
	if (legend.lang !== spoken()) replace(legend, h("summary", null, t("modes.title")), h("ul", null, Object.keys(strength).map(mode => h("li", null, chip(mode), " ", t(`mode.${mode}`)))));
	legend.lang = spoken();
	entries.element.hidden = !tree;
	if (!tree) {
		summary.textContent = t("tree.loading");
		return;
	}
	const first = tree.waiters.map(entry => entry.since).filter(Boolean).sort()[0];
	replace(summary, h("span", null, icon("lock"), t("held", { n: tree.holders.length })),
		h("span", { class: tree.waiters.length > 0 ? "blocks" : "" }, icon("wait"), t("waiting", { n: tree.waiters.length })),
		first && h("span", null, since(first, "trees.longest")));
	entries.set(tree);
}

function changeLanguage() {
	speak(spoken() === "en" ? "zh-CN" : "en");
	remembered("setItem", spoken());
	draw();
}

addEventListener("hashchange", recall);
for (const type of ["pointerdown", "pointerup", "pointercancel", "contextmenu"]) addEventListener(type, press, true);
byId("skip").addEventListener("click", event => {
	event.preventDefault();
	byId("main").focus();
});
// Whoever comes back wants to know how things are.
document.addEventListener("visibilitychange", () => { if (!document.hidden) poll(); });
setInterval(() => {
	// What is shown as of some time ago stands still.
	if (!document.hidden && link.kind === "live") tick();
}, 1_000);
recall();
