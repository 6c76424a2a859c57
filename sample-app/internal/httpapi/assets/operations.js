// What people do with suites and cases: each is one request.
import { get, Refusal, send } from './api.js';
import { askPlace, askText, askYes } from './dialogs.js';
import { t } from './i18n.js';
import { noteOf } from './problems.js';
import { maxVisitor, visitor } from './session.js';

export class Operations {
  #app;

  constructor(app) { this.#app = app; }

  get #tree() { return this.#app.tree; }
  #run(action) { return this.#app.actions.run(action); }

  async create(parent, typed = '') {
    const plan = this.#app.plan.id; // it may be gone by the time of the answer
    const name = await askText(t('suiteIn', { name: this.#app.nameOf(parent) }), t('suiteName'), typed, { button: t('create') });
    if (!name) return;
    const { chosen } = this.#app.view; // another one may be by the time it is done
    const made = await this.#run({
      title: t('do.create', { name }), ok: t('ok.create', { name }), change: () => this.create(parent, name),
      send: (key) => send('POST', `/api/plans/${plan}/suites`, { body: { parent_id: parent, name }, key }),
      then: () => this.#app.reload(),
    });
    if (made) this.#app.made(made.id, chosen);
  }

  async rename(id, typed) {
    const name = this.#app.nameOf(id), to = await askText(t('rename'), t('suiteName'), typed ?? name);
    if (!to || to === name) return;
    this.#run({
      title: t('do.rename', { name, to }), ok: t('ok.rename', { to }), change: () => this.rename(id, to),
      send: (key) => send('PATCH', `/api/suites/${id}`, { body: { name: to }, key }), then: () => this.#app.reload(),
    });
  }

  /** Moves or copies a suite, as {kind: 'suite', id, name, parent}, or a case to where somebody says. */
  async place(node, copies, typed = {}) {
    const { kind, id, name, parent } = node, ofSuite = kind === 'suite';
    const free = typed.name ?? (ofSuite ? this.#tree.freeName(parent, name) : name + ' 2');
    const place = await askPlace(t(copies ? 'copyTo' : 'moveTo', { name }), this.#tree, this.#app.plan.name, {
      start: typed.to ?? parent, button: t(copies ? 'copyHere' : 'moveHere'), name: copies ? free : undefined,
      refuses: (other) => ofSuite && !copies && this.#tree.contains(id, other),
    });
    if (!place || !copies && place.to === parent) return;
    const values = { name, to: this.#app.nameOf(place.to) }, { chosen } = this.#app.view;
    const placed = await this.#run({
      title: t(copies ? 'do.copy' : 'do.move', values), ok: t(copies ? 'ok.copy' : 'ok.move', values),
      change: () => this.place(node, copies, place),
      send: (key) => send('POST', `/api/${kind}s/${id}/${copies ? 'copy' : 'move'}`, { body: { [ofSuite ? 'parent_id' : 'suite_id']: place.to, name: place.name }, key }),
      then: () => (ofSuite ? this.#app.reload() : this.#app.casesChanged()),
    });
    if (placed && ofSuite) this.#app.made(placed.id, chosen);
  }

  /** Puts a suite or a case into the recycle bin. */
  remove({ kind, id, name }) {
    const plan = this.#app.plan.id, ofSuite = kind === 'suite';
    this.#run({
      title: t('do.delete', { name }), about: `delete ${kind} ${id}`, ok: t('ok.delete', { name }),
      undo: () => ({ label: t('undo'), run: () => this.restore(plan, name, `${kind} ${id}`, (item) => item.kind === kind && item.node_id === id) }),
      send: (key) => send('DELETE', `/api/${kind}s/${id}`, { key }),
      then: () => (ofSuite ? this.#removed(id) : this.#app.casesChanged()),
    });
  }

  #removed(id) {
    const { view } = this.#app;
    if (view.chosen && this.#tree.contains(id, view.chosen)) view.choose(this.#tree.parent(id));
    if (document.activeElement === document.body) view.focus(); // the button is gone
    return this.#app.reload();
  }

  /** Restores the latest entry of a plan's recycle bin that isOne accepts; what identifies the action. */
  restore(plan, name, what, isOne) {
    let item = null;
    return this.#run({
      title: t('do.restore', { name }), about: `restore ${what}`, ok: t('ok.restore', { name }),
      send: async (key) => {
        item ??= (await get(`/api/plans/${plan}/recycle-bin`)).items.findLast(isOne);
        try {
          if (item) return await send('POST', `/api/recycle-bin/${item.id}/restore`, { key });
        } catch (refusal) {
          if (refusal.status !== 404) throw refusal;
        }
        throw new Refusal(404, { type: 'not-restorable' });
      },
      then: async () => {
        await this.#app.reload();
        this.#app.casesChanged();
      },
    });
  }

  async purge(id, count) {
    if (!await askYes(t('surePurge', { count }), t('purge'))) return null;
    return this.#run({
      title: t('do.purge'), about: `purge ${id}`, ok: t('ok.purge'), send: (key) => send('DELETE', `/api/plans/${id}/recycle-bin`, { key }),
    });
  }

  /** Asks for the name that others see. */
  async askVisitor() {
    const name = await askText(t('askName'), t('name'), visitor.get() ?? '', {
      more: t('askNameMore'), check: (n) => n.trim() !== '' && [...n].length <= maxVisitor,
    });
    if (name) visitor.set(name.trim());
    this.#app.showVisitor();
    return name?.trim();
  }

  /** Takes the edit lock of a suite. It resolves with whether the window has it. */
  async edit(id) {
    const { session } = this.#app;
    if (session.edits(id)) return true;
    const name = this.#app.nameOf(id), plan = this.#app.plan.id;
    const who = visitor.get() || await this.askVisitor();
    if (!who) return false;
    const begun = await this.#run({
      title: t('do.edit', { name }), about: `edit ${id}`,
      send: async (key) => { await session.begin(plan, id, name, noteOf(who), key); return true; },
    });
    return Boolean(begun);
  }

  done() {
    return this.#run({ title: t('do.done'), about: 'end editing', send: async (key) => { await this.#app.session.end(key); return true; } });
  }

  createCase(suite, name) {
    const change = async () => {
      const to = await askText(t('newCase'), t('caseName'), name, { button: t('addCase') });
      if (to) this.createCase(suite, to);
    };
    return this.#run({
      title: t('do.createCase', { name }), ok: t('ok.create', { name }), change,
      send: (key) => send('POST', `/api/suites/${suite}/cases`, { body: { name }, key }), then: () => this.#app.casesChanged(),
    });
  }

  /** Saves typed, {name, body}, over a case that read as was when the writing began. It is refused once if
   * the case reads neither like was nor like what is sent: the window may have lost its edit lock
   * meanwhile, and somebody else had it. The next try replaces what they wrote. */
  saveCase(was, typed) {
    const is = (one, other) => one.name === other.name && one.body === other.body;
    return this.#app.actions.prepare({
      title: t('do.saveCase', { name: was.name }), ok: t('ok.saveCase'), typed,
      send: async (key, text) => {
        const { cases } = await get(`/api/suites/${was.suite_id}/cases`), now = cases.find((c) => c.id === was.id);
        if (now && !is(now, was) && !is(now, text)) {
          was = now;
          throw new Refusal(412, { type: 'changed-elsewhere', detail: [now.name, now.body].join('\n') });
        }
        await send('PATCH', `/api/cases/${was.id}`, { body: { ...text, name: text.name === was.name ? undefined : text.name }, key });
        was = { ...was, ...text };
        return text;
      },
      then: () => this.#app.casesChanged(),
    });
  }
}
