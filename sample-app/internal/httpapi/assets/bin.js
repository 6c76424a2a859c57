// The recycle bin.
import { get } from './api.js';
import { ask } from './dialogs.js';
import { h, once } from './dom.js';
import { clock, t } from './i18n.js';

/** Opens the recycle bin. It shows what others put in and take out. */
export function openBin(app) {
  const list = h('ul', { class: 'bin-list' }), empty = h('p', { class: 'faint' }), foot = h('div', { class: 'dialog-foot' });
  const { id } = app.plan; // others may delete it meanwhile
  let known = '';
  const read = () => get(`/api/plans/${id}/recycle-bin`);
  const draw = async () => show(await app.actions.run({ title: t('bin'), send: read }));
  const show = (answer) => {
    if (!answer || JSON.stringify(answer) === known) return;
    known = JSON.stringify(answer);
    const items = answer.items.reverse(); // the newest first
    empty.textContent = items.length ? '' : t('binEmpty');
    list.replaceChildren(...items.map((item) => h('li', {},
      h('div', {}, h('strong', {}, item.name), h('p', { class: 'faint' }, t(item.kind === 'case' ? 'binCase' : 'binItem',
        { path: item.path, when: clock(Date.parse(item.deleted_at)), suites: t('counted', { count: item.suites }), cases: t('countedCases', { count: item.cases }) }))),
      h('button', { type: 'button', 'data-do': 'restore', onclick: async () => { await app.operations.restore(id, item.name, `item ${item.id}`, (one) => one.id === item.id); draw(); } }, t('restore')))));
    foot.replaceChildren(...(items.length ? [h('button', { type: 'button', class: 'danger', onclick: async () => { await app.operations.purge(id, items.length); draw(); } }, t('purge'))] : []));
  };
  const off = app.connection.on('asked', once(() => read().then(show, () => {})));
  draw();
  ask(t('bin'), () => h('div', {}, empty, list, foot), { wide: true }).then(off);
}
