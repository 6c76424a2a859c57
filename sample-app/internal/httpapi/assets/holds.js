// Who holds what in the plan, by suite.
import { Emitter } from './dom.js';

export class Holds extends Emitter {
  /** False while nobody says who holds what. */
  known = false;
  /** False where there are holds beyond those that are listed. */
  complete = false;
  holders = [];
  #bySuite = new Map();
  /** The server's clock less the page's, in milliseconds. */
  #ahead = 0;

  set({ now, locks }) {
    if (now) this.#ahead = Date.parse(now) - Date.now();
    this.known = Boolean(locks);
    this.complete = this.known && !locks.truncated;
    this.holders = locks?.holders ?? [];
    const all = this.holders.flatMap((hold) => hold.claims.map((claim) => ({ hold, claim })));
    this.#bySuite = Map.groupBy(all, ({ claim }) => claim.suite_id);
    this.emit('change');
  }

  clear() { this.set({ locks: null }); }

  /** Now, by the server's clock. */
  now() { return Date.now() + this.#ahead; }

  /** The hold of the whole plan. */
  gate() { return this.holders.find((hold) => hold.gate) ?? null; }

  /** The hold that is in the way of a change of the suite itself: on it, or on one above it. */
  over(tree, id) {
    for (const at of tree.upwards(id)) {
      const found = this.#bySuite.get(at)?.find(({ claim }) => claim.exact && (claim.mode === 'X' || at === id));
      if (found) return { hold: found.hold, at, own: at === id };
    }
    return null;
  }

  /** The hold on a suite below one: nobody else can have the whole of it. A hold that lasts comes first. */
  below(tree, id) {
    let found = null;
    for (const [at, all] of this.#bySuite) {
      const here = at !== id && all.find(({ claim }) => claim.exact);
      if (here && (!found || here.hold.detached && !found.hold.detached) && tree.contains(id, at)) found = { hold: here.hold, at };
    }
    return found;
  }

  /** The hold of the suite itself that outlives requests. */
  detached(id) { return this.#bySuite.get(id)?.find(({ hold, claim }) => hold.detached && claim.exact && claim.mode === 'X')?.hold; }
}
