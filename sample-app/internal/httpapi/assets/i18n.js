// The page's words.
import { remembered } from './dom.js';
import en from './en.json' with { type: 'json' };
import zh from './zh.json' with { type: 'json' };

const stored = remembered('localStorage', 'language');
const dictionaries = { en, 'zh-CN': zh };

const spoken = (tag) => Object.keys(dictionaries).find((known) => tag?.slice(0, 2).toLowerCase() === known.slice(0, 2));

let language = [stored.get(), ...navigator.languages].map(spoken).find(Boolean) ?? 'en';
export const lang = () => language;
/** The language as the visitor's region writes it. */
const locale = () => navigator.languages.find((l) => l.toLowerCase().startsWith(language.slice(0, 2))) ?? language;

export function setLanguage(to) {
  language = to;
  stored.set(to);
}

/** The text for a key. Words in braces stand for values. */
export function t(key, values = {}) {
  const words = dictionaries[language];
  const text = (values.count === 1 && words[key + '.one']) || (words[key] ?? en[key] ?? key);
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
}

/** Whether there is a text. */
export const has = (key) => key in en;

/** Fills in the texts of elements that name theirs. */
export function translate(root = document) {
  document.documentElement.lang = language;
  for (const element of root.querySelectorAll('[data-t]')) element.textContent = t(element.dataset.t);
  for (const element of root.querySelectorAll('[data-t-label]')) {
    element.setAttribute('aria-label', t(element.dataset.tLabel));
    element.title = t(element.dataset.tLabel);
  }
  for (const element of root.querySelectorAll('[data-t-placeholder]')) element.placeholder = t(element.dataset.tPlaceholder);
}

/** A time of the day, with the day if it is another one. */
export function clock(when, now = Date.now()) {
  const options = { hour: '2-digit', minute: '2-digit' };
  if (new Date(when).toDateString() !== new Date(now).toDateString()) Object.assign(options, { month: 'short', day: 'numeric' });
  return new Intl.DateTimeFormat(locale(), options).format(when);
}

/** How long ago, in the largest unit: "3 min". */
export function ago(when, now) {
  const seconds = Math.max(0, Math.round((now - when) / 1000));
  const [value, unit] = seconds < 60 ? [seconds, 'second'] : seconds < 3600 ? [Math.floor(seconds / 60), 'minute']
    : seconds < 86400 ? [Math.floor(seconds / 3600), 'hour'] : [Math.floor(seconds / 86400), 'day'];
  return new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'short' }).format(value);
}
