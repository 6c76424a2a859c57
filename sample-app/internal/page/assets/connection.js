// The connection to the server, in one of four states, and the news of a plan that come by it:
// server-sent events, and answers to questions where something swallows those.
//
//   connecting   nothing has come yet, or nothing more: nobody knows how things are
//   live         events come
//   asking       no events come, and the server answers
//   away         the server does not answer
import { address, get, onUnanswered } from './api.js';
import { Emitter } from './dom.js';

/** How long a stream may be silent: at its beginning, and between the server's pings. */
const firstSign = 4000;
const signOfLife = 11000;
/** How long after an answer the next question comes, and how long an answer may take. */
const askEvery = 3000;
const answerTime = 4000;
/** How long after its closure a stream is opened again, and a hidden window keeps its own. */
const openAgain = 20000;
const hiddenTime = 60000;

/** Emits "changed" with a revision, "locks", "gone" and "state". */
export class Connection extends Emitter {
  /** connecting, live, asking or away; '' without a plan. */
  state = '';
  /** When the server was last heard of. */
  heard = 0;
  /** Why a server that answers does not know who holds what: the kind of its refusal, or ''. */
  trouble = '';
  #plan = 0;
  #source = null;
  #question = null;
  /** Whether the page has forgotten news that the stream takes for known. A new stream tells all. */
  #missed = false;
  #timers = new Map();

  constructor() {
    super();
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden') this.#after('hide', hiddenTime, () => this.#disconnect());
      else {
        this.#cancel('hide');
        if (this.#plan && !this.#source) this.watch(this.#plan);
      }
    });
    addEventListener('online', () => this.#plan && this.watch(this.#plan));
    addEventListener('offline', () => this.#plan && this.#doubt());
    onUnanswered(() => { if (this.state === 'live') this.#doubt(); });
  }

  /** Whether the server answers, as far as is known. */
  get up() { return this.state === 'live' || this.state === 'asking'; }

  watch(plan) {
    this.#disconnect();
    this.#plan = plan;
    this.#become(plan ? 'connecting' : '');
    if (plan) this.#connect();
  }

  #connect() {
    this.#missed = false;
    const source = new EventSource(address(`/api/plans/${this.#plan}/events`));
    this.#source = source;
    const on = (event, use) => source.addEventListener(event, (e) => {
      if (source === this.#source) this.#alive();
      if (source === this.#source) use?.(JSON.parse(e.data));
    });
    on('changed', (data) => this.emit('changed', data.revision));
    on('locks', (data) => this.#locks(data, data.locks ? '' : 'lock-store-unavailable'));
    on('ping');
    on('gone', () => this.#gone());
    source.addEventListener('error', () => {
      if (source !== this.#source) return;
      this.#doubt();
      if (source.readyState === EventSource.CLOSED) {
        this.#after('open', openAgain, () => this.#reconnect());
      }
    });
    this.#after('silent', firstSign, () => this.#doubt());
  }

  #reconnect() {
    this.#disconnect();
    this.#connect();
  }

  #disconnect() {
    this.#source?.close();
    this.#source = null;
    this.#question = null;
    for (const name of [...this.#timers.keys()]) this.#cancel(name);
  }

  /** An event has come. */
  #alive() {
    if (this.#missed) this.#reconnect();
    else {
      this.#question = null;
      this.#cancel('ask');
      this.#after('silent', signOfLife, () => this.#doubt());
      this.#become('live');
    }
  }

  /** No event has come for too long, or a request has had no answer. */
  #doubt() {
    if (this.state === 'live') {
      this.#become('connecting');
      this.#missed = true;
    }
    if (!this.#question) this.#ask();
  }

  /** Asks until an event comes. */
  async #ask() {
    const question = this.#question = {};
    this.#cancel('ask');
    let answer = null, refusal = null;
    try {
      answer = await get(`/api/plans/${this.#plan}/locks`, { time: answerTime });
    } catch (failure) {
      if (!('status' in failure)) throw failure;
      refusal = failure;
    }
    if (question !== this.#question) return;
    if (refusal?.status === 404) {
      this.#gone();
      return;
    }
    this.#after('ask', askEvery, () => this.#ask());
    // An answer that is not the app's is that of a proxy.
    const away = refusal && (refusal.unanswered || refusal.status >= 500 && refusal.kind === 'unknown');
    this.#become(away ? 'away' : 'asking');
    if (!away) this.#locks({ now: answer?.now, locks: answer }, refusal?.kind ?? '');
    if (answer) this.emit('changed', answer.revision);
  }

  #gone() {
    this.watch(0);
    this.emit('gone');
  }

  #locks(news, trouble) {
    this.trouble = trouble;
    this.emit('locks', news);
  }

  #become(state) {
    if (state === 'live' || state === 'asking') this.heard = Date.now();
    if (this.state === state) return;
    this.state = state;
    if (state === 'connecting' || state === 'away') this.#locks({ locks: null }, '');
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
