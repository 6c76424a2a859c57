// All about one lock or one wait, beside the tree, or above it in a narrow window.

import { attribute, fill, foreign, h, icon } from "./dom.js";
import { spoken, t } from "./words.js";
import { chip, left, main, moment, since, span, who } from "./describe.js";

const claimsAtFirst = 12;

export class Inspector {
	// release is called with the entry whose release is asked for, select with the key of another
	// entry, and close when this one is done with.
	constructor(container, { release, select, close }) {
		Object.assign(this, { container, release, select, closed: close, key: null, opener: null });
		container.addEventListener("keydown", event => {
			if (event.key !== "Escape") return;
			event.stopPropagation();
			this.close();
		});
	}

	// show opens the entry with the key. opener gets the focus back.
	show(key, opener) {
		this.key = key;
		this.opener = opener ?? this.opener;
		this.entry = null;
		this.everything = false;
		this.container.hidden = false;
		this.draw();
		// Where it lies above the tree, whoever reads it must get there first.
		if (getComputedStyle(this.container).position === "fixed") this.container.focus({ preventScroll: true });
	}

	close() {
		if (this.key === null) return;
		const inside = this.container.contains(document.activeElement);
		this.key = null;
		this.container.hidden = true;
		this.closed();
		if (inside && this.opener?.isConnected) this.opener.focus({ preventScroll: true });
		else if (inside) document.getElementById("main").focus({ preventScroll: true });
	}

	set(snapshot, mayRelease) {
		this.snapshot = snapshot;
		this.mayRelease = mayRelease;
		this.draw();
	}

	draw() {
		if (this.key === null || !this.snapshot) return;
		const live = this.snapshot.entries.get(this.key);
		const entry = this.entry = live ?? this.entry;
		attribute(this.container, "aria-label", t("info.title"));
		if (!entry) { this.close(); return; }
		const { blocks, edges } = this.snapshot.waits;
		const waiting = live ? this.snapshot.queue.filter(other => (other.waits_for ?? []).some(edge => edge.key === entry.key)) : [];
		const ahead = (live?.waits_for ?? []).map(edge => ({ edge, other: this.snapshot.entries.get(edge.key) })).filter(({ other }) => other);
		const signature = JSON.stringify([spoken(), entry, Boolean(live), this.everything, this.mayRelease, waiting.map(other => [other.key, who(other)]), ahead.map(({ other }) => who(other)), blocks.get(entry.key), edges.get(entry.key)?.length]);
		const focused = document.activeElement?.id;
		fill(this.container, signature, () => [
			h("header", null,
				h("p", { class: "quiet" }, t(entry.fence ? "info.holder" : "info.waiter")),
				h("h3", null, foreign(who(entry)), " ", chip(main(entry).mode, { waiting: !entry.fence })),
				h("button", { type: "button", id: "inspector-close", class: "plain", title: t("info.close"), "aria-label": t("info.close"), onclick: () => this.close() }, icon("close"))),
			!live && h("p", { class: "notice", role: "status" }, t("info.gone")),
			entry.detached && h("p", { class: "notice" }, h("span", { class: "tag" }, t("detached")), " ", t("detached.help")),
			this.facts(entry),
			this.claims(entry),
			ahead.length > 0 && this.others("info.waits_for", ahead.map(({ edge, other }) => this.other(other,
				edge.gate ? t("nodes.gate") : t("info.at", { mode: edge.mode, path: edge.path }))), entry.waits_for_more),
			waiting.length > 0 && this.others("info.waited_for", waiting.slice(0, 50).map(other => this.other(other, since(other.since, "since.waits"))), Math.max(0, waiting.length - 50)),
			live && this.mayRelease && h("button", { type: "button", id: "release", class: "danger", onclick: () => this.release(this.snapshot.entries.get(this.key) ?? entry) }, t("info.release")),
		]);
		// What had the focus has been drawn anew.
		if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus({ preventScroll: true });
	}

	facts(entry) {
		const facts = h("dl", { class: "facts" });
		const add = (name, value) => { if (value) facts.append(h("dt", null, t(`info.${name}`)), h("dd", null, value)); };
		const text = value => value && foreign(value);
		const code = value => value && h("code", null, foreign(value));
		add("operation", text(entry.operation));
		add("note", text(entry.note));
		add("route", code(entry.route));
		add("instance", code(entry.instance));
		add("request_id", code(entry.request_id));
		add("trace", code(entry.trace));
		add("owner", code(entry.owner));
		add("fence", entry.fence ? String(entry.fence) : null);
		if (entry.since) add(entry.fence ? "since" : "asked", [moment(entry.since), h("span", { class: "quiet" }, " · ", since(entry.since, entry.fence ? "since.held" : "since.waits"))]);
		if (entry.until) add(entry.fence ? "until" : "gives_up", [moment(entry.until), h("span", { class: "quiet" }, " · ", left(entry.until, entry.fence ? "left.lease" : "left.waits"))]);
		if (entry.fence && !entry.detached) facts.append(h("dd", { class: "quiet" }, t("info.renewed")));
		return facts;
	}

	claims(entry) {
		const all = [...entry.gate ? [{ mode: "gate", path: "/" }] : [], ...entry.claims];
		const shown = this.everything ? all : all.slice(0, claimsAtFirst);
		return h("section", null, h("h4", null, t("info.claims")),
			h("ul", { class: "claims" }, shown.map(claim => h("li", null, chip(claim.mode), " ", h("code", null, foreign(claim.path))))),
			shown.length < all.length && h("button", { type: "button", class: "more", onclick: () => { this.everything = true; this.draw(); } }, t("info.more", { n: all.length })));
	}

	others(title, items, more) {
		return h("section", null, h("h4", null, t(title)), h("ul", { class: "others" }, items),
			more > 0 && h("p", { class: "quiet" }, t("info.waits_for_more", { n: more })));
	}

	other(entry, detail) {
		return h("li", null, h("button", { type: "button", class: "link-button", title: span(entry), onclick: () => this.select(entry.key) }, foreign(who(entry))),
			" ", h("span", { class: "quiet" }, detail));
	}
}
