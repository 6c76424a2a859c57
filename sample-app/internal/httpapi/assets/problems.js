// What a refusal means, in words.
import { ago, clock, has, t } from './i18n.js';

/** The note of somebody who edits. Notes are English in the lock store, whatever language the writer has. */
export const noteOf = (name) => name + editing;
const editing = ' is editing';

/** What a holder does: its note, or a translation if the note is one of the app's own. */
export function doing(note) {
  if (!note) return t('unnamed');
  if (note.endsWith(editing)) return t('note', { name: note.slice(0, -editing.length) });
  return has('op.' + note) ? t('op.' + note) : note;
}

/** Whether the request may succeed if it is simply sent again. */
export const mayRepeat = (refusal) => refusal.unanswered || [408, 423, 429, 502, 503, 504].includes(refusal.status)
  || ['path-changed', 'lock-lost'].includes(refusal.kind) || inFlight(refusal);

/** Whether others hold what it needs, so that it can wait its turn. */
export const mayWait = (refusal) => refusal.status === 423;

/** Whether the same request is still being carried out. */
export const inFlight = (refusal) => refusal.kind === 'idempotency-key-in-use';

/** Whether the request was not carried out, and will not be. A proxy answers 5xx for a server that may
 * still be at it. */
export const notDone = (refusal) => refusal.status >= 400 && refusal.status < 500 && !inFlight(refusal);

/** A sentence that says why. A refusal names what was asked for, which may be above what others hold. */
export function reason(refusal, now) {
  const { problem } = refusal;
  if (inFlight(refusal)) return t('err.inFlight');
  const key = 'err.' + refusal.kind;
  if (refusal.kind !== 'locked') return t(has(key) ? key : 'err.unknown', { detail: refusal.message });
  const holder = problem.holder;
  if (!holder) return t('err.busy');
  const since = Date.parse(holder.since), until = Date.parse(holder.until);
  const values = { who: doing(holder.what), path: problem.path ?? '/' };
  if (holder.waiting) return t('err.queued', values);
  if (!since || !until) return t('err.lockedShort', values);
  return t('err.locked', { ...values, since: clock(since, now), ago: ago(since, now), until: clock(until, now) });
}
