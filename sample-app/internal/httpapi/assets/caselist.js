// The cases of a suite, one of which may be open.
import { ask, okCancel, validName } from './dialogs.js';
import { h, text } from './dom.js';
import { t } from './i18n.js';

export class CaseList {
  element = h('section', { class: 'cases' });
  #app;
  #suite = 0;
  #cases = [];
  #drafts = new Map(); // names that were typed and not sent, by suite
  #list;
  #empty;

  constructor(app) { this.#app = app; }

  /** Shows a suite. */
  begin(suite) {
    this.#suite = suite;
    this.#cases = [];
    this.#list = h('ul', { class: 'case-list' });
    this.#empty = h('p', { class: 'faint late' }, t('casesAsked'));
    const input = h('input', { type: 'text', value: this.#drafts.get(suite) ?? '', 'aria-label': t('caseName'), placeholder: t('newCase'), autocomplete: 'off' });
    const wrong = h('p', { class: 'wrong', role: 'alert' });
    input.addEventListener('input', () => {
      this.#drafts.set(suite, input.value);
      text(wrong, '');
    });
    const create = (e) => {
      e.preventDefault();
      const name = input.value;
      text(wrong, !name || validName(name) ? '' : t('err.badName'));
      if (!validName(name)) return;
      input.value = '';
      this.#drafts.delete(suite);
      this.#app.operations.createCase(suite, name);
    };
    this.element.replaceChildren(h('h2', {}, t('cases')), this.#empty, this.#list,
      h('form', { class: 'add', onsubmit: create }, input, h('button', { type: 'submit' }, t('addCase'))), wrong);
  }

  /** The cases could not be read. */
  miss() { text(this.#empty, t(this.#cases.length ? 'casesOld' : 'casesMissed')); }

  set(cases) {
    this.#cases = cases;
    text(this.#empty, cases.length ? '' : t('noCases'));
    const had = new Map([...this.#list.children].map((item) => [Number(item.dataset.id), item]));
    const items = cases.map((c) => {
      const item = had.get(c.id) ?? this.#item(c.id);
      had.delete(c.id);
      text(item.querySelector('.case-name'), c.name);
      const hint = c.body.split('\n')[0].slice(0, 120);
      text(item.querySelector('.case-hint'), hint === c.body ? hint : hint + '…');
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
    const before = this.#cases.find((c) => c.id === id);
    if (!await this.#app.operations.edit(this.#suite)) return;
    const was = this.#cases.find((c) => c.id === id) ?? before;
    const name = h('input', { type: 'text', value: was.name, 'aria-label': t('caseName') });
    const body = h('textarea', { value: was.body, 'aria-label': t('body'), rows: 10, spellcheck: false, autofocus: true });
    const wrong = h('p', { class: 'wrong', role: 'alert' });
    const saving = this.#app.operations.saveCase(was, () => ({ name: name.value, body: body.value }));
    await ask(t('editCase'), (close) => {
      const save = async (e) => {
        e.preventDefault();
        text(wrong, validName(name.value) ? '' : t('err.badName'));
        if (wrong.textContent) return name.focus();
        const saved = await saving.go();
        if (!saved) return;
        this.set(this.#cases.map((c) => (c.id === id ? { ...c, ...saved } : c))); // the list may come late
        close(true);
      };
      return h('form', { onsubmit: save }, h('label', {}, h('span', {}, t('caseName')), name), h('label', {}, h('span', {}, t('body')), body), wrong,
        okCancel(close, t('save')));
    }, { wide: true, stays: true });
    saving.drop();
  }
}
