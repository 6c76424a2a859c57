// The admin page: what is chosen, what is known, and what is drawn of it.

import { attribute, fill, foreign, h, icon } from "./dom.js";
import { languages, shown, speak, spoken, t, time } from "./words.js";
import { chip, setNow, since, tick } from "./describe.js";
import { Feed } from "./feed.js";
import { History, stalled } from "./history.js";
import { Inspector } from "./inspector.js";
import { Nodes } from "./nodes.js";
import { Release } from "./release.js";
import { ask, treeQuery } from "./request.js";
import { Snapshot, strength } from "./snapshot.js";
import { Trees } from "./trees.js";
import { Waits } from "./waits.js";

const byId = id => document.getElementById(id);

// remembered is localStorage where the browser grants it.
const remembered = {
	get(key) { try { return localStorage.getItem(`pathlock.${key}`); } catch { return null; } },
	set(key, value) { try { localStorage.setItem(`pathlock.${key}`, value); } catch { /* for this visit, then */ } },
};

// What is known.
let about = null, snapshot = null, troubles = {}, link = { kind: "connecting" }, asOf = null, historyVersion = null;
// What is chosen; the fragment of the address says the same.
let view = "now", tree = null;

speak(new URLSearchParams(location.search).get("lang") ?? remembered.get("language") ?? document.documentElement.lang);
let theme = remembered.get("theme") ?? "auto";

// The parts.
const trees = new Trees(byId("trees"), { choose: chosen => go({ tree: chosen, view: "now" }) });
const waits = new Waits({ select });
const nodes = new Nodes({ select });
const inspector = new Inspector(byId("inspector"), { release: entry => dialog.open(snapshot, entry), select, close: () => mark(null) });
const dialog = new Release();
const history = new History({ changed: remember });
const feed = new Feed({ receive, state: entered, pollMS: Number(document.documentElement.dataset.pollMs) || 1_000 });

const back = h("a", { class: "back", href: "#", onclick: event => { event.preventDefault(); go({ tree: null }); } });
const treeTitle = h("h2", { id: "tree-title" });
const summary = h("p", { class: "summary", id: "summary" });
const legend = h("details", { class: "legend" });
const overview = h("section", { class: "overview", id: "overview" });
const present = h("section", { class: "now", id: "now", hidden: true }, back, treeTitle, summary, waits.element, nodes.element, legend);
byId("main").append(overview, present, history.element);

// select shows the details of an entry; opener gets the focus back when they close.
function select(key, opener) {
	mark(key);
	inspector.show(key, opener);
}

function mark(key) {
	waits.mark(key);
	nodes.mark(key);
}

// go chooses a view, a tree, or both. The address follows unless the choice came from there.
function go(choice, { fromAddress = false } = {}) {
	const before = JSON.stringify(tree);
	view = choice.view ?? view;
	if ("tree" in choice) tree = choice.tree && { namespace: choice.tree.namespace, id: choice.tree.id };
	if (!fromAddress) remember();
	if (JSON.stringify(tree) !== before) {
		snapshot = null;
		delete troubles.tree;
		inspector.close();
		waits.reset();
		nodes.reset();
		trees.mark(tree);
		if (link.kind !== "ended" && link.kind !== "forbidden") feed.watch(tree);
		scrollTo(0, 0);
	}
	fetchHistory();
	draw();
}

// remember writes what is chosen into the fragment of the address.
function remember() {
	const chosen = new URLSearchParams();
	if (tree) {
		chosen.set("namespace", tree.namespace);
		chosen.set("id", tree.id);
	}
	if (view === "history") {
		const { by, down } = history.sort[history.kind];
		chosen.set("view", "history");
		chosen.set("table", history.kind);
		chosen.set("sort", (down ? "-" : "") + by);
	}
	const fragment = "#" + chosen;
	if (fragment !== location.hash && !(fragment === "#" && location.hash === "")) window.history.pushState(null, "", fragment);
}

// recall reads the fragment of the address.
function recall() {
	const chosen = new URLSearchParams(location.hash.slice(1));
	const sort = chosen.get("sort") ?? "";
	if (chosen.get("table")) history.show(chosen.get("table"), sort.replace(/^-/, ""), sort.startsWith("-"));
	return {
		view: chosen.get("view") === "history" ? "history" : "now",
		tree: chosen.get("id") !== null ? { namespace: chosen.get("namespace") ?? "", id: chosen.get("id") } : null,
	};
}

