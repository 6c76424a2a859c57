// The chosen suite: where it is, who has it, and its cases.
import { get, outcome } from './api.js';
import { CaseList } from './caselist.js';
import { h, once, text } from './dom.js';
import { ago, clock, t } from './i18n.js';
import { doing } from './problems.js';

export class Detail {
  #app;
  #element;
  #suite = 0;
  #parts = {};
  #cases;
  #asked = 0;

  constructor(element, app) {
    this.#element = element;
    this.#app = app;
    this.#cases = new CaseList(app);
  }

  /** Shows a suite, from scratch if it is another one. */
  show(suite, { anew } = {}) {
    if (suite !== this.#suite || anew) {
      this.#suite = suite;
      this.#build();
      this.#cases.begin(suite);
      this.loadCases();
    }
    this.update();
  }

  #build() {
    const app = this.#app, ops = app.operations, id = () => this.#suite;
    const node = () => ({ kind: 'suite', id: id(), name: app.nameOf(id()), parent: app.tree.parent(id()) });
    const p = this.#parts = {
      title: h('h1', {}),
      lock: h('div', { class: 'lock-card', role: 'status' },
        h('div', {}, h('strong', {}), h('p', {})), h('button', { type: 'button', onclick: () => p.lock.run() })),
    };
    const button = (key, run, kind = '') => h('button', { type: 'button', class: kind, onclick: run, 'data-do': key }, t(key));
    const isRoot = this.#suite === app.tree.root;
    const buttons = h('div', { class: 'buttons' },
      button('newSuite', () => ops.create(id())),
      isRoot ? null : [
        button('rename', () => ops.rename(id())), button('move', () => ops.place(node(), false)),
        button('copy', () => ops.place(node(), true)), button('remove', () => ops.remove(node()), 'danger'),
      ]);
    this.#element.replaceChildren(
      h('button', { type: 'button', class: 'quiet back', onclick: () => app.showScreen('tree') }, '‹ ', t('back')),
      p.title, p.lock, buttons, this.#cases.element);
  }

  /** Brings what is shown up to date, and leaves what somebody is writing. */
  update() {
    const { tree, session, holds, operations } = this.#app, p = this.#parts, id = this.#suite, now = holds.now();
    if (!tree.has(id)) return;
    text(p.title, this.#app.nameOf(id));
    const over = holds.over(tree, id), mine = session.edits(id), found = mine ? null : over ?? holds.below(tree, id);
    let kind = 'free', title = '', more = t(holds.complete ? 'lock.free' : holds.known ? 'lock.cut' : 'lock.unknown'), action = { key: 'edit', run: () => operations.edit(id) };
    if (mine) {
      kind = 'mine';
      title = t('lock.mine');
      more = holds.known ? t('lock.mineMore', { name: this.#app.nameOf(id), since: clock(over ? Date.parse(over.hold.since) : now, now) })
        : t('lock.mineUnknown', { until: clock(Date.parse(session.lock.until), now) });
      action = { key: 'done', run: () => operations.done() };
    } else if (found && !session.edits(found.at)) {
      kind = 'theirs';
      const since = Date.parse(found.hold.since), until = clock(Date.parse(found.hold.until), now);
      const values = { name: this.#app.nameOf(found.at), what: doing(found.hold.what), since: clock(since, now), ago: ago(since, now), until };
      title = over?.own ? values.what : t('lock.short');
      more = t(over?.own ? 'lock.theirsMore' : over ? 'lock.above' : 'lock.below', values);
    }
    p.lock.dataset.kind = kind;
    const [words, button] = p.lock.children;
    text(words.firstChild, title);
    words.firstChild.hidden = !title;
    text(words.lastChild, more);
    text(button, t(action.key));
    button.className = action.key === 'edit' && kind === 'theirs' ? '' : 'primary';
    button.dataset.do = action.key;
    p.lock.run = action.run;
  }

  /** Reads the cases again, unless an answer is due: questions must not pile up on a slow line. */
  askCases = once(() => this.loadCases());

  /** Reads the cases again. */
  async loadCases() {
    const suite = this.#suite, asked = ++this.#asked;
    if (!suite) return;
    const [answer, refusal] = await outcome(get(`/api/suites/${suite}/cases`));
    if (asked !== this.#asked) return;
    if (answer) this.#cases.set(answer.cases);
    else if (refusal.status !== 404) this.#cases.miss(); // the tree tells that the suite is gone
  }
}
