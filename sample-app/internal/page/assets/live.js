// News of a plan: server-sent events, and questions where something swallows those.
import { address, get } from './api.js';
import { Emitter } from './dom.js';

/** How long a stream may be silent: at its beginning, and between the server's pings. */
const firstSign = 4000;
const signOfLife = 35000;
const askEvery = 3000;
/** How long after its closure a stream is opened again, and a hidden window keeps its own. */
const openAgain = 20000;
const hiddenTime = 60000;

/** Emits "changed" with a revision, "locks", "gone" and "state": live, asking or away. */
export class Live extends Emitter {
  state = '';
  #plan = 0;
  #source = null;
  #timers = new Map();

  constructor() {
    super();
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden') this.#after('hide', hiddenTime, () => this.#disconnect());
      else {
        this.#cancel('hide');
        if (this.#plan && !this.#source) this.#connect();
      }
    });
    addEventListener('online', () => this.#plan && this.watch(this.#plan));
    addEventListener('offline', () => this.#plan && this.#ask());
  }

  watch(plan) {
    this.#disconnect();
    this.#plan = plan;
    if (plan) this.#connect();
  }

  #connect() {
    const source = new EventSource(address(`/api/plans/${this.#plan}/events`));
    this.#source = source;
    const on = (event, use) => source.addEventListener(event, (e) => {
      if (source !== this.#source) return;
      this.#alive();
      use?.(JSON.parse(e.data));
    });
    on('changed', (data) => this.emit('changed', data.revision));
    on('locks', (data) => this.emit('locks', data));
    on('ping');
    on('gone', () => { this.watch(0); this.emit('gone'); });
    source.addEventListener('error', () => {
      if (source !== this.#source) return;
      this.#ask();
      if (source.readyState === EventSource.CLOSED) this.#after('open', openAgain, () => this.watch(this.#plan));
    });
    this.#after('silent', firstSign, () => this.#ask());
  }

  #disconnect() {
    this.#source?.close();
    this.#source = null;
    for (const name of [...this.#timers.keys()]) this.#cancel(name);
  }

  /** An event has come. */
  #alive() {
    this.#cancel('ask');
    this.#after('silent', signOfLife, () => this.#ask());
    this.#become('live');
  }

  /** Asks until an event comes. */
  async #ask() {
    const plan = this.#plan;
    this.#after('ask', askEvery, () => this.#ask());
    try {
      const answer = await get(`/api/plans/${plan}/locks`);
      if (plan !== this.#plan || !this.#timers.has('ask')) return;
      this.#become('asking');
      this.emit('locks', { now: answer.now, locks: answer });
      this.emit('changed', answer.revision);
    } catch (refusal) {
      if (plan !== this.#plan || !this.#timers.has('ask')) return;
      if (refusal.status === 404) {
        this.watch(0);
        this.emit('gone');
        return;
      }
      this.#become(refusal.unanswered ? 'away' : 'asking');
      this.emit('locks', { locks: null });
    }
  }

  #become(state) {
    if (this.state === state) return;
    this.state = state;
    this.emit('state', state);
  }

  #after(name, time, then) {
    this.#cancel(name);
    this.#timers.set(name, setTimeout(() => { this.#timers.delete(name); then(); }, time));
  }

  #cancel(name) {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }
}
