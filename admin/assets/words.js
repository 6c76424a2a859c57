// The words of the page in the viewer's language, and how it writes numbers, times and durations.

import { en } from "./en.js";
import { zh } from "./zh.js";

export const languages = { en, "zh-CN": zh };

let language = "en";
let words = en;
let number, clock, date, full;

// speak chooses a language by its tag.
export function speak(tag) {
	language = languages[tag] ? tag : "en";
	words = languages[language];
	document.documentElement.lang = language;
	number = new Intl.NumberFormat(language);
	clock = new Intl.DateTimeFormat(language, { timeStyle: "medium", hourCycle: "h23" });
	date = new Intl.DateTimeFormat(language, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
	full = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "long", hourCycle: "h23" });
}

export function spoken() { return language; }

// t returns the text of a key. {name} in it stands for a value; where the text is a list, the first
// is for one and the second for any other number of {n}.
export function t(key, values = {}) {
	let text = words[key] ?? en[key] ?? key;
	if (Array.isArray(text)) text = text[values.n === 1 ? 0 : 1];
	return text.replace(/\{(\w+)\}/g, (whole, name) => {
		const value = values[name];
		if (value === undefined) return whole;
		return typeof value === "number" ? number.format(value) : isolated(value);
	});
}

// isolated keeps a text of others from turning the direction of the words around it.
export function isolated(text) {
	const clear = shown(text);
	return turns.test(clear) ? `\u2068${clear}\u2069` : clear;
}

// turns are the characters that are written from right to left, or make others be.
const turns = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc]/;

// shown is a text of others with the characters spelt out that nobody sees, or that turn it around:
// two names must not look alike. Joiners, variants of signs and the tags of flags stay, and where
// there is nothing else, all are spelt out.
export function shown(text) {
	return nothing.test(text) ? [...text].map(code).join("") : text.replace(unseen, code);
}

const unseen = /(?![\u061c\u180b-\u180d\u200c-\u200f\ufe00-\ufe0f\u{e0020}-\u{e007f}\u{e0100}-\u{e01ef}])\p{Default_Ignorable_Code_Point}|[\u202a-\u202e\u2066-\u2069]/gu;
const nothing = /^[\p{Default_Ignorable_Code_Point}\p{White_Space}]+$/u;
const code = char => `[U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;

// has reports whether there is a text for the key.
export function has(key) { return key in en; }

// duration writes milliseconds as people say them: two units at most.
export function duration(ms) {
	const seconds = Math.max(0, ms) / 1000;
	if (seconds < 10) return t("seconds", { s: (Math.floor(seconds * 10) / 10).toFixed(1) });
	const whole = Math.floor(seconds);
	if (whole < 60) return t("seconds", { s: whole });
	if (whole < 3600) return t("minutes", { m: Math.floor(whole / 60), s: whole % 60 });
	if (whole < 86400) return t("hours", { h: Math.floor(whole / 3600), m: Math.floor(whole % 3600 / 60) });
	return t("days", { d: Math.floor(whole / 86400), h: Math.floor(whole % 86400 / 3600) });
}

// time writes when something was: the time of day, with the date unless that is today.
export function time(iso) {
	const when = new Date(iso);
	return when.toDateString() === new Date().toDateString() ? clock.format(when) : date.format(when);
}

// exact writes a time with its date and zone.
export function exact(iso) { return full.format(new Date(iso)); }

export function count(n) { return number.format(n); }
