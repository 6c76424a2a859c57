// Carrying out what somebody asked for. An action is in one of these states:
//
//   typed     it was not sent yet, or somebody has thrown it away
//   sending   its answer is due; a card says so if that takes long
//   refused   a card says why, and offers another try
//   waiting   others are in the way, and it is sent again by itself
//   done
//
// A refusal stays on the page until its own action is done, or somebody dismisses it.
import { newKey, Refusal } from './api.js';
import { t } from './i18n.js';
import * as notices from './notices.js';
import { mayRepeat, mayWait, notDone, reason } from './problems.js';

/** How long after a refusal a waiting action is sent again. It then waits in the server's queue. */
const pause = 1000;
/** How long an answer may take before the page says that it is due. */
const soon = 700;

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

export class Actions {
  #holds;
  #session;
  #known = new Map(); // those that are neither done nor thrown away, by what they are about

  constructor(holds, session) {
    this.#holds = holds;
    this.#session = session;
  }

  /** Whether something that somebody has typed is neither saved nor thrown away. */
  get unsaved() { return [...this.#known.values()].some(({ typed, change }) => typed || change); }

  /** Whether something was asked for here, and may have been carried out without an answer so far. */
  mayHaveDone(about) { return this.#known.get(about)?.sent ?? false; }

  /** Carries out an action and resolves with the answer, or null if it was given up: see prepare. */
  run(action) { return (this.#known.get(action.about) ?? this.prepare(action)).go(); }

  /** An action that is carried out by go, as often as it is refused. go resolves with the answer, or
   * null where the action was given up, or where what is typed is not what was saved.
   *
   * title says what is done; about tells it from others, and is left out where nobody can ask for
   * the same twice; typed() is what is typed now, where that can change while the action is refused;
   * send(key, typed) does it; then(answer) shows it, and may take its time; ok is what to say then;
   * change lets somebody change what they typed before. */
  prepare({ title, about = {}, typed, send, then, ok, undo, change }) {
    let state = 'typed', waits = false, dropped = false, card = null, refusal = null, timer = 0, ended = null;
    let open = null; // the key and the text of a request that may have been carried out
    const become = (next) => {
      state = next;
      clearTimeout(timer);
      if (state === 'waiting') {
        // It is not sent in the middle of a word.
        const before = typed?.();
        timer = setTimeout(() => (same(before, typed?.()) ? attempt() : become('waiting')), pause);
      }
      if (state === 'sending' && !card) timer = setTimeout(draw, soon);
      else draw();
    };
    const draw = () => {
      if (!card?.open) {
        card = notices.refused(title, '', []);
        card.onclose = () => {
          waits = false;
          if (state !== 'sending') end(null);
        };
      }
      const stop = { label: t('stopWaiting'), run: () => { waits = false; become(state === 'sending' ? state : 'refused'); } };
      if (waits) card.update('wait', reason(refusal, this.#holds.now()), [stop]);
      else if (state === 'sending') card.update('wait', t('underWay'), []);
      else {
        card.update('bad', reason(refusal, this.#holds.now()), [
          mayRepeat(refusal) && { label: t('retry'), kind: 'primary', run: attempt },
          mayWait(refusal) && { label: t('wait'), run: () => { waits = true; become('waiting'); } },
          change && notDone(refusal) && { label: t('change'), run: () => { card.close(); change(); } },
        ].filter(Boolean));
      }
    };
    const end = (answer) => {
      state = 'typed';
      waits = false;
      clearTimeout(timer);
      this.#known.delete(about);
      const was = card;
      card = null;
      if (was) {
        was.onclose = null;
        was.close();
      }
      ended?.resolve(answer);
      ended = null;
    };
    const attempt = async () => {
      if (state === 'sending') return;
      become('sending');
      try {
        // A request that may have been carried out keeps its key, so that it is not carried out twice.
        // Text that was typed since is another request, which must not be overtaken by that one.
        if (open && !same(open.typed, typed?.())) {
          await send(open.key, open.typed);
          open = null;
        }
        const request = open ??= { key: newKey(), typed: typed?.() };
        const answer = await send(request.key, request.typed);
        open = null;
        await then?.(answer);
        end(same(request.typed, typed?.()) ? answer : null);
        if (ok) notices.done(ok, undo?.(answer));
      } catch (why) {
        if (!(why instanceof Refusal)) {
          end(null);
          throw why;
        }
        refusal = why;
        if (why.kind === 'lock-lost') this.#session.drop();
        if (notDone(why)) open = null;
        waits &&= mayWait(why);
        if (dropped) end(null);
        else become(waits ? 'waiting' : 'refused');
      }
    };
    const action = {
      typed, change,
      get sent() { return open !== null; },
      go: () => {
        this.#known.set(about, action);
        ended ??= Promise.withResolvers();
        attempt();
        return ended.promise;
      },
      /** Gives it up. What has been sent may still be carried out, and is told if it is. */
      drop: () => {
        dropped = true;
        if (state !== 'typed' && state !== 'sending') end(null);
      },
    };
    return action;
  }
}
