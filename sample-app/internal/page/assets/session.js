// The edit lock: it outlives requests, and keeps others from changing a suite while its holder
// thinks. The window keeps the token, and a reload of the page keeps the lock.
import { send, useToken } from './api.js';
import { Emitter, remembered } from './dom.js';

/** How long a lock lasts that nobody prolongs, and how often the page does that. */
const lasts = '2m';
const prolongEvery = 40000;
/** How long a lock lasts after its window was closed; a window that is reloaded prolongs it. */
const afterwards = '15s';

/** The longest name, in characters: the note of a lock has at most 512 bytes. */
export const maxVisitor = 60;

export const visitor = remembered('localStorage', 'name');

/** Emits "change" when a lock begins or ends, and "lost" when it ended by itself. */
export class Session extends Emitter {
  #stored = remembered('sessionStorage', 'edit');
  /** {plan, suite, name, token, until}, or null. */
  lock = this.#stored.get();
  #timer = 0;

  constructor() {
    super();
    useToken(() => this.lock?.token);
    addEventListener('pagehide', () => this.#shorten());
    addEventListener('pageshow', (e) => { if (e.persisted) this.#prolong(); });
    if (this.lock) this.#prolong();
  }

  /** Whether this window edits the suite. */
  edits(suite) { return this.lock?.suite === suite; }

  async begin(plan, suite, name, note, key) {
    if (this.lock) await this.end();
    const { token, until } = await send('POST', `/api/suites/${suite}/lock`, { body: { for: lasts, note }, key, lock: null });
    this.#set({ plan, suite, name, token, until });
    this.#later();
  }

  async end() {
    const { suite, token } = this.lock ?? {};
    if (!token) return;
    try {
      await send('DELETE', `/api/suites/${suite}/lock`);
    } catch (refusal) {
      if (refusal.unanswered || refusal.status >= 500) throw refusal;
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

  async #prolong() {
    const lock = this.lock;
    try {
      const { until } = await send('PUT', `/api/suites/${lock.suite}/lock`, { body: { for: lasts }, lock: lock.token });
      if (this.lock === lock) this.#set({ ...lock, until }, true);
    } catch (refusal) {
      if (this.lock !== lock) return;
      if (!refusal.unanswered && refusal.status < 500) {
        this.drop();
        return;
      }
    }
    this.#later();
  }

  #later() {
    clearTimeout(this.#timer);
    if (this.lock) this.#timer = setTimeout(() => this.#prolong(), prolongEvery);
  }

  /** The window may be closed for good, or be reloaded. */
  #shorten() {
    if (!this.lock) return;
    send('PUT', `/api/suites/${this.lock.suite}/lock`, { body: { for: afterwards }, keepalive: true }).catch(() => {});
  }

  #set(lock, silently) {
    clearTimeout(this.#timer);
    this.lock = lock;
    this.#stored.set(lock);
    if (!silently) this.emit('change');
  }
}
