// What people do with suites and cases: each is one request.
import { get, Refusal, send } from './api.js';
import { askPlace, askText, askYes, validName } from './dialogs.js';
import { plain } from './foreign.js';
import { t } from './i18n.js';
import { overcome, refused } from './notices.js';
import { maxVisitor, visitor } from './session.js';

export class Operations {
  #app;

  constructor(app) { this.#app = app; }

  get #tree() { return this.#app.tree; }
  #name(id) { return id === this.#tree.root ? this.#app.plan.name : this.#tree.get(id)?.name ?? ''; }
  #put(suite) { if (suite.plan_id === this.#app.plan?.id) { this.#tree.put(suite); this.#app.refresh(); } }
  #run(action) { return this.#app.actions.run(action); }

  async create(parent, name) {
    name ??= await askText(t('suiteIn', { name: this.#name(parent) }), t('suiteName'), '', { button: t('create') });
    if (!name) return;
    const made = await this.#run({
      title: t('do.create', { name }), suite: parent, ok: t('ok.create', { name }),
      send: (key) => send('POST', `/api/plans/${this.#app.plan.id}/suites`, { body: { parent_id: parent, name }, key }),
      then: (suite) => this.#put(suite),
    });
    if (made) this.#app.view.choose(made.id);
  }

  rename(id, to) {
    const name = this.#name(id);
    if (!validName(to)) {
      refused(t('do.rename', { name, to }), t('err.badName'), []);
      return;
    }
    this.#run({
      title: t('do.rename', { name, to }), suite: id, under: t('saving', { to }), ok: t('ok.rename', { to }),
      send: () => send('PATCH', `/api/suites/${id}`, { body: { name: to } }), then: (suite) => this.#put(suite),
    });
  }

