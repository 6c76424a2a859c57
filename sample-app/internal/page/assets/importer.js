// A directory, or the demo, becomes a plan. Names are sent in batches, and nothing else.
import { send } from './api.js';
import { ask, validName } from './dialogs.js';
import { $, h, text } from './dom.js';
import { t } from './i18n.js';
import { done, refused } from './notices.js';
import { mayRepeat, reason } from './problems.js';

const most = 20000;
const batch = 500;
const deepest = 64;
const leftOut = new Set(['.git', '.hg', '.svn', 'node_modules', '.DS_Store']);

/** What files of an <input webkitdirectory> are called below their directory. */
export function namesOfFiles(files) {
  const entries = [];
  let name = '';
  for (const file of files) {
    const parts = file.webkitRelativePath.split('/');
    name ||= parts[0];
    entries.push({ path: parts.slice(1), file: true });
  }
  return { name, ...sorted(entries) };
}

/** Leaves out what cannot be a suite or a case. */
function sorted(entries) {
  const items = [];
  let skipped = 0;
  for (const { path, file } of entries) {
    if (path.some((name) => leftOut.has(name))) continue;
    if (!path.length || path.length > deepest || !path.every(validName)) skipped++;
    else if (items.length < most) items.push(file ? { case: { path: path.join('/') } } : { suite: path.join('/') });
  }
  return { items, skipped, cut: entries.length > most };
}

/** Makes a plan of items, with a bar that shows how far it is. It resolves with the plan, or null. */
export async function makePlan(app, project, { name, items, skipped = 0, cut = false }) {
  if (!items.length) {
    refused(t('do.import', { name }), t('importNothing'), []);
    return null;
  }
  const plan = await freePlan(app, project, name);
  if (!plan) return null;
  const sent = await fill(app, plan, items);
  if (skipped || cut) refused(t('do.import', { name }), [skipped ? t('importSkipped', { count: skipped }) : '', cut ? t('importTooMany', { max: most }) : ''].join(' '), []);
  if (sent) done(t('ok.create', { name: plan.name }));
  return plan;
}

/** Creates a plan with the name, or with a number behind it. */
async function freePlan(app, project, name) {
  name = validName(name) ? name : t('newPlan');
  for (let n = 1; ; n++) {
    const as = n === 1 ? name : `${[...name].slice(0, 245).join('')} ${n}`;
    const answer = await app.actions.run({
      title: t('do.createPlan', { name: as }),
      send: async (key) => {
        try {
          return await send('POST', `/api/projects/${encodeURIComponent(project)}/plans`, { body: { name: as }, key });
        } catch (refusal) {
          if (refusal.kind === 'name-taken' && n < 50) return 'taken';
          throw refusal;
        }
      },
    });
    if (answer !== 'taken') return answer;
  }
}

/** Sends the items. A batch that is refused can be sent again: what is there already stays. */
function fill(app, plan, items) {
  const bar = h('progress', { max: items.length, value: 0 }), count = h('p', { class: 'faint', role: 'status' });
  const trouble = h('p', { class: 'wrong', role: 'alert' }), foot = h('div', { class: 'dialog-foot' });
  const stopped = new AbortController();
  const sendAll = async (close) => {
    foot.replaceChildren(h('button', { type: 'button', onclick: () => { stopped.abort(); close(false); } }, t('stop')));
    trouble.textContent = '';
    try {
      while (bar.value < items.length && !stopped.signal.aborted) {
        const some = items.slice(bar.value, bar.value + batch);
        await send('POST', `/api/plans/${plan.id}/import`, {
          signal: stopped.signal,
          body: { suites: some.filter((i) => i.suite).map((i) => i.suite), cases: some.filter((i) => i.case).map((i) => i.case) },
        });
        bar.value += some.length;
        count.textContent = t('importCount', { done: bar.value, all: items.length });
      }
      close(true);
    } catch (refusal) {
      if (stopped.signal.aborted) return;
      if (!('status' in refusal)) throw refusal;
      text(trouble, reason(refusal, app.holds.now()));
      if (mayRepeat(refusal)) foot.prepend(h('button', { type: 'button', class: 'primary', onclick: () => sendAll(close) }, t('continue')));
    }
  };
  return ask(t('importing', { name: plan.name }), (close) => {
    sendAll(close);
    return h('div', {}, bar, count, trouble, foot);
  }).finally(() => { stopped.abort(); $('said').textContent = ''; });
}
