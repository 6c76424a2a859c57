// The cases of a suite, one of which may be open.
import { ask, okCancel, validName } from './dialogs.js';
import { h, text } from './dom.js';
import { shown } from './foreign.js';
import { t } from './i18n.js';
import { refused } from './notices.js';

export class CaseList {
  element = h('section', { class: 'cases' });
  #app;
  #suite = 0;
  #cases = [];
  #list;
  #empty;
  #open = null; // {id, element, reading}

  constructor(app) { this.#app = app; }

  /** Shows a suite. */
  begin(suite) {
    this.#suite = suite;
    this.#cases = [];
    this.#open = null;
    this.#list = h('ul', { class: 'case-list' });
    this.#empty = h('p', { class: 'faint late' }, t('casesAsked'));
    const input = h('input', { type: 'text', 'aria-label': t('caseName'), placeholder: t('newCase'), autocomplete: 'off', maxLength: 300 });
    this.element.replaceChildren(h('h2', {}, t('cases')), this.#empty, this.#list,
      h('form', {
        class: 'add',
        onsubmit: async (e) => {
          e.preventDefault();
          const name = input.value;
          if (!validName(name)) {
            if (name) refused(t('do.createCase', { name }), t('err.badName'), []);
            return;
          }
          input.value = '';
          if (!await this.#app.operations.createCase(suite, name)) input.value ||= name;
        },
      }, input, h('button', { type: 'submit' }, t('addCase'))));
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
      text(item.querySelector('.case-name'), shown(c.name));
      text(item.querySelector('.case-hint'), shown(c.body.split('\n')[0].slice(0, 120)));
      return item;
    });
    for (const item of had.values()) item.remove();
    // Items that stay in order are not moved: that would take the focus away.
    items.forEach((item, i) => { if (this.#list.children[i] !== item) this.#list.insertBefore(item, this.#list.children[i] ?? null); });
    const open = this.#open && this.#case(this.#open.id);
    if (open) text(this.#open.reading, shown(open.body || '—'));
    else this.#open = null;
  }

  #item(id) {
    return h('li', { 'data-id': id },
      h('button', { type: 'button', class: 'case-head', 'aria-expanded': 'false', onclick: (e) => this.#toggle(id, e.currentTarget) },
        h('span', { class: 'case-name' }), h('span', { class: 'case-hint faint' })));
  }

  #case(id) { return this.#cases.find((c) => c.id === id); }

  #toggle(id, head) {
    const before = this.#open, c = this.#case(id), ops = this.#app.operations, now = () => this.#case(id) ?? c;
    this.#open = null;
    before?.element.previousSibling.setAttribute('aria-expanded', 'false');
    before?.element.remove();
    if (before?.id === id || !c) return;
    const reading = h('div', { class: 'case-body' }, shown(c.body || '—'));
    const element = h('div', { class: 'case-open' }, reading, h('div', { class: 'buttons' },
      h('button', { type: 'button', class: 'primary', 'data-do': 'edit-case', onclick: () => this.#edit(now()) }, t('edit')),
      h('button', { type: 'button', 'data-do': 'move-case', onclick: () => ops.placeCase(now(), false) }, t('move')),
      h('button', { type: 'button', 'data-do': 'copy-case', onclick: () => ops.placeCase(now(), true) }, t('copy')),
      h('button', { type: 'button', class: 'danger', 'data-do': 'remove-case', onclick: () => ops.removeCase(now()) }, t('remove'))));
    head.setAttribute('aria-expanded', 'true');
    head.after(element);
    this.#open = { id, element, reading };
  }

  /** Writing needs the edit lock of the suite: others see it, and nothing is overwritten. */
  async #edit(c) {
    if (!await this.#app.operations.edit(this.#suite)) return;
    const draft = { was: this.#case(c.id) ?? c };
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
