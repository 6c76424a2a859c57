// The edit lock: it outlives requests, and keeps others from changing a suite while its holder
// thinks. The window keeps the token, and a reload of the page keeps the lock.
import { send, useToken } from './api.js';
import { Emitter, remembered } from './dom.js';
import { notDone } from './problems.js';

/** How long a lock lasts that nobody prolongs, and how often the page does that. */
const lasts = '2m';
const prolongEvery = 40000;
/** How long a lock lasts after its window was closed; a window that is reloaded prolongs it. */
const afterwards = '15s';
/** When a lock is prolonged once more: the first time may have had no answer, or the word of the page
 * before, which ends it soon, have come late. */
const onceMore = 5000;

/** How long a request for a lock whose answer was lost in a reload is worth being sent again, and how
 * often that is tried while the first is still running. */
const worth = 100000;
const again = 500;

/** The longest name, in characters: the note of a lock has at most 512 bytes. */
export const maxVisitor = 60;

export const visitor = remembered('localStorage', 'name');

/** Emits "change" when a lock begins or ends, and "lost" when it ended by itself. */
export class Session extends Emitter {
  /** What a page hands on to the next one in its window: {lock, asked}. It is stored between the two
   * alone: a duplicate of the window copies the storage, and must not find the token there. */
  #handed = remembered('sessionStorage', 'handed');
  /** {plan, suite, name, token, until}, or null. */
  lock = null;
  /** The request for a lock that has no answer yet: {plan, suite, name, note, key, asked}. */
  #asked = null;
  #timer = 0;
  #ending = false;

  constructor() {
    super();
    useToken(() => this.lock?.token);
    addEventListener('pagehide', () => this.#handOn());
    addEventListener('pageshow', (e) => { if (e.persisted) this.#takeOver(); });
    this.#takeOver();
    this.#resume();
  }

  #handOn() {
    const { lock } = this;
    if (!lock && !this.#asked) return;
    this.#handed.set({ lock, asked: this.#asked });
    if (lock) send('PUT', `/api/suites/${lock.suite}/lock`, { body: { for: afterwards }, keepalive: true }).catch(() => {});
  }

  #takeOver() {
    const { lock = null, asked = null } = this.#handed.get() ?? {};
    this.#handed.set(null);
    this.#asked = asked;
    this.#set(lock);
    if (lock) this.#prolong(onceMore);
  }

  /** Whether this window edits the suite. */
  edits(suite) { return this.lock?.suite === suite; }

  async begin(plan, suite, name, note, key) {
    if (this.lock) await this.end();
    await this.#ask({ plan, suite, name, note, key, asked: Date.now() });
  }

  async #ask(request) {
    const { plan, suite, name, note, key } = request;
    this.#asked = request;
    try {
      const { token, until } = await send('POST', `/api/suites/${suite}/lock`, { body: { for: lasts, note }, key, lock: null });
      this.#set({ plan, suite, name, token, until });
    } catch (refusal) {
      if (notDone(refusal)) this.#asked = null;
      throw refusal;
    }
    this.#asked = null;
    this.#later();
  }

  /** The page was reloaded before the answer came: the lock may be held, and nobody have its token.
   * The same key gets the same answer. */
  async #resume() {
    for (let request = this.#asked; request && Date.now() - request.asked < worth && !this.lock; request = this.#asked) {
      try {
        await this.#ask(request);
        this.#prolong(); // the answer is that of the first request, and so is its end
        return;
      } catch (refusal) {
        if (notDone(refusal)) return;
      }
      await new Promise((resolve) => { setTimeout(resolve, again); });
    }
    this.#asked = null;
  }

  /** Looks whether the lock is still among those that are held: an operator may have taken it. */
  look(holds) {
    const { lock } = this;
    if (lock && !this.#ending && holds.known && !holds.holdsDetached(lock.suite)) this.#prolong();
  }

  async end() {
    const { suite, token } = this.lock ?? {};
    if (!token) return;
    this.#ending = true;
    try {
      await send('DELETE', `/api/suites/${suite}/lock`);
    } catch (refusal) {
      if (!notDone(refusal)) throw refusal;
    } finally {
      this.#ending = false;
    }
    this.#set(null);
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
      if (this.lock?.token === lock.token) this.#set({ ...lock, until }, true);
    } catch (refusal) {
      if (this.lock?.token !== lock.token) return;
      if (notDone(refusal)) {
        this.drop();
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
