// Elements are made here, and never from text: what the server sends is written by users, and
// becomes text nodes or plain attributes only.

import { duration, exact, isolated, shown, t } from "./words.js";

// h makes an element. Properties that are functions are listeners, the others attributes; null and
// false leave out an attribute or a child.
export function h(tag, properties, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(properties ?? {})) {
		if (typeof value === "function") element.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
	}
	element.append(...children.flat(3).filter(child => child || child === 0));
	return element;
}

// foreign shows a text of others, in a direction of its own.
export function foreign(text) { return h("bdi", null, shown(text)); }

export function icon(name) { return h("span", { class: `icon icon-${name}`, "aria-hidden": "true" }); }

// chip shows a mode.
export function chip(mode, waiting = false) {
	return h("span", { class: `chip mode-${mode}${waiting ? " chip-waiting" : ""}`, title: t(`mode.${mode}`) },
		waiting && icon("wait"), mode === "gate" ? t("gate") : mode);
}

// replace puts children into an element. An element that had the focus, or another one with its id,
// has it afterwards.
export function replace(parent, ...children) {
	const focused = parent.contains(document.activeElement) ? document.activeElement : null;
	parent.replaceChildren(...children.flat(3).filter(Boolean));
	if (!focused || focused === document.activeElement) return;
	(focused.isConnected ? focused : document.getElementById(focused.id))?.focus({ preventScroll: true });
}

// keep makes the row of an item anew only if what it shows has changed.
export function keep(parent, items, make) {
	parent.rows ??= new Map();
	const rows = new Map();
	for (const item of items) {
		const signature = JSON.stringify(item);
		const known = parent.rows.get(item.key);
		rows.set(item.key, known?.signature === signature ? known : Object.assign(make(item, known), { signature }));
	}
	parent.rows = rows;
	const all = [...rows.values()];
	if (all.length !== parent.children.length || all.some((row, i) => row !== parent.children[i])) replace(parent, all);
}

let serverAhead = 0; // of the browser's clock, in milliseconds

export function setNow(iso) { serverAhead = Date.parse(iso) - Date.now(); }

// since and left show how long something has lasted or will last. They run: see tick. A lock that a
// foreign program took has no times.
export function since(iso, key) { return running(iso, key, 1); }
export function left(iso, key) { return running(iso, key, -1); }

function running(iso, key, direction) {
	if (!iso) return null;
	const element = h("time", { datetime: iso, title: exact(iso), "data-key": key, "data-direction": direction });
	refresh(element);
	return element;
}

// tick brings all running times up to date.
export function tick() {
	for (const element of document.querySelectorAll("time[data-key]")) refresh(element);
}

function refresh(element) {
	const { key, direction } = element.dataset;
	const d = duration(direction * (Date.now() + serverAhead - Date.parse(element.dateTime)));
	element.textContent = t(key, { d });
}

// who is the shortest name of what somebody does, and origin where that comes from.
export function who(party) { return party.note || party.operation || party.route || t("unnamed"); }

export function origin(party) {
	return [party.operation, party.route, party.instance].filter(text => text && text !== who(party)).map(isolated).join(" · ");
}
