// The release of a stuck holder: says what will happen, asks why, and shows the answer.

import { foreign, h } from "./dom.js";
import { has, t } from "./words.js";
import { modeName, who } from "./describe.js";
import { ask } from "./request.js";
import { places } from "./snapshot.js";

const shortest = 3, longest = 500;

export class Release {
	constructor() {
		this.dialog = h("dialog", { class: "release", id: "release-dialog", "aria-labelledby": "release-title" });
		document.body.append(this.dialog);
		this.entry = null;
		// The event of one question's end may come after the next has been opened.
		this.dialog.addEventListener("close", () => { if (!this.dialog.open) this.entry = null; });
	}

	// open asks about an entry of the snapshot's tree.
	open(snapshot, entry) {
		this.entry = entry;
		this.tree = { namespace: snapshot.namespace, id: snapshot.id };
		const all = snapshot.of(entry.holder);
		const next = new Set();
		for (const waiter of snapshot.queue) {
			if (waiter.holder !== entry.holder && all.some(own => snapshot.waits.reach(waiter.key).has(own.key))) next.add(waiter.key);
		}
		this.reason = h("textarea", { id: "release-reason", rows: "3", maxlength: longest, required: true, "aria-describedby": "release-hint release-answer" });
		this.answer = h("p", { id: "release-answer", class: "answer", role: "alert" });
		this.submit = h("button", { type: "submit", id: "release-do", class: "danger" }, t("release.do"));
		this.cancel = h("button", { type: "button", id: "release-cancel", onclick: () => this.dialog.close() }, t("release.cancel"));
		this.form = h("form", { method: "dialog", novalidate: true, onsubmit: event => { event.preventDefault(); this.send(); } },
			h("h2", { id: "release-title" }, t(all.some(own => own.fence) ? "release.title" : "release.title.waiter")),
			h("p", null, h("strong", null, h("bdi", null, entry.instance ? t("release.who", { who: who(entry), instance: entry.instance }) : who(entry))),
				entry.route && [" · ", h("code", null, foreign(entry.route))]),
			h("p", null, t("release.all", { n: all.length, tree: `${snapshot.namespace}/${snapshot.id}` })),
			h("ul", { class: "claims" }, all.flatMap(own => places(own)).slice(0, 8).map(place =>
				h("li", null, h("span", { class: `chip mode-${place.mode}` }, modeName(place.mode)), " ", h("code", null, foreign(place.path))))),
			h("p", null, t(!all.some(own => own.fence) ? "release.waiter" : entry.detached ? "release.detached" : "release.holder")),
			next.size > 0 && h("p", null, t("release.next", { n: next.size })),
			h("label", { for: "release-reason" }, t("release.reason")), this.reason,
			h("p", { class: "quiet", id: "release-hint" }, t("release.reason.hint")),
			this.answer,
			h("div", { class: "buttons" }, this.cancel, this.submit));
		this.dialog.replaceChildren(this.form);
		this.dialog.showModal();
		this.reason.focus();
	}

	// set looks whether what is to be released is still there.
	set(snapshot) {
		if (!this.entry || this.submit.disabled || snapshot.id !== this.tree.id || snapshot.namespace !== this.tree.namespace) return;
		if (!snapshot.entries.has(this.entry.key)) this.done(t("release.gone"));
	}

	async send() {
		if (this.submit.disabled) return; // sent, and waiting for the answer
		const reason = this.reason.value.replace(/\s+/g, " ").trim();
		if (reason.length < shortest) {
			this.say(t("release.reason.short"), "bad");
			this.reason.focus();
			return;
		}
		this.submit.disabled = true;
		this.submit.textContent = t("release.doing");
		const { entry, tree } = this;
		try {
			const answer = await ask("api/release", {
				method: "POST",
				headers: { "Content-Type": "application/json" },
				body: JSON.stringify({ namespace: tree.namespace, id: tree.id, key: entry.key, reason }),
			});
			if (this.entry === entry) this.done(t("release.done", { n: answer.entries }), "good");
		} catch (failure) {
			if (this.entry !== entry) return;
			if (failure.kind === "network" || failure.type === "release-unknown") {
				this.done(t("release.unsure"), "bad");
				return;
			}
			const known = has(`problem.${failure.type}`) ? `problem.${failure.type}` : "problem.other";
			this.say(t("release.failed", { why: t(known, { detail: failure.detail }) }), "bad");
			this.submit.disabled = false;
			this.submit.textContent = t("release.do");
		}
	}

	say(text, kind = "") {
		this.answer.className = `answer ${kind}`;
		this.answer.textContent = text;
	}

	// done leaves nothing to do but to close.
	done(text, kind) {
		this.say(text, kind);
		this.submit.disabled = true;
		this.submit.hidden = true;
		this.reason.readOnly = true;
		this.cancel.textContent = t("release.close");
		this.cancel.focus();
	}
}
