// How locks and waits are described in one line, alike wherever they are shown.

import { h, icon } from "./dom.js";
import { duration, exact, t, time } from "./words.js";
import { places, strength } from "./snapshot.js";

// serverAhead is how far the server's clock is ahead of the browser's, in milliseconds.
let serverAhead = 0;

export function setNow(iso) { serverAhead = Date.parse(iso) - Date.now(); }

export function now() { return Date.now() + serverAhead; }

// who is the shortest name of what an entry does.
export function who(entry) {
	return entry.note || entry.operation || entry.route || t("unnamed");
}

// origin is where an entry comes from: its route and instance.
export function origin(entry) {
	const named = who(entry);
	return [entry.operation, entry.route, entry.instance].filter(text => text && text !== named).join(" · ");
}

export function modeName(mode) { return mode === "gate" ? t("nodes.gate") : mode; }

// chip shows a mode; several holders of it are counted.
export function chip(mode, { waiting = false, n = 1 } = {}) {
	return h("span", { class: `chip mode-${mode}${waiting ? " chip-waiting" : ""}`, title: t(`mode.${mode}`) },
		waiting && icon("wait"), modeName(mode), n > 1 && h("span", { class: "times" }, `×${n}`));
}

// main is the strongest of the places that an entry locks.
export function main(entry) {
	return places(entry).reduce((best, place) => strength[place.mode] > strength[best.mode] ? place : best, places(entry)[0])
		?? { path: "/", mode: "IS" };
}

// span says what is held or wanted: "holds X on /a".
export function span(entry) {
	const at = main(entry);
	const verb = entry.fence ? "waits.holds" : "waits.wants";
	return at.mode === "gate" ? t(`${verb}.gate`) : t(verb, { mode: at.mode, path: at.path });
}

// Times that run are texts in elements of their own, which tick refreshes without drawing anew.

// since shows how long something has lasted; key is the text around that.
export function since(iso, key) {
	return running("since", iso, key);
}

// left shows how long something will last.
export function left(iso, key) {
	return running("until", iso, key);
}

// A lock that a foreign program took has no times.
function running(kind, iso, key) {
	if (!iso) return null;
	const element = h("time", { datetime: iso, title: exact(iso), class: "running", "data-kind": kind, "data-key": key });
	refresh(element);
	return element;
}

// tick refreshes the running times beneath an element.
export function tick(root) {
	for (const element of root.querySelectorAll("time.running")) refresh(element);
}

function refresh(element) {
	const at = Date.parse(element.dateTime), { kind, key } = element.dataset;
	const ms = kind === "since" ? now() - at : at - now();
	const text = kind === "until" && ms < 0 ? t("left.over") : key ? t(key, { d: duration(ms) }) : duration(ms);
	if (element.textContent !== text) element.textContent = text;
}

// moment shows when something was.
export function moment(iso) {
	return iso && h("time", { datetime: iso, title: exact(iso) }, time(iso));
}
