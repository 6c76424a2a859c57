// The cases of a suite, one of which may be open.
import { ask, okCancel, validName } from './dialogs.js';
import { h, text } from './dom.js';
import { t } from './i18n.js';
import { refused } from './notices.js';

export class CaseList {
  element = h('section', { class: 'cases' });
  #app;
  #suite = 0;
  #cases = [];
  #list;
  #empty;

  constructor(app) { this.#app = app; }

  /** Shows a suite. */
  begin(suite) {
    this.#suite = suite;
    this.#cases = [];
    this.#list = h('ul', { class: 'case-list' });
    this.#empty = h('p', { class: 'faint late' }, t('casesAsked'));
    const input = h('input', { type: 'text', 'aria-label': t('caseName'), placeholder: t('newCase'), autocomplete: 'off', maxLength: 300 });
    const create = async (e) => {
      e.preventDefault();
      const name = input.value;
      if (!validName(name)) {
        if (name) refused(t('do.createCase', { name }), t('err.badName'), []);
        return;
      }
      input.value = '';
      if (!await this.#app.operations.createCase(suite, name)) input.value ||= name;
    };
    this.element.replaceChildren(h('h2', {}, t('cases')), this.#empty, this.#list,
      h('form', { class: 'add', onsubmit: create }, input, h('button', { type: 'submit' }, t('addCase'))));
  }

  /** The cases could not be read. */
  miss() { if (!this.#cases.length) text(this.#empty, t('casesMissed')); }

  set(cases) {
    this.#cases = cases;
    text(this.#empty, cases.length ? '' : t('noCases'));
    const had = new Map([...this.#list.children].map((item) => [Number(item.dataset.id), item]));
    const items = cases.map((c) => {
      const item = had.get(c.id) ?? this.#item(c.id);
      had.delete(c.id);
      text(item.querySelector('.case-name'), c.name);
      text(item.querySelector('.case-hint'), c.body.split('\n')[0].slice(0, 120));
      text(item.querySelector('.case-body'), c.body || '—');
      return item;
    });
    for (const item of had.values()) item.remove();
    // Items that stay in order are not moved: that would take the focus away.
    items.forEach((item, i) => { if (this.#list.children[i] !== item) this.#list.insertBefore(item, this.#list.children[i] ?? null); });
  }

  #item(id) {
    const { operations } = this.#app, now = () => this.#cases.find((c) => c.id === id);
    const node = () => ({ kind: 'case', id, name: now().name, parent: now().suite_id });
    const button = (what, run, kind = '') => h('button', { type: 'button', class: kind, 'data-do': what + '-case', onclick: run }, t(what));
    return h('li', { 'data-id': id }, h('details', { name: 'case' },
      h('summary', { class: 'case-head' }, h('span', { class: 'case-name' }), h('span', { class: 'case-hint faint' })),
      h('div', { class: 'case-open' }, h('div', { class: 'case-body' }), h('div', { class: 'buttons' },
        button('edit', () => this.#edit(id), 'primary'), button('move', () => operations.place(node(), false)),
        button('copy', () => operations.place(node(), true)), button('remove', () => operations.remove(node()), 'danger')))));
  }

  /** Writing needs the edit lock of the suite: others see it, and nothing is overwritten. */
  async #edit(id) {
    const draft = { was: this.#cases.find((c) => c.id === id) };
    if (!await this.#app.operations.edit(this.#suite)) return;
    draft.was = this.#cases.find((c) => c.id === id) ?? draft.was;
    ask(t('editCase'), (close) => {
      const name = h('input', { type: 'text', value: draft.was.name, 'aria-label': t('caseName'), maxLength: 300 });
      const body = h('textarea', { value: draft.was.body, 'aria-label': t('body'), rows: 10, spellcheck: false, autofocus: true });
      const wrong = h('p', { class: 'wrong', role: 'alert' });
      const save = async (e) => {
        e.preventDefault();
        text(wrong, validName(name.value) ? '' : t('err.badName'));
        if (wrong.textContent) name.focus();
        else if (await this.#app.operations.saveCase(draft, name.value, body.value)) close(true);
      };
      return h('form', { onsubmit: save }, h('label', {}, h('span', {}, t('caseName')), name), h('label', {}, h('span', {}, t('body')), body), wrong,
        okCancel(close, t('save')));
    }, { wide: true, stays: true });
  }
}
