// Carrying out what somebody asked for. A refusal stays on the page until it is tried again, has
// waited its turn, or is dismissed.
import { newKey } from './api.js';
import { t } from './i18n.js';
import * as notices from './notices.js';
import { mayRepeat, mayWait, notDone, reason } from './problems.js';

/** How long after a refusal a waiting action is sent again. It then waits in the server's queue. */
const pause = 1000;

export class Actions {
  #holds;
  #session;

  constructor(holds, session) {
    this.#holds = holds;
    this.#session = session;
  }

  /** Carries out an action and resolves with the answer, or null if it was given up.
   *
   * title says what is done; send(key) does it; then(answer) shows it, and may take its time; ok is
   * what to say then. */
  run(action) {
    return new Promise((resolve) => {
      let card = null, refusal = null, key = newKey(), running = false, waiting = false, timer = 0;
      const wait = (on) => {
        waiting = on;
        clearTimeout(timer);
        if (on) timer = setTimeout(go, pause);
      };
      const draw = () => {
        const why = reason(refusal, this.#holds.now());
        if (waiting) {
          card.update('wait', why, [{ label: t('stopWaiting'), run: () => { wait(false); draw(); } }]);
          return;
        }
        const buttons = [];
        if (mayRepeat(refusal)) buttons.push({ label: t('retry'), kind: 'primary', run: go });
        if (mayWait(refusal)) buttons.push({ label: t('wait'), run: () => { wait(true); draw(); } });
        card.update('bad', why, buttons);
      };
      const end = (answer) => {
        wait(false);
        resolve(answer);
        if (card) {
          card.onclose = null;
          card.close();
        }
        if (answer !== null) notices.overcome(action.title);
      };
      const refused = (why) => {
        refusal = why;
        if (why.kind === 'lock-lost') this.#session.drop();
        // A request that was refused was not carried out: another try is another request. One that may
        // have been keeps its key, so that it is not carried out twice.
        if (notDone(why)) key = newKey();
        wait(waiting && mayWait(why));
        if (!card?.open) {
          card = notices.refused(action.title, '', []);
          card.onclose = () => { wait(false); resolve(null); };
        }
        draw();
      };
      const go = async () => {
        if (running) return;
        running = true;
        try {
          const answer = await action.send(key);
          await action.then?.(answer);
          end(answer);
          if (action.ok) notices.done(action.ok, action.undo?.(answer));
        } catch (why) {
          if (!('status' in why)) {
            end(null);
            throw why;
          }
          refused(why);
        } finally {
          running = false;
        }
      };
      go();
    });
  }
}
