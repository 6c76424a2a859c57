// Elements are made here and nowhere from text: what the server sends is written by users, and
// becomes text nodes or plain attributes only.

import { shown } from "./words.js";

// h makes an element. Properties named on… are listeners, the others attributes; null and false
// leave an attribute out.
export function h(tag, properties, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(properties ?? {})) {
		if (typeof value === "function") element.addEventListener(name.slice(2), value);
		else attribute(element, name, value);
	}
	element.append(...present(children));
	return element;
}

// foreign shows a text of others, in a direction of its own.
export function foreign(text) { return h("bdi", null, shown(text)); }

// svg makes an element of a drawing.
export function svg(tag, attributes) {
	const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
	return element;
}

// icon shows one of the icon-….svg files in the colour of the text around it.
export function icon(name) {
	return h("span", { class: `icon icon-${name}`, "aria-hidden": "true" });
}

// attribute sets an attribute, or removes it for null and false.
export function attribute(element, name, value) {
	if (value === null || value === undefined || value === false) element.removeAttribute(name);
	else element.setAttribute(name, value === true ? "" : String(value));
}

// present drops the children that are not there.
export function present(children) {
	return children.flat(3).filter(child => child !== null && child !== undefined && child !== false && child !== "");
}

// fill replaces the content of an element if what it shows has changed: signature stands for that.
// Whoever reads, selects or has focus there is not disturbed otherwise.
export function fill(element, signature, children) {
	if (element.signature === signature) return;
	element.signature = signature;
	element.replaceChildren(...present([children()]));
}

// keyed makes the children of parent one for each item, in their order. The element of an item that
// stays is kept, with its focus.
export function keyed(parent, items, keyOf, make, update) {
	const kept = new Map();
	for (const child of parent.children) kept.set(child.itemKey, child);
	const wanted = new Set(items.map(keyOf));
	for (const [key, child] of kept) if (!wanted.has(key)) child.remove();
	const focused = document.activeElement;
	let at = parent.firstElementChild;
	for (const item of items) {
		const key = keyOf(item);
		let child = kept.get(key);
		if (!child) {
			child = make(item);
			child.itemKey = key;
		}
		update?.(child, item);
		if (child === at) at = at.nextElementSibling;
		else parent.insertBefore(child, at);
	}
	// An element that was moved has lost its focus.
	if (focused !== document.activeElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}
