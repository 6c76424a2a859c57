// What people do with suites and cases: each is one request.
import { get, Refusal, send } from './api.js';
import { askPlace, askText, askYes } from './dialogs.js';
import { t } from './i18n.js';
import { maxVisitor, visitor } from './session.js';

export class Operations {
  #app;

  constructor(app) { this.#app = app; }

  get #tree() { return this.#app.tree; }
  #run(action) { return this.#app.actions.run(action); }

  async create(parent) {
    const name = await askText(t('suiteIn', { name: this.#app.nameOf(parent) }), t('suiteName'), '', { button: t('create') });
    if (!name) return;
    const made = await this.#run({
      title: t('do.create', { name }), ok: t('ok.create', { name }),
      send: (key) => send('POST', `/api/plans/${this.#app.plan.id}/suites`, { body: { parent_id: parent, name }, key }),
      then: () => this.#app.reload(),
    });
    if (made) this.#app.view.choose(made.id);
  }

  async rename(id) {
    const name = this.#app.nameOf(id), to = await askText(t('rename'), t('suiteName'), name);
    if (!to || to === name) return;
    this.#run({
      title: t('do.rename', { name, to }), ok: t('ok.rename', { to }),
      send: () => send('PATCH', `/api/suites/${id}`, { body: { name: to } }), then: () => this.#app.reload(),
    });
  }

  /** Moves or copies a suite, as {kind: 'suite', id, name, parent}, or a case to where somebody says. */
  async place({ kind, id, name, parent }, copies) {
    const ofSuite = kind === 'suite', free = ofSuite ? this.#tree.freeName(parent, name) : name + ' 2';
    const place = await askPlace(t(copies ? 'copyTo' : 'moveTo', { name }), this.#tree, this.#app.plan.name, {
      start: parent, button: t(copies ? 'copyHere' : 'moveHere'), name: copies ? free : undefined,
      refuses: (other) => ofSuite && !copies && this.#tree.contains(id, other),
    });
    if (!place || !copies && place.to === parent) return;
    const values = { name, to: this.#app.nameOf(place.to) };
    const placed = await this.#run({
      title: t(copies ? 'do.copy' : 'do.move', values), ok: t(copies ? 'ok.copy' : 'ok.move', values),
      send: (key) => send('POST', `/api/${kind}s/${id}/${copies ? 'copy' : 'move'}`, { body: { [ofSuite ? 'parent_id' : 'suite_id']: place.to, name: place.name }, key }),
      then: () => (ofSuite ? this.#app.reload() : this.#app.casesChanged()),
    });
    if (placed && ofSuite) this.#app.view.choose(placed.id);
  }

  /** Puts a suite or a case into the recycle bin. */
  remove({ kind, id, name }) {
    const plan = this.#app.plan.id, ofSuite = kind === 'suite';
    this.#run({
      title: t('do.delete', { name }), ok: t('ok.delete', { name }),
      undo: () => ({ label: t('undo'), run: () => this.restore(plan, name, (item) => item.kind === kind && item.node_id === id) }),
      send: () => send('DELETE', `/api/${kind}s/${id}`),
      then: () => (ofSuite ? this.#removed(id) : this.#app.casesChanged()),
    });
  }

  #removed(id) {
    const { view } = this.#app;
    if (view.chosen && this.#tree.contains(id, view.chosen)) view.choose(this.#tree.parent(id));
    if (document.activeElement === document.body) view.focus(); // the button is gone
    return this.#app.reload();
  }

  /** Takes back the latest entry of a plan's recycle bin that is the one. */
  restore(plan, name, isOne) {
    let item = null;
    return this.#run({
      title: t('do.restore', { name }), ok: t('ok.restore', { name }),
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

  async purge(count) {
    if (!await askYes(t('surePurge', { count }), t('purge'))) return null;
    return this.#run({
      title: t('do.purge'), ok: t('ok.purge'), send: async () => { await send('DELETE', `/api/plans/${this.#app.plan.id}/recycle-bin`); return {}; },
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
    const who = visitor.get() || await this.askVisitor();
    if (!who) return false;
    const name = this.#app.nameOf(id);
    const begun = await this.#run({
      title: t('do.edit', { name }),
      send: async (key) => { await session.begin(this.#app.plan.id, id, name, t('note', { name: who }), key); return true; },
    });
    return Boolean(begun);
  }

  done() {
    return this.#run({ title: t('do.done'), send: async () => { await this.#app.session.end(); return true; } });
  }

  createCase(suite, name) {
    return this.#run({
      title: t('do.createCase', { name }), ok: t('ok.create', { name }),
      send: (key) => send('POST', `/api/suites/${suite}/cases`, { body: { name }, key }), then: () => this.#app.casesChanged(),
    });
  }

  /** Saves a draft of a case, unless the case is no longer what it was when the writing began: the
   * window may have lost its edit lock meanwhile, and somebody else have had it. The next try replaces
   * what they wrote. */
  saveCase(draft, name, body) {
    return this.#run({
      title: t('do.saveCase', { name: draft.was.name }), ok: t('ok.saveCase'),
      send: async () => {
        const { was } = draft, { cases } = await get(`/api/suites/${was.suite_id}/cases`), now = cases.find((c) => c.id === was.id);
        if (now && (now.name !== was.name || now.body !== was.body)) {
          draft.was = now;
          throw new Refusal(412, { type: 'changed-elsewhere', detail: [now.name, now.body].join('\n') });
        }
        return send('PATCH', `/api/cases/${was.id}`, { body: { name: name === was.name ? undefined : name, body } });
      },
      then: () => this.#app.casesChanged(),
    });
  }
}
