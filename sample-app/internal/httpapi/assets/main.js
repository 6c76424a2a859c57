// The page as a whole: which plan and suite it shows, and what brings it up to date.
import { Actions } from './actions.js';
import { get, outcome } from './api.js';
import { closedByBack, goTo } from './back.js';
import { openBin } from './bin.js';
import { Connection } from './connection.js';
import { Detail } from './detail.js';
import { $, guardClicks, once, text } from './dom.js';
import { Holds } from './holds.js';
import { ago, clock, lang, setLanguage, t, translate } from './i18n.js';
import { Tree } from './model.js';
import * as notices from './notices.js';
import { Operations } from './operations.js';
import { allPlans, choosePlan, welcome } from './plans.js';
import { doing } from './problems.js';
import { Session, visitor } from './session.js';
import { TreeView } from './treeview.js';

/** A tree of at most this many suites is shown opened. */
const smallPlan = 80;

class App {
  plan = null;
  tree = new Tree();
  holds = new Holds();
  session = new Session();
  connection = new Connection();
  actions = new Actions(this.holds, this.session);
  operations = new Operations(this);
  view = new TreeView($('tree'), this.tree, (id) => this.#row(id));
  #detail = new Detail($('detail'), this);
  #reading = null;
  #again = false;
  /** By how many news of the plan the tree is behind, and when it last was not. */
  #behind = 0;
  #asOf = 0;
  #panelClosed = () => {};

  async start() {
    guardClicks();
    this.holds.on('change', () => this.#showHolds());
    this.session.on('change', () => this.#showHolds());
    this.session.on('lost', (lock) => {
      const card = notices.refused(t('do.edit', { name: lock.name }), t('err.lock-lost'), [
        { label: t('edit'), kind: 'primary', run: () => { card.close(); this.operations.edit(lock.suite); } }]);
    });
    this.connection.on('locks', (news) => {
      this.holds.set(news);
      if (this.session.lock?.plan === this.plan?.id) this.session.look(this.holds);
    });
    this.connection.on('changed', (revision) => {
      if (revision === this.tree.revision) return this.#current();
      this.#behind++;
      this.reload();
      this.#showState();
      this.#showHolds();
    });
    this.connection.on('asked', () => { if (this.plan) this.#detail.askCases(); });
    this.connection.on('gone', () => {
      notices.refused(this.plan.name, t('planGone'), []);
      this.leave();
    });
    this.connection.on('state', () => {
      this.#showState();
      this.#showHolds();
    });
    this.view.on('choose', (id) => this.#chosen(id));
    this.view.on('open', () => this.showScreen('detail'));
    this.view.on('enter', () => {
      this.showScreen('detail');
      $('detail').focus();
    });
    const choose = once(async () => { const plan = await choosePlan(this); if (plan) await this.open(plan); });
    $('plan-button').addEventListener('click', choose);
    $('new-suite').addEventListener('click', () => this.operations.create(this.view.chosen));
    $('bin-button').addEventListener('click', once(() => openBin(this)));
    $('filter').addEventListener('input', () => { this.view.filter($('filter').value); this.#foot(); });
    $('filter').addEventListener('keydown', (e) => { if (e.key === 'ArrowDown') { e.preventDefault(); this.view.focus(); } });
    $('me').addEventListener('click', () => this.operations.askVisitor());
    addEventListener('hashchange', () => this.#follow());
    addEventListener('beforeunload', (e) => { if (this.actions.unsaved || document.querySelector('dialog[data-typed], .add input:not(:placeholder-shown)')) e.preventDefault(); });
    new ResizeObserver(([notices]) => $('work').style.setProperty('--notices', notices.contentRect.height + 'px')).observe($('notices'));
    $('language').addEventListener('click', () => { setLanguage(lang() === 'en' ? 'zh-CN' : 'en'); this.#words(); });
    this.#words();
    await this.#follow();
  }

  /** Shows what the address names. */
  async #follow() {
    const [, plan, suite] = /^#plan\/(\d+)(?:\/suite\/(\d+))?$/.exec(location.hash) ?? [];
    const id = Number(plan ?? this.session.lock?.plan ?? 0);
    if (id && id === this.plan?.id) {
      if (Number(suite) !== this.view.chosen) this.view.choose(Number(suite));
      return;
    }
    const asked = location.hash, shown = this.plan?.id;
    const named = () => get(`/api/plans/${id}`).catch((refusal) => { if (refusal.status === 404) return 'none'; throw refusal; });
    const found = await this.actions.run({ title: t('do.load'), send: async () => (id ? named() : (await allPlans()).at(-1) ?? 'none') });
    if (asked !== location.hash || shown !== this.plan?.id) return; // somebody has gone elsewhere since
    if (found === 'none') this.leave();
    else if (found) await this.open(found, Number(suite ?? this.session.lock?.suite ?? 0));
  }

  /** Shows a plan. */
  async open(plan, suite = 0) {
    this.plan = plan;
    this.tree.load({ suites: [], revision: -1 });
    this.holds.clear();
    $('welcome').hidden = true;
    $('work').hidden = false;
    $('filter').value = '';
    this.view.filter('');
    this.showScreen('tree');
    this.planChanged(plan);
    this.connection.watch(0);
    const loaded = await this.actions.run({ title: t('do.load'), send: () => this.#fetch(plan) });
    if (!loaded || this.plan?.id !== plan.id) return;
    this.view.begin(this.tree.size <= smallPlan ? this.tree.suites.keys() : [this.tree.root]);
    this.#detail.show(this.tree.root, { anew: true });
    this.view.choose(this.tree.has(suite) ? suite : this.tree.root);
    this.connection.watch(plan.id);
  }

  /** Shows the first page. */
  leave() {
    this.connection.watch(0);
    this.tree.load({ suites: [], revision: -1 });
    this.view.refresh();
    this.holds.clear();
    this.plan = null;
    goTo(location.pathname);
    $('work').hidden = true;
    $('welcome').hidden = false;
    $('welcome').replaceChildren(...welcome(this, (plan) => this.open(plan)));
    this.#title();
    this.#showState();
  }

  planChanged(plan) {
    if (plan.id !== this.plan?.id) return;
    this.plan = plan;
    this.#title();
    this.#showState();
    this.refresh();
  }

  /** Reads the tree again, once for all who ask meanwhile. */
  reload() {
    if (this.#reading) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#read().finally(() => { this.#reading = null; });
    return this.#reading;
  }

  /** Reads what a plan is now. It resolves with false where another one is shown by then. */
  async #fetch(plan) {
    const [answer, now] = await Promise.all([get(`/api/plans/${plan.id}/tree`), get(`/api/plans/${plan.id}`)]);
    if (plan.id !== this.plan?.id) return false;
    this.tree.load(answer);
    this.planChanged(now);
    this.#current();
    return true;
  }

  /** The tree is what it is on the server. */
  #current() {
    const behind = this.#behind;
    this.#behind = 0;
    this.#asOf = Date.now();
    if (!behind) return;
    this.#showState();
    this.#showHolds();
  }

  async #read() {
    do {
      this.#again = false;
      const [read] = this.plan ? await outcome(this.#fetch(this.plan)) : [];
      if (!read) return; // after a refusal, the next news of the plan has another revision than the tree
    } while (this.#again);
  }

  /** Draws what the tree is now. */
  refresh() {
    if (!this.plan) return;
    const before = this.view.chosen;
    const gone = this.tree.size && before && !this.tree.has(before);
    if (gone && !this.actions.mayHaveDone(`delete suite ${before}`)) notices.refused(t('suiteGone', { name: $('detail').querySelector('h1').textContent }), '', []);
    this.view.refresh();
    this.#foot();
    if (before !== this.view.chosen) this.#chosen(this.view.chosen);
    else this.#detail.update();
  }

  casesChanged() { if (this.plan) this.#detail.loadCases(); }

  nameOf(id) { return id === this.tree.root ? this.plan.name : this.tree.get(id)?.name ?? ''; }

  /** On a phone, either the tree or the chosen suite is in sight. */
  showScreen(screen) {
    $('work').dataset.screen = screen;
    this.#panelClosed();
    if (screen !== 'detail' || !matchMedia('(max-width: 720px)').matches) return;
    this.#panelClosed = closedByBack(() => this.showScreen('tree'));
    $('detail').focus();
  }

  /** Chooses a suite that was just made, unless another than before is chosen by now, and has keys go on from there. */
  made(id, before) {
    if (!this.tree.has(id) || this.view.chosen !== before) return;
    this.view.choose(id);
    if (document.activeElement?.closest('dialog, input, textarea')) return; // somebody is at something else
    this.view.focus();
    if (document.activeElement !== $('tree')) $('detail').focus(); // on a phone, the tree is not in sight
  }

  showVisitor() { text($('me'), visitor.get() ?? t('whoAmI')); }

  #chosen(id) {
    this.#detail.show(id);
    const at = `#plan/${this.plan.id}/suite/${id}`;
    goTo(at);
    $('second').href = at;
  }

  /** How a row looks. */
  #row(id) {
    const row = { name: this.nameOf(id) };
    const over = this.holds.over(this.tree, id), now = this.holds.now();
    if (this.session.edits(id)) return { ...row, kind: 'mine', chip: t('lock.mine') };
    if (over && !this.session.edits(over.at)) {
      const what = doing(over.hold.what), since = ago(Date.parse(over.hold.since), now);
      return { ...row, kind: over.own ? 'theirs' : 'below', chip: over.own ? `${what} · ${since}` : '', title: `${what} · ${since}` };
    }
    return row;
  }

  #showHolds() {
    this.view.draw();
    this.#detail.update();
    const gate = this.holds.gate(), away = this.session.lock && this.session.lock.plan !== this.plan?.id ? this.session.lock : null;
    const banner = $('banner');
    let words = '';
    const { state, heard, trouble } = this.connection, time = clock(heard);
    if (this.#state === 'behind') words = t('behindSince', { time: clock(this.#asOf) });
    else if (state === 'away') words = heard ? t('awaySince', { time }) : t('awayMore');
    else if (trouble === 'database-unavailable') words = t('databaseUnknown', { time });
    else if (trouble) words = t('locksUnknown');
    else if (gate) words = t(gate.since ? 'planHeld' : 'planTaken', { what: doing(gate.what), ago: ago(Date.parse(gate.since), this.holds.now()) });
    else if (this.holds.known && !this.holds.complete) words = t('locksCut', { count: this.holds.holders.length });
    else if (away) words = t('editElsewhere', { name: away.name });
    text(banner, words);
    banner.hidden = !words;
  }

  /** The connection's state, or that the server answers, but the tree does not come: it is still unread
   * when the next news arrive. */
  get #state() {
    const { state } = this.connection;
    return !this.plan ? '' : state === 'live' && this.#behind > 1 ? 'behind' : state || 'connecting';
  }

  #showState() {
    const state = this.#state;
    $('live').dataset.state = state;
    text($('live').lastElementChild, state ? t(state) : '');
    $('live').title = state ? t(state + 'More') : '';
  }

  #foot() {
    const all = this.tree.size - 1, filter = $('filter').value.trim();
    const matching = filter ? [...this.tree.suites.values()].filter((s) => s.parent !== null && s.name.toLocaleLowerCase().includes(filter.toLocaleLowerCase())).length : all;
    text($('tree-foot'), !filter ? t('counted', { count: Math.max(0, all) }) : matching ? t('found', { count: matching, all }) : t('nothingFound', { text: filter }));
  }

  #title() {
    const { plan } = this;
    text($('plan-name'), plan ? t('planOf', { project: plan.project, name: plan.name }) : t('choosePlan'));
    $('plan-button').title = t('plansMore');
    document.title = (plan ? plan.name + ' · ' : '') + 'pathlock';
  }

  /** Another language. */
  #words() {
    translate();
    $('language').textContent = t('otherLanguage');
    $('language').lang = lang() === 'en' ? 'zh-CN' : 'en';
    this.showVisitor();
    this.#title();
    this.#showState();
    this.#showHolds();
    if (this.plan) {
      this.#foot();
      if (this.tree.size) this.#detail.show(this.view.chosen, { anew: true });
    } else if (!$('welcome').hidden) this.leave();
  }
}

new App().start();
