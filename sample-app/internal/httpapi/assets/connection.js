// The connection to the server, in one of three states, and the news of a plan, for which the page
// asks again and again.
//
//   connecting   nothing has come yet
//   live         the server answers
//   away         it does not
import { get, outcome } from './api.js';
import { Emitter } from './dom.js';

/** How long after an answer the next question comes, and how long an answer may take. */
const askEvery = 1000;
const answerTime = 4000;

/** Emits "changed" with a revision, "locks", "asked", "gone" and "state". */
export class Connection extends Emitter {
  /** connecting, live or away; '' without a plan. */
  state = '';
  /** When the server was last heard of. */
  heard = 0;
  /** Why a server that answers does not know who holds what: the kind of its refusal, or ''. */
  trouble = '';
  #plan = 0;
  #question = null;
  #timer = 0;

  constructor() {
    super();
    document.addEventListener('visibilitychange', () => this.#ask());
    addEventListener('online', () => this.#ask());
  }

  watch(plan) {
    this.#plan = plan;
    this.#become(plan ? 'connecting' : '');
    this.#ask();
  }

  /** Asks now, and then again and again while somebody looks. */
  async #ask() {
    clearTimeout(this.#timer);
    const question = this.#question = {};
    if (!this.#plan || document.hidden) return;
    const [answer, refusal] = await outcome(get(`/api/plans/${this.#plan}/locks`, { time: answerTime }));
    if (question !== this.#question) return;
    if (refusal?.status === 404) {
      this.watch(0);
      this.emit('gone');
      return;
    }
    this.#timer = setTimeout(() => this.#ask(), askEvery);
    // An answer that is not the app's is that of a proxy.
    const away = refusal && (refusal.unanswered || refusal.status >= 500 && refusal.kind === 'unknown');
    this.#become(away ? 'away' : 'live');
    if (!away) {
      this.trouble = refusal?.kind ?? '';
      this.emit('locks', { now: answer?.now, locks: answer });
    }
    if (answer) {
      this.emit('changed', answer.revision);
      this.emit('asked');
    }
  }

  #become(state) {
    if (state === 'live') this.heard = Date.now();
    if (this.state === state) return;
    this.state = state;
    if (state !== 'live') {
      this.trouble = '';
      this.emit('locks', { locks: null });
    }
    this.emit('state', state);
  }
}
