package chromium

// rules are what a page has to keep for those who hear it or see little, after axe-core's rules of
// the same matters: an h1, headings that leave out no level, names that have what is to be read,
// and contrast. Text with a control character that turns its direction is a user's, and has to
// stand in a bdi, or between U+2068 and U+2069.
const rules = `(async () => {
	await Promise.allSettled(document.getAnimations().filter(a => a.effect.getComputedTiming().endTime < 5000).map(a => a.finished));
	const wrong = [];
	const rendered = e => e.checkVisibility({ visibilityProperty: true });
	const scope = document.querySelector("dialog[open]") ?? document.body;
	const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(rendered).filter(e => !e.closest("dialog"));
	if (!headings.some(e => e.tagName === "H1")) wrong.push("there is no h1");
	headings.reduce((before, e) => {
		const level = Number(e.tagName[1]);
		if (before && level > before + 1) wrong.push("h" + level + " follows h" + before + ": " + e.textContent);
		return level;
	}, 0);
	const words = text => text.toLowerCase().replace(/\s+/g, " ").trim();
	for (const e of scope.querySelectorAll("button, a, [role=tab], [role=button], summary")) {
		const label = e.getAttribute("aria-label");
		if (label && rendered(e) && /\p{L}/u.test(e.innerText) && !words(label).includes(words(e.innerText))) wrong.push("“" + label + "” is read where “" + e.innerText + "” is shown");
	}
	// What is seen of a text on its ground, through all that is half transparent.
	const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const over = (colours) => {
		canvas.globalAlpha = 1;
		for (const [colour, alpha] of [["#fff", 1], ...colours]) {
			canvas.globalAlpha = alpha;
			canvas.fillStyle = colour;
			canvas.fillRect(0, 0, 1, 1);
		}
		const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(v => v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const contrast = e => {
		const grounds = [];
		let alpha = 1;
		for (let up = e; up; up = up.parentElement) {
			grounds.unshift([getComputedStyle(up).backgroundColor, 1]);
			alpha *= Number(getComputedStyle(up).opacity);
		}
		const [one, other] = [over(grounds), over([...grounds, [getComputedStyle(e).color, alpha]])];
		return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
	};
	const texts = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const e = texts.currentNode.parentElement;
		if (!texts.currentNode.data.trim() || !rendered(e) || e.closest(".sr, .unseen, .skip, svg, noscript, script, style")) continue;
		const { fontSize, fontWeight } = getComputedStyle(e);
		const needed = parseFloat(fontSize) >= (fontWeight >= 700 ? 18.66 : 24) ? 3 : 4.5;
		if (!e.closest(":disabled, [inert]") && contrast(e) < needed) wrong.push("contrast " + contrast(e).toFixed(2) + ": " + texts.currentNode.data);
		if (/[\u202a-\u202e]/.test(texts.currentNode.data.replace(/\u2068[^\u2069]*\u2069/g, "")) && !e.closest("bdi, input, textarea")) wrong.push("not isolated: " + JSON.stringify(texts.currentNode.data));
	}
	return wrong;
})()`

// CheckRules fails the test if the page, as it is now, breaks one of the rules.
func (tab *Tab) CheckRules(what string) {
	tab.t.Helper()
	for _, wrong := range Eval[[]string](tab, rules) {
		tab.t.Errorf("%s: %s", what, wrong)
	}
}