// receive takes what the server sends.
function receive(name, data) {
	const began = performance.now();
	if (data.now) {
		setNow(data.now);
		asOf = data.now;
	}
	switch (name) {
	case "about": about = data; break;
	case "trees": delete troubles.trees; trees.set(data); break;
	case "tree":
		if (!tree || data.namespace !== tree.namespace || data.id !== tree.id) return;
		delete troubles.tree;
		if (snapshot?.version !== data.version) snapshot = new Snapshot(data);
		break;
	case "change":
		delete troubles.tree;
		if (snapshot && !snapshot.apply(data)) refetch();
		break;
	case "history":
		if (data.version === null || data.version !== historyVersion) fetchHistory();
		return;
	case "trouble": troubles[data.what] = data; break;
	}
	draw();
	if (name === "tree" || name === "change") performance.measure("pathlock-update", { start: began });
}

// refetch gets the tree whole when a change does not fit to what is known.
async function refetch() {
	const wanted = tree;
	try {
		const data = await ask("api/tree" + treeQuery(wanted));
		if (wanted === tree) receive("tree", data);
	} catch (failure) {
		if (wanted === tree) feed.fail(feed.run, failure);
	}
}

async function fetchHistory() {
	if (view === "now" && tree || about?.history === false) return;
	try {
		const data = await ask("api/history");
		historyVersion = data.version;
		setNow(data.now);
		history.set(data);
	} catch (failure) {
		if (failure.type !== "not-found") feed.fail(feed.run, failure);
		else if (about) about.history = false;
	}
	draw();
}

// trouble is what the lock store has, or null.
function trouble() { return troubles.tree ?? troubles.trees ?? null; }

// entered takes the state of the connection.
function entered(state) {
	if (state.kind === "connecting" || state.kind === "away") troubles = {};
	link = state;
	draw();
}

// draw brings the page up to date.
function draw() {
	drawFrame();
	drawLink();
	drawBanner();
	document.body.dataset.view = view === "history" ? "history" : tree ? "tree" : "trees";
	overview.hidden = view !== "now" || tree !== null;
	present.hidden = view !== "now" || tree === null;
	history.element.hidden = view !== "history";
	byId("trees").hidden = view !== "now";
	if (view === "history") drawHistory();
	else if (tree) drawTree();
	else drawOverview();
}

function drawFrame() {
	document.title = (tree && view === "now" ? `${shown(tree.id)} · ` : "") + `${t("title")} · pathlock`;
	document.documentElement.dataset.theme = theme;
	byId("skip").textContent = t("skip");
	byId("title").textContent = t("title");
	attribute(byId("title"), "title", about ? t("instance", { name: about.instance }) : null);
	attribute(byId("views"), "aria-label", t("views"));
	const focused = document.activeElement?.id;
	fill(byId("views"), JSON.stringify([spoken(), view]), () => ["now", "history"].map(name =>
		h("a", { href: name === "now" ? "#" : "#view=history", id: `view-${name}`, "aria-current": view === name ? "page" : null, onclick: event => { event.preventDefault(); go({ view: name }); } }, t(`view.${name}`))));
	fill(byId("switches"), JSON.stringify([spoken(), theme, about?.may_release]), () => [
		about && !about.may_release && h("span", { class: "tag", id: "readonly" }, t("readonly")),
		h("button", { type: "button", id: "language", class: "plain", lang: spoken() === "en" ? "zh-CN" : "en", "aria-label": t("language.label"), title: t("language.label"), onclick: changeLanguage }, t("language")),
		h("button", { type: "button", id: "theme", class: "plain", "aria-label": t(`theme.${theme}`), title: t(`theme.${theme}`), onclick: changeTheme }, icon(theme)),
	]);
	if (focused && document.activeElement === document.body) byId(focused)?.focus({ preventScroll: true });
	attribute(byId("trees"), "aria-label", t("trees.title"));
}

function drawLink() {
	const element = byId("link");
	let text, title = null, kind = link.kind;
	switch (link.kind) {
	case "live": text = t("link.live"); break;
	case "polling": text = t("link.polling", { s: t("seconds", { s: Math.round(link.every / 1000) }) }); title = t("link.polling.why"); break;
	case "away": text = link.until ? t("link.reconnecting", { s: t("seconds", { s: Math.max(1, Math.ceil((link.until - Date.now()) / 1000)) }) }) : t("link.trying"); break;
	case "ended": case "forbidden": text = t("link.ended"); break;
	default: text = t("link.connecting");
	}
	if (trouble() && (kind === "live" || kind === "polling")) {
		kind = "trouble";
		text = t("link.stale", { time: time(trouble().since) });
	}
	if (element.dataset.kind !== kind && kind !== "connecting") byId("announce").textContent = text; // once, without the seconds that follow
	element.dataset.kind = kind;
	attribute(element, "title", title);
	if (element.textContent !== text) element.textContent = text;
}

