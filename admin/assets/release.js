// The release of a stuck holder: says what will happen, asks why, and shows the answer.

import { h, replace } from "./dom.js";
import { summary } from "./entries.js";
import { ask } from "./request.js";
import { has, t } from "./words.js";

const dialog = h("dialog", { class: "release", id: "release-dialog", "aria-labelledby": "release-title" });
document.body.append(dialog);

// confirmRelease asks about an entry of a tree. done is called after a release.
export function confirmRelease(tree, entry, done) {
	const all = [...tree.holders, ...tree.waiters].filter(other => other.holder === entry.holder);
	const holds = all.some(own => own.fence);
	const reason = h("textarea", { id: "release-reason", rows: "3", minlength: "3", maxlength: "500", required: true, "aria-describedby": "release-hint" });
	const answer = h("p", { id: "release-answer", role: "alert" });
	const submit = h("button", { type: "submit", id: "release-do", class: "danger" }, t("release.do"));
	const cancel = h("button", { type: "button", id: "release-cancel", onclick: () => dialog.close() }, t("release.cancel"));
	const over = text => {
		answer.textContent = text;
		submit.hidden = true;
		cancel.textContent = t("release.close");
		cancel.focus();
	};
	const send = async event => {
		event.preventDefault();
		submit.disabled = true;
		try {
			const { entries } = await ask("api/release", {
				method: "POST", headers: { "Content-Type": "application/json" },
				body: JSON.stringify({ namespace: tree.namespace, id: tree.id, key: entry.key, reason: reason.value.replace(/\s+/g, " ").trim() }),
			});
			over(t("release.done", { n: entries }));
			done();
		} catch (failure) {
			if (failure.kind === "away" || failure.type === "release-unknown") return over(t("release.unsure"));
			const why = t(has(`problem.${failure.type}`) ? `problem.${failure.type}` : "problem.other", { detail: failure.detail });
			answer.textContent = t("release.failed", { why });
			submit.disabled = false;
		}
	};
	replace(dialog, h("form", { onsubmit: send },
		h("h2", { id: "release-title" }, t(holds ? "release.title" : "release.title.waiter")),
		h("p", null, h("strong", null, h("bdi", null, summary(entry)))),
		h("p", null, t("release.all", { n: all.length, tree: `${tree.namespace}/${tree.id}` })),
		h("p", null, t(!holds ? "release.waiter" : entry.detached ? "release.detached" : "release.holder")),
		h("label", { for: "release-reason" }, t("release.reason")), reason,
		h("p", { class: "quiet", id: "release-hint" }, t("release.hint")),
		answer, h("div", { class: "buttons" }, cancel, submit)));
	dialog.showModal();
	reason.focus();
}
