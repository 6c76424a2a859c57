// The cases of a suite, one of which may be open.
import { askYes, validName } from './dialogs.js';
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
  #open = null; // {id, element, name, body, was}

  constructor(app) { this.#app = app; }

  /** Whether somebody has written what is not saved. */
  get dirty() {
    const o = this.#open;
    return Boolean(o && o.name && (o.name.value !== o.was.name || o.body.value !== o.was.body));
  }

  begin(suite) {
    this.#suite = suite;
    this.#cases = [];
    this.#open = null;
    this.#list = h('ul', { class: 'case-list' });
    this.#empty = h('p', { class: 'faint' });
    const input = h('input', { type: 'text', 'aria-label': t('caseName'), placeholder: t('newCase'), autocomplete: 'off', maxLength: 300 });
    this.element.replaceChildren(h('h2', {}, t('cases')), this.#empty, this.#list,
      h('form', {
        class: 'add',
        onsubmit: async (e) => {
          e.preventDefault();
          if (!validName(input.value)) {
            if (input.value) refused(t('do.createCase', { name: input.value }), t('err.badName'), []);
            return;
          }
          const name = input.value;
          input.value = '';
          if (!await this.#app.operations.createCase(suite, name) && !input.value) input.value = name;
        },
      }, input, h('button', { type: 'submit' }, t('addCase'))));
  }

  set(cases) {
    this.#cases = cases;
    text(this.#empty, cases.length ? '' : t('noCases'));
    const had = new Map([...this.#list.children].map((item) => [Number(item.dataset.id), item]));
    const items = cases.map((c) => {
      const item = had.get(c.id) ?? this.#item(c.id);
      text(item.querySelector('.case-name'), c.name);
      text(item.querySelector('.case-hint'), c.body.split('\n')[0].slice(0, 120));
      return item;
    });
    const keep = new Set(items);
    for (const item of had.values()) if (!keep.has(item)) item.remove();
    // Items that stay in order are not moved: that would take the focus away.
    items.forEach((item, i) => { if (this.#list.children[i] !== item) this.#list.insertBefore(item, this.#list.children[i] ?? null); });
    if (this.#open) {
      const c = cases.find((one) => one.id === this.#open.id);
      if (!c) this.#open = null;
      else this.#showChange(c);
    }
  }

  #item(id) {
    return h('li', { 'data-id': id },
      h('button', { type: 'button', class: 'case-head', 'aria-expanded': 'false', onclick: () => this.#toggle(id) },
        h('span', { class: 'case-name' }), h('span', { class: 'case-hint faint' })));
  }

  #case(id) { return this.#cases.find((c) => c.id === id); }
  #itemOf(id) { return [...this.#list.children].find((item) => Number(item.dataset.id) === id); }

  async #toggle(id) {
    const closes = this.#open?.id === id;
    if (this.dirty && !await askYes(t('discard'), t('discardDo'))) return;
    this.#close();
    if (!closes) this.#show(id);
  }

  #close() {
    if (!this.#open) return;
    this.#open.element.parentElement?.querySelector('.case-head').setAttribute('aria-expanded', 'false');
    this.#open.element.remove();
    this.#open = null;
  }

  #show(id) {
    const c = this.#case(id), item = this.#itemOf(id);
    if (!c) return;
    const ops = this.#app.operations, now = () => this.#case(id) ?? c;
    const reading = h('div', { class: 'case-body' });
    const element = h('div', { class: 'case-open' }, reading, h('div', { class: 'buttons' },
      h('button', { type: 'button', class: 'primary', 'data-do': 'edit-case', onclick: () => this.#edit(id) }, t('edit')),
      h('button', { type: 'button', 'data-do': 'move-case', onclick: () => ops.placeCase(now(), false) }, t('move')),
      h('button', { type: 'button', 'data-do': 'copy-case', onclick: () => ops.placeCase(now(), true) }, t('copy')),
      h('button', { type: 'button', class: 'danger', 'data-do': 'remove-case', onclick: () => ops.removeCase(now()) }, t('remove'))));
    text(reading, c.body || '—');
    item.querySelector('.case-head').setAttribute('aria-expanded', 'true');
    item.append(element);
    this.#open = { id, element, reading, was: c };
  }

  /** Writing needs the edit lock of the suite: others see it, and nothing is overwritten. */
  async #edit(id) {
    if (!await this.#app.operations.edit(this.#suite) || this.#open?.id !== id) return;
    const c = this.#case(id);
    const name = h('input', { type: 'text', value: c.name, 'aria-label': t('caseName'), maxLength: 300 });
    const body = h('textarea', { value: c.body, 'aria-label': t('body'), rows: 8, spellcheck: false });
    const wrong = h('p', { class: 'wrong', role: 'alert' });
    const form = h('form', { class: 'case-open', onsubmit: (e) => { e.preventDefault(); this.#save(id, wrong); } },
      h('label', {}, h('span', {}, t('caseName')), name), h('label', {}, h('span', {}, t('body')), body), wrong,
      h('div', { class: 'buttons' }, h('button', { type: 'submit', class: 'primary' }, t('save')),
        h('button', { type: 'button', onclick: () => { this.#close(); this.#show(id); } }, t('cancel'))));
    this.#open.element.replaceWith(form);
    this.#open = { id, element: form, name, body, wrong, was: c };
    body.focus();
  }

  async #save(id, wrong) {
    const { was, name, body } = this.#open;
    if (!validName(name.value)) {
      wrong.textContent = t('err.badName');
      name.focus();
      return;
    }
    const change = { name: name.value === was.name ? undefined : name.value, body: body.value };
    if (!await this.#app.operations.saveCase(was, change)) return;
    if (this.#open?.id === id) this.#close();
  }

  /** The open case may have been changed in another window. */
  #showChange(c) {
    const o = this.#open;
    if (o.reading) {
      text(o.reading, c.body || '—');
      o.was = c;
    } else if (c.body !== o.was.body || c.name !== o.was.name) {
      text(o.wrong, t('changedElsewhere'));
    }
  }
}