function drawBanner() {
	const at = asOf ? time(asOf) : "–";
	let text = null, action = null;
	if (link.kind === "ended" || link.kind === "forbidden") {
		text = t(`banner.${link.kind}`, { time: at });
		action = h("button", { type: "button", onclick: () => location.reload() }, t("reload"));
	} else if (link.kind === "away") {
		text = link.detail ? t("banner.broken", { detail: link.detail }) : t("banner.lost", { time: at });
		action = h("button", { type: "button", onclick: () => feed.begin() }, t("retry"));
	} else if (trouble()) {
		text = t("banner.trouble", { time: time(trouble().since) });
	}
	byId("banner").hidden = text === null;
	byId("page").classList.toggle("stale", text !== null);
	fill(byId("banner"), JSON.stringify([text]), () => text === null ? [] : [h("span", null, text), action]);
}

function drawTree() {
	back.replaceChildren(icon("back"), t("trees.back"));
	fill(treeTitle, JSON.stringify(tree), () => [h("span", { class: "namespace" }, foreign(tree.namespace), "/"), foreign(tree.id)]);
	fill(legend, spoken(), () => [h("summary", null, t("modes.title")), h("ul", null, Object.keys(strength).map(mode => h("li", null, chip(mode), " ", t(`mode.${mode}`))))]);
	nodes.element.hidden = snapshot === null;
	if (!snapshot) {
		fill(summary, spoken(), () => [t("tree.loading")]);
		waits.element.hidden = true;
		return;
	}
	const { held, queue } = snapshot;
	const first = entries => entries.reduce((old, entry) => entry.since && (!old || Date.parse(entry.since) < Date.parse(old)) ? entry.since : old, null);
	const oldest = first(held), longest = first(queue);
	fill(summary, JSON.stringify([spoken(), held.length, queue.length, oldest, longest]), () => [
		h("span", { class: "sum" }, icon("lock"), t("sum.held", { n: held.length })),
		h("span", { class: queue.length ? "sum sum-waiting" : "sum" }, icon("wait"), queue.length ? t("sum.waiting", { n: queue.length }) : t("sum.nowaiting")),
		longest && h("span", { class: "sum" }, since(longest, "sum.longest")),
		oldest && h("span", { class: "sum" }, since(oldest, "sum.oldest")),
	]);
	waits.set(snapshot);
	nodes.set(snapshot);
	inspector.set(snapshot, about?.may_release === true);
	dialog.set(snapshot);
}

// drawOverview says what to do, and shows the last stalls.
function drawOverview() {
	const last = (about?.history && history.data?.episodes || []).toSorted((a, b) => Date.parse(b.began) - Date.parse(a.began)).slice(0, 5);
	fill(overview, JSON.stringify([spoken(), last]), () => [
		h("h2", null, t("choose.title")), h("p", { class: "quiet" }, t("choose.text")),
		last.length > 0 && h("section", { id: "last-stalls" }, h("h3", null, t("choose.stalls")),
			h("ul", null, last.map(stall => h("li", null, stalled(stall)))),
			h("a", { class: "all", href: "#view=history", onclick: event => { event.preventDefault(); go({ view: "history" }); } }, t("choose.all"))),
	]);
}

function drawHistory() {
	inspector.close();
	if (about && !about.history) {
		history.heading.textContent = t("history.title");
		history.scope.textContent = t("history.off");
		for (const part of [history.panel, history.tabs.parentElement]) part.hidden = true;
		return;
	}
	history.draw();
}

function changeLanguage() {
	const tags = Object.keys(languages);
	speak(tags[(tags.indexOf(spoken()) + 1) % tags.length]);
	remembered.set("language", spoken());
	trees.draw();
	draw();
	inspector.draw();
}

function changeTheme() {
	const themes = ["auto", "light", "dark"];
	theme = themes[(themes.indexOf(theme) + 1) % themes.length];
	remembered.set("theme", theme);
	draw();
}

addEventListener("popstate", () => go(recall(), { fromAddress: true }));
byId("skip").addEventListener("click", event => {
	event.preventDefault();
	byId("main").focus();
});
document.addEventListener("keydown", event => {
	if (event.key === "Escape" && !document.querySelector("dialog[open]")) inspector.close();
});
// Whoever comes back to a page that gave up wants to know how things are.
document.addEventListener("visibilitychange", () => {
	if (!document.hidden && (link.kind === "away" || link.kind === "ended" || link.kind === "forbidden")) feed.begin();
});
setInterval(() => {
	if (document.hidden) return;
	// What is shown as of some time ago stands still.
	if (!byId("page").classList.contains("stale")) tick(document.body);
	drawLink();
}, 1_000);

const chosen = recall();
view = chosen.view;
tree = chosen.tree;
trees.mark(tree);
trees.draw();
draw();
feed.watch(tree);
fetchHistory();
