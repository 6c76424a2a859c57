// Text that people wrote, as the page shows it: it turns none of the page's own words around, and no
// part of it is unseen.

/** What begins and ends a piece of text that has a direction of its own. dom.js makes it an element. */
const begins = '\u2068', ends = '\u2069';

/** Characters that show nothing, but for those that others need: joiners, marks of direction, variants
 * of signs, and the tags of flags. */
const unseen = /(?![\u061c\u180b-\u180d\u200c-\u200f\ufe00-\ufe0f\u{e0020}-\u{e007f}\u{e0100}-\u{e01ef}])\p{Default_Ignorable_Code_Point}|[\u202a-\u202e\u2066-\u2069]/gu;
const nothing = /^[\p{Default_Ignorable_Code_Point}\p{White_Space}]+$/u;

const code = (c) => `[U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`;

/** A text with its unseen characters spelt out: all of them where there is nothing else. */
export function shown(text) { return nothing.test(text) ? [...text].map(code).join('') : text.replace(unseen, code); }

/** A text that stands among the page's own words. */
export const isolated = (text) => begins + shown(text) + ends;

/** The pieces of a sentence, every second of which is isolated. */
export const pieces = (sentence) => sentence.split(/\u2068([^\u2069]*)\u2069/);

/** A sentence without the marks of its pieces. */
export const plain = (sentence) => pieces(sentence).join('');