  async move(id) {
    const name = this.#name(id);
    const to = (await askPlace(t('moveTo', { name }), this.#tree, this.#app.plan.name, {
      start: this.#tree.parent(id), button: t('moveHere'), refuses: (other) => this.#tree.contains(id, other),
    }))?.to;
    if (!to || to === this.#tree.parent(id)) return;
    const target = this.#name(to);
    const moved = await this.#run({
      title: t('do.move', { name, to: target }), suite: id, ok: t('ok.move', { name, to: target }),
      send: (key) => send('POST', `/api/suites/${id}/move`, { body: { parent_id: to }, key }), then: (suite) => this.#put(suite),
    });
    if (moved) this.#app.view.choose(id);
  }

  async copy(id) {
    const name = this.#name(id), parent = this.#tree.parent(id);
    const place = await askPlace(t('copyTo', { name }), this.#tree, this.#app.plan.name, {
      start: parent, button: t('copyHere'), refuses: () => false, name: this.#tree.freeName(parent, name),
    });
    if (!place) return;
    const { to, name: as } = place;
    const made = await this.#run({
      title: t('do.copy', { name, to: this.#name(to) }), suite: id, ok: t('ok.copy', { to: this.#name(to) }),
      send: (key) => send('POST', `/api/suites/${id}/copy`, { body: { parent_id: to, name: as }, key }),
      // The copy comes with what is below it.
      then: () => this.#app.reload(),
    });
    if (made) {
      await this.#app.loaded();
      this.#app.view.choose(made.id);
    }
  }

  remove(id) {
    const name = this.#name(id), parent = this.#tree.parent(id), plan = this.#app.plan.id;
    if (id === this.#tree.root) return;
    this.#run({
      title: t('do.delete', { name }), suite: id, ends: true, ok: t('ok.delete', { name }), undo: () => ({ label: t('undo'), run: () => this.#restoreLast(plan, 'suite', id, name) }),
      send: () => send('DELETE', `/api/suites/${id}`),
      then: () => {
        if (this.#app.view.chosen && this.#tree.contains(id, this.#app.view.chosen)) this.#app.view.choose(parent);
        this.#tree.remove(id);
        this.#app.refresh();
        overcome(t('suiteGone', { name })); // somebody was oneself, where an earlier answer was lost
        if (document.activeElement === document.body) this.#app.view.focus(); // the button is gone
      },
    });
  }

  /** Takes back what was deleted last of a suite or case. */
  #restoreLast(plan, kind, id, name) {
    return this.#restore(plan, name, (items) => items.findLast((i) => i.kind === kind && i.node_id === id));
  }

  restore(item) { return this.#restore(this.#app.plan.id, item.name, () => item); }

  #restore(plan, name, find) {
    const bin = async () => (await get(`/api/plans/${plan}/recycle-bin`)).items;
    let item = null;
    return this.#run({
      title: t('do.restore', { name }), ok: t('ok.restore', { name }),
      send: async (key) => {
        item ??= find(await bin());
        if (!item) throw new Refusal(404, { type: 'not-in-bin' });
        try {
          return await send('POST', `/api/recycle-bin/${item.id}/restore`, { key });
        } catch (refusal) {
          if (refusal.status !== 404) throw refusal;
          // Either the entry is not there, or the suite that it was in.
          throw new Refusal(404, { type: (await bin()).some((i) => i.id === item.id) ? 'parent-not-there' : 'not-in-bin' });
        }
      },
      then: () => { if (plan === this.#app.plan?.id) this.#app.reload().then(() => this.#app.casesChanged()); },
    });
  }

  async purge(count) {
    if (!await askYes(t('surePurge', { count }), t('purge'))) return null;
    return this.#run({
      title: t('do.purge'), ok: t('ok.purge'), send: async () => { await send('DELETE', `/api/plans/${this.#app.plan.id}/recycle-bin`); return {}; },
    });
  }

  /** Asks once for the name that others see. */
  async visitor() {
    const known = visitor.get();
    return known || this.rename_visitor();
  }

  async rename_visitor() {
    const name = await askText(t('askName'), t('name'), visitor.get() ?? '', {
      more: t('askNameMore'), check: (n) => n.trim() !== '' && [...n].length <= maxVisitor,
    });
    if (name) visitor.set(name.trim());
    this.#app.showVisitor();
    return name?.trim() ?? null;
  }

  /** Takes the edit lock of a suite. It resolves with whether the window has it. */
  async edit(id) {
    if (this.#app.session.edits(id)) return true;
    const who = await this.visitor();
    if (!who) return false;
    const name = this.#name(id);
    const begun = await this.#run({
      title: t('do.edit', { name }), suite: id,
      send: async (key) => { await this.#app.session.begin(this.#app.plan.id, id, name, plain(t('note', { name: who })), key); return true; },
    });
    return Boolean(begun);
  }

  done() {
    return this.#run({ title: t('do.done'), send: async () => { await this.#app.session.end(); return true; } });
  }

  createCase(suite, name, body = '') {
    return this.#run({
      title: t('do.createCase', { name }), suite, ok: t('ok.createCase', { name }),
      send: (key) => send('POST', `/api/suites/${suite}/cases`, { body: { name, body }, key }), then: () => this.#app.casesChanged(),
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

  async placeCase(c, copies) {
    const place = await askPlace(t(copies ? 'copyTo' : 'moveTo', { name: c.name }), this.#tree, this.#app.plan.name, {
      start: c.suite_id, button: t(copies ? 'copyHere' : 'moveHere'), refuses: (id) => !copies && id === c.suite_id, name: copies ? c.name + ' 2' : undefined,
    });
    if (!place) return;
    const values = { name: c.name, to: this.#name(place.to) };
    this.#run({
      title: t(copies ? 'do.copy' : 'do.move', values), ok: t(copies ? 'ok.copy' : 'ok.move', values),
      send: (key) => send('POST', `/api/cases/${c.id}/${copies ? 'copy' : 'move'}`, { body: { suite_id: place.to, name: place.name }, key }),
      then: () => this.#app.casesChanged(),
    });
  }

  removeCase(c) {
    const plan = this.#app.plan.id;
    this.#run({
      title: t('do.delete', { name: c.name }), ends: true, ok: t('ok.delete', { name: c.name }), undo: () => ({ label: t('undo'), run: () => this.#restoreLast(plan, 'case', c.id, c.name) }),
      send: () => send('DELETE', `/api/cases/${c.id}`), then: () => this.#app.casesChanged(),
    });
  }
}
