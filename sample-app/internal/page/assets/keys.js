// What the keys of the tree do to the chosen suite, but for moving about in it.
import { $ } from './dom.js';
import { t } from './i18n.js';
import * as notices from './notices.js';

export class Keys {
  #app;
  #marked = null; // what is to be put elsewhere: {id, copies}

  constructor(app) { this.#app = app; }

  /** Whether a suite is marked to be moved. */
  cuts(id) { return this.#marked?.id === id && !this.#marked.copies; }

  press(key, id) {
    const ops = this.#app.operations;
    const does = {
      x: () => this.#mark(id, false), c: () => this.#mark(id, true), v: () => this.#put(id),
      Insert: () => ops.create(id), Delete: () => ops.remove(id), Enter: () => this.#open(), ContextMenu: () => this.#open(),
      Escape: () => { this.#marked = null; this.#app.view.draw(); },
    };
    does[key]?.();
  }

  #open() {
    this.#app.showScreen('detail');
    $('detail').focus();
  }

  #mark(id, copies) {
    if (id === this.#app.tree.root) return;
    this.#marked = { id, copies };
    this.#app.view.draw();
    notices.say(t(copies ? 'copied' : 'cut', { name: this.#app.nameOf(id) }));
  }

  #put(to) {
    const marked = this.#marked;
    if (!marked || !this.#app.tree.has(marked.id)) return;
    this.#marked = null;
    if (marked.copies) this.#app.operations.copy(marked.id, to);
    else this.#app.operations.move(marked.id, to);
  }
}
