// The cases of a suite, one of which may be open.
import { askYes, validName } from './dialogs.js';
import { h, text } from './dom.js';
import { shown } from './foreign.js';
import { t } from './i18n.js';
import { refused } from './notices.js';

export class CaseList {
  element = h('section', { class: 'cases' });
  #app;
  #suite = 0;
  /** The plan of the suite that is shown. */
  plan = 0;
  #cases = [];
  #list;
  #empty;
  #open = null; // {id, element, name, body, wrong, was, theirs}
  #adding = null; // the field of a new case's name
  #drafts = new Map(); // what was being written when another suite was chosen, by suite: {plan, adding, open}
  #resumed = null; // what was being written here, until the cases are known: {id, name, body, was}

  constructor(app) { this.#app = app; }

  /** Whether the open case has been changed and not saved. */
  get #dirty() {
    const o = this.#open;
    return Boolean(o && o.name && (o.name.value !== o.was.name || o.body.value !== o.was.body));
  }

  /** Whether there are cases, here or in other suites, that have been changed and not saved. */
  get unsaved() { return this.#dirty || Boolean(this.#resumed) || [...this.#drafts.values()].some((draft) => draft.open); }

  /** Shows a suite. What is being written in the one before comes back with it. */
  begin(suite) {
    this.#keep();
    this.#suite = suite;
    this.plan = this.#app.plan.id;
    this.#cases = [];
    this.#open = null;
    this.#list = h('ul', { class: 'case-list' });
    this.#empty = h('p', { class: 'faint late' }, t('casesAsked'));
    const input = h('input', { type: 'text', 'aria-label': t('caseName'), placeholder: t('newCase'), autocomplete: 'off', maxLength: 300, value: this.#drafts.get(suite)?.adding ?? '' });
    this.#adding = input;
    this.#resumed = this.#drafts.get(suite)?.open ?? null;
    this.#drafts.delete(suite);
    this.element.replaceChildren(h('h2', {}, t('cases')), this.#empty, this.#list,
      h('form', {
        class: 'add',
        onsubmit: async (e) => {
          e.preventDefault();
          if (!validName(input.value)) {
            if (input.value) refused(t('do.createCase', { name: input.value }), t('err.badName'), []);
            return;
          }
          const name = input.value, plan = this.plan;
          input.value = '';
          if (!await this.#app.operations.createCase(suite, name)) this.#giveBack(plan, suite, name);
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
      text(item.querySelector('.case-name'), shown(c.name));
      text(item.querySelector('.case-hint'), shown(c.body.split('\n')[0].slice(0, 120)));
      return item;
    });
    const keep = new Set(items);
    for (const item of had.values()) if (!keep.has(item)) item.remove();
    // Items that stay in order are not moved: that would take the focus away.
    items.forEach((item, i) => { if (this.#list.children[i] !== item) this.#list.insertBefore(item, this.#list.children[i] ?? null); });
    if (this.#open && !this.#case(this.#open.id)) this.#gone();
    if (this.#open) this.#showChange(this.#case(this.#open.id));
    const resumed = this.#resumed;
    this.#resumed = null;
    if (resumed && this.#case(resumed.id)) this.#write(resumed);
    else if (resumed) tellLost(resumed);
  }

  /** Keeps what is being written. */
  #keep() {
    const o = this.#open;
    const open = this.#dirty ? { id: o.id, was: o.was, name: o.name.value, body: o.body.value } : this.#resumed;
    const adding = this.#adding?.value ?? '';
    if (open || adding) this.#drafts.set(this.#suite, { plan: this.plan, adding, open });
  }

  /** A name that was not added goes back into its field, unless another one is there by now. */
  #giveBack(plan, suite, name) {
    if (suite === this.#suite) this.#adding.value ||= name;
    else if (!this.#drafts.get(suite)?.adding) this.#drafts.set(suite, { plan, open: null, ...this.#drafts.get(suite), adding: name });
  }

  /** Forgets what was being written in suites of a plan that are gone, and returns the texts. */
  forget(plan, isGone) {
    this.#keep();
    const texts = [];
    for (const [suite, { plan: of, adding, open }] of this.#drafts) {
      if (of !== plan || !isGone(suite)) continue;
      texts.push(...[adding, open?.name, open?.body].filter(Boolean));
      this.#drafts.delete(suite);
    }
    this.#drafts.delete(this.#suite); // its fields are still there
    if (plan === this.plan && isGone(this.#suite)) this.#open = this.#resumed = this.#adding = null;
    return texts;
  }

  /** The open case has been deleted. */
  #gone() {
    if (this.#dirty) tellLost({ name: this.#open.name.value, body: this.#open.body.value });
    this.#open = null;
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
    if (this.#dirty && !await askYes(t('discard'), t('discardDo'))) return;
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
    text(reading, shown(c.body || '—'));
    item.querySelector('.case-head').setAttribute('aria-expanded', 'true');
    item.append(element);
    this.#open = { id, element, reading, was: c };
  }

  /** Writing needs the edit lock of the suite: others see it, and nothing is overwritten. */
  async #edit(id) {
    if (!await this.#app.operations.edit(this.#suite) || this.#open?.id !== id) return;
    const was = this.#case(id);
    this.#write({ id, was, name: was.name, body: was.body });
    this.#open.body.focus();
  }

  /** Shows the fields of a case, with what has been written in them. */
  #write(draft) {
    const { id, was } = draft;
    this.#close();
    const name = h('input', { type: 'text', value: draft.name, 'aria-label': t('caseName'), maxLength: 300 });
    const body = h('textarea', { value: draft.body, 'aria-label': t('body'), rows: 8, spellcheck: false });
    const wrong = h('p', { class: 'wrong', role: 'alert' });
    const element = h('form', { class: 'case-open', onsubmit: (e) => { e.preventDefault(); this.#save(id, wrong); } },
      h('label', {}, h('span', {}, t('caseName')), name), h('label', {}, h('span', {}, t('body')), body), wrong,
      h('div', { class: 'buttons' }, h('button', { type: 'submit', class: 'primary' }, t('save')),
        h('button', { type: 'button', onclick: () => { this.#close(); this.#show(id); } }, t('cancel'))));
    const item = this.#itemOf(id);
    item.querySelector('.case-head').setAttribute('aria-expanded', 'true');
    item.append(element);
    this.#open = { id, element, name, body, wrong, was };
    this.#showChange(this.#case(id));
  }

  async #save(id, wrong) {
    const o = this.#open, { name, body } = o;
    if (!validName(name.value)) {
      wrong.textContent = t('err.badName');
      name.focus();
      return;
    }
    if (o.theirs && !await askYes(t('overwrite'), t('overwriteDo'))) return;
    const was = o.theirs ?? o.was;
    const change = { name: name.value === was.name ? undefined : name.value, body: body.value };
    if (!await this.#app.operations.saveCase(was, change)) return;
    if (this.#open?.id !== id) return;
    this.#close();
    this.#itemOf(id)?.querySelector('.case-head').focus();
  }

  /** The open case may have been changed in another window. */
  #showChange(c) {
    const o = this.#open;
    if (o.reading) {
      text(o.reading, shown(c.body || '—'));
      o.was = c;
    } else if (c.body !== o.was.body || c.name !== o.was.name) {
      o.theirs = c;
      text(o.wrong, t('changedElsewhere', { text: [c.name, c.body].join('\n') }));
    } else if (o.theirs) {
      o.theirs = null;
      text(o.wrong, '');
    }
  }
}

/** What somebody wrote, and can no longer save, stays on the page until they have copied it. */
function tellLost({ name, body }) {
  refused(t('do.saveCase', { name }), t('err.not-found') + ' ' + t('wrote', { text: body }), []);
}
