// Carrying out what somebody asked for. A refusal stays on the page until it is tried again, has
// waited its turn, or is dismissed.
import { newKey } from './api.js';
import { t } from './i18n.js';
import * as notices from './notices.js';
import { mayRepeat, mayWait, notDone, reason } from './problems.js';

/** How long a waiting action goes without news of the locks before it tries by itself. */
const tryAnyway = 10000;

export class Actions {
  #holds;
  #session;
  #waiting = new Set();
  #turns = new Set();
  /** Suites of which something is under way, and what: words, or ''. */
  busy = new Map();
  onbusy = () => {};

  /** where(refusal) names the suite that the holder in the way has, or null. */
  constructor(holds, session, where) {
    this.#holds = holds;
    this.#session = session;
    this.where = where;
    holds.on('change', () => {
      for (const turn of [...this.#waiting]) turn.look();
      for (const turn of this.#turns) turn.tell();
    });
  }

  /** Carries out an action and resolves with the answer, or null if it was given up.
   *
   * title says what is done; send(key) does it; then(answer) shows it; ok is what to say then; suite is
   * the one that shows it meanwhile, with the words of under; ends says that the action is done where
   * there is nothing to do it to. */
  run(action) {
    return new Promise((resolve) => {
      const turn = new Turn(this, action, (answer) => {
        this.#turns.delete(turn);
        resolve(answer);
      });
      this.#turns.add(turn);
      turn.go();
    });
  }

  mark(action, on) {
    if (!action.suite) return;
    if (on) this.busy.set(action.suite, action.under ?? '');
    else this.busy.delete(action.suite);
    this.onbusy();
  }

  get holds() { return this.#holds; }
  get session() { return this.#session; }
  get waiting() { return this.#waiting; }
}

class Turn {
  #actions;
  #action;
  #resolve;
  #card = null;
  #key = newKey();
  #running = false;
  #refusal = null;
  #where = null; // what the holder in the way has
  #unsure = false; // whether an earlier try may have done it
  #timer = 0;

  constructor(actions, action, resolve) {
    this.#actions = actions;
    this.#action = action;
    this.#resolve = resolve;
  }

  async go() {
    if (this.#running) return;
    this.#running = true;
    clearTimeout(this.#timer);
    this.#actions.mark(this.#action, true);
    try {
      const answer = await this.#action.send(this.#key).catch((refusal) => {
        if (this.#action.ends && this.#unsure && refusal.status === 404) return {};
        throw refusal;
      });
      this.#finish(answer);
      this.#action.then?.(answer);
      if (this.#action.ok) notices.done(this.#action.ok, this.#action.undo?.(answer));
    } catch (refusal) {
      if (!('status' in refusal)) {
        this.#finish(null);
        throw refusal;
      }
      this.#refused(refusal);
    } finally {
      this.#running = false;
      this.#actions.mark(this.#action, false);
    }
  }

  #refused(refusal) {
    this.#refusal = refusal;
    this.#where = null;
    if (!notDone(refusal)) this.#unsure = true;
    if (refusal.kind === 'lock-lost') this.#actions.session.drop();
    // A request that was refused was not carried out: another try is another request. One that may
    // have been keeps its key, so that it is not carried out twice.
    if (notDone(refusal)) this.#key = newKey();
    if (this.#actions.waiting.has(this) && mayWait(refusal)) {
      this.#draw();
      this.#again();
      return;
    }
    this.#actions.waiting.delete(this);
    if (!this.#card?.open) {
      this.#card = notices.refused(this.#action.title, '', []);
      this.#card.onclose = () => this.#giveUp();
    }
    this.#draw();
  }

  #draw() {
    this.#where ??= this.#actions.where(this.#refusal);
    const why = reason(this.#refusal, this.#actions.holds.now(), this.#where);
    if (this.#actions.waiting.has(this)) {
      this.#card.update('wait', why, [{ label: t('stopWaiting'), run: () => this.#stopWaiting() }]);
      return;
    }
    const buttons = [];
    if (mayRepeat(this.#refusal)) buttons.push({ label: t('retry'), kind: 'primary', run: () => this.go() });
    if (mayWait(this.#refusal)) buttons.push({ label: t('wait'), run: () => this.#wait() });
    this.#card.update('bad', why, buttons);
  }

  /** What the holder has may be told after the refusal, and is gone once it is released. */
  tell() {
    if (this.#card?.open && this.#refusal && !this.#where && this.#actions.where(this.#refusal)) this.#draw();
  }

  #wait() {
    this.#actions.waiting.add(this);
    this.#draw();
    this.look();
    this.#again();
  }

  #stopWaiting() {
    this.#actions.waiting.delete(this);
    clearTimeout(this.#timer);
    this.#draw();
  }

  /** The turn may have come: the locks have changed. */
  look() {
    const path = this.#refusal.problem.path ?? '/';
    if (this.#actions.holds.known && !this.#actions.holds.busy(path, this.#actions.session.lock?.suite)) this.go();
  }

  #again() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.go(), tryAnyway);
  }

  #giveUp() {
    this.#actions.waiting.delete(this);
    clearTimeout(this.#timer);
    this.#resolve(null);
  }

  #finish(answer) {
    this.#actions.waiting.delete(this);
    this.#resolve(answer);
    if (this.#card) {
      this.#card.onclose = null;
      this.#card.close();
    }
    if (answer !== null) notices.overcome(this.#action.title);
  }
}
