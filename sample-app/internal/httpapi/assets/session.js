// The edit lock: it outlives requests, and keeps others from changing a suite while its holder
// thinks. The window keeps the token, and a reload of the page keeps the lock.
import { send, useToken } from './api.js';
import { Emitter, remembered } from './dom.js';
import { notDone } from './problems.js';

/** How long a lock lasts unless it is renewed, and how often the page renews it. */
const lasts = '2m';
const prolongEvery = 40000;
/** How long a lock lasts after its window was closed; a window that is reloaded renews it. */
const afterwards = '15s';
/** When a lock is renewed once more: the first renewal may have had no answer, or have been overtaken by
 * the last request of the previous page, which ends the lock soon. */
const onceMore = 5000;

/** The longest name, in characters: the note of a lock has at most 512 bytes. */
export const maxVisitor = 60;

export const visitor = remembered('localStorage', 'name');

/** Emits "change" when a lock begins or ends, and "lost" when it ended by itself. */
export class Session extends Emitter {
  /** The lock that a page hands on to the next one in its window. It is stored between the two alone: a duplicate of the window copies the storage, and must not find the token there. */
  #handed = remembered('sessionStorage', 'handed');
  /** {plan, suite, name, token, until, fence}, or null. The fence is that of the hold when the token was last
   * good. */
  lock = null;
  #timer = 0;
  #ending = false;

  constructor() {
    super();
    useToken(() => this.lock?.token);
    addEventListener('pagehide', () => this.#handOn());
    addEventListener('pageshow', (e) => { if (e.persisted) this.#takeOver(); });
    this.#takeOver();
  }

  #handOn() {
    const { lock } = this;
    if (!lock) return;
    this.#handed.set(lock);
    send('PUT', `/api/suites/${lock.suite}/lock`, { body: { for: afterwards }, keepalive: true }).catch(() => {});
  }

  #takeOver() {
    const lock = this.#handed.get();
    this.#handed.set(null);
    this.#set(lock);
    if (lock) this.#prolong(onceMore);
  }

  /** Whether this window edits the suite. */
  edits(suite) { return this.lock?.suite === suite; }

  async begin(plan, suite, name, note, key) {
    if (this.lock) await this.end();
    const { token, until } = await send('POST', `/api/suites/${suite}/lock`, { body: { for: lasts, note }, key, lock: null });
    if (this.lock) await this.end(); // it has begun since
    this.#set({ plan, suite, name, token, until });
    this.#later();
  }

  /** Asks whether the lock is still held once another hold is in its place, or none: it may have ended
   * early, and somebody else have taken the suite. */
  look(holds) {
    const { lock } = this;
    if (!lock || this.#ending || !holds.known) return;
    const fence = holds.detached(lock.suite)?.fence;
    if (fence ? fence === lock.fence : !holds.complete) return;
    this.lock = { ...lock, fence };
    this.#prolong();
  }

  async end(key) {
    const { suite, token } = this.lock ?? {};
    if (!token) return;
    this.#ending = true;
    try {
      await send('DELETE', `/api/suites/${suite}/lock`, { key });
    } catch (refusal) {
      if (!notDone(refusal)) throw refusal;
    } finally {
      this.#ending = false;
    }
    if (this.lock?.token === token) this.#set(null); // another one may have begun since
  }

  /** Forgets a lock that has ended. */
  drop() {
    if (!this.lock) return;
    const lock = this.lock;
    this.#set(null);
    this.emit('lost', lock);
  }

  async #prolong(again = prolongEvery) {
    const lock = this.lock;
    try {
      const { until } = await send('PUT', `/api/suites/${lock.suite}/lock`, { body: { for: lasts }, lock: lock.token });
      if (this.lock?.token === lock.token) this.#set({ ...this.lock, until }, true);
    } catch (refusal) {
      if (this.lock?.token !== lock.token) return;
      if (notDone(refusal)) {
        if (this.#ending) this.#set(null); // the refusal has come before the answer to the end
        else this.drop();
        return;
      }
      again = onceMore;
    }
    this.#later(again);
  }

  #later(time = prolongEvery) {
    clearTimeout(this.#timer);
    if (this.lock) this.#timer = setTimeout(() => this.#prolong(), time);
  }

  #set(lock, silently) {
    clearTimeout(this.#timer);
    this.lock = lock;
    if (!silently) this.emit('change');
  }
}
