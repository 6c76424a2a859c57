// Choosing, creating, renaming and deleting plans; and the first page, without one.
import { get, send } from './api.js';
import { ask, askText, askYes } from './dialogs.js';
import demos from './demo.json' with { type: 'json' };
import { h } from './dom.js';
import { lang, t } from './i18n.js';
import { done } from './notices.js';

const firstProject = 'demo';
/** How many projects the server lists. */
const listed = 1000;

/** All plans, by project. */
export async function allPlans() {
  const { projects } = await get('/api/projects');
  return Promise.all(projects.map(async ({ name }) => (await get(`/api/projects/${encodeURIComponent(name)}/plans`)).plans))
    .then((lists) => lists.flat());
}

/** The ways to a first plan: cards, with headings of a level. */
function beginnings(app, heading, opened) {
  const project = app.plan?.project ?? firstProject;
  const use = async () => {
    const { name, ...names } = demos[lang()];
    let as = name;
    const plan = await app.actions.run({
      title: t('do.createPlan', { name }), about: 'demo',
      send: async (key) => {
        const taken = new Set((await allPlans()).filter((p) => p.project === project).map((p) => p.name));
        for (let n = 2; taken.has(as); n++) as = `${name} ${n}`;
        return create(project, as, key);
      },
    });
    if (!plan || !await app.actions.run({ title: t('do.import', { name: as }), send: (key) => send('POST', `/api/plans/${plan.id}/import`, { body: names, key }) })) return;
    done(t('ok.create', { name: as }));
    opened(plan);
  };
  return h('div', { class: 'cards' },
    h('article', { class: 'card' }, h(heading, {}, t('welcome.play')), h('p', {}, t('welcome.demoMore')),
      h('button', { type: 'button', class: 'primary', 'data-do': 'demo', onclick: use }, t('welcome.demo'))),
    h('article', { class: 'card' }, h(heading, {}, t('welcome.empty')), h('p', {}, t('welcome.emptyMore')),
      h('button', { type: 'button', 'data-do': 'create-plan', onclick: () => newPlan(app, project, opened) }, t('create'))));
}

const create = (project, name, key) => send('POST', `/api/projects/${encodeURIComponent(project)}/plans`, { body: { name }, key });

async function newPlan(app, project, opened, typed = '') {
  const name = await askText(t('newPlan'), t('name'), typed, { button: t('create') });
  if (!name) return;
  const plan = await app.actions.run({
    title: t('do.createPlan', { name }), change: () => newPlan(app, project, opened, name), send: (key) => create(project, name, key),
  });
  if (plan) opened(plan);
}

/** The first page. */
export function welcome(app, opened) {
  return [
    h('h1', {}, t('welcome.title')), h('p', { class: 'lead' }, t('welcome.lead')), beginnings(app, 'h2', opened),
    h('section', { class: 'try' }, h('h2', {}, t('welcome.try')),
      h('ol', {}, h('li', {}, t('welcome.try1')), h('li', {}, t('welcome.try2')), h('li', {}, t('welcome.try3')))),
    h('p', { class: 'faint' }, h('a', { href: 'routes' }, t('welcome.routes'))),
  ];
}

/** Lets a plan be chosen, and others be made. It resolves with the plan, or null. */
export async function choosePlan(app) {
  const read = () => app.actions.run({ title: t('plans'), send: () => allPlans() });
  // The list is there before the dialog opens: what is below it must not move under the pointer.
  const found = await read();
  return ask(t('plans'), (close) => {
    const list = h('div', { class: 'plan-list' });
    const draw = (plans) => {
      if (!plans) return;
      list.replaceChildren();
      let project = null;
      for (const plan of plans) {
        if (plan.project !== project) list.append(h('h3', {}, project = plan.project));
        list.append(h('div', { class: 'plan-line' },
          h('button', { type: 'button', class: 'link', 'aria-current': plan.id === app.plan?.id ? 'true' : null, onclick: () => close(plan) }, plan.name),
          h('button', { type: 'button', class: 'quiet icon', 'aria-label': t('renamePlan'), title: t('renamePlan'), onclick: async () => { await rename(app, plan); draw(await read()); } }, h('span', { class: 'sign-pen', 'aria-hidden': 'true' })),
          h('button', { type: 'button', class: 'quiet icon', 'aria-label': t('deletePlan'), title: t('deletePlan'), onclick: async () => { await remove(app, plan); draw(await read()); } }, h('span', { class: 'sign-bin', 'aria-hidden': 'true' }))));
      }
      if (!plans.length) list.append(h('p', { class: 'faint' }, t('noPlans')));
      const { size } = new Set(plans.map((plan) => plan.project));
      if (size >= listed) list.append(h('p', { class: 'faint' }, t('projectsListed', { count: size })));
    };
    draw(found);
    return h('div', {}, list, h('h3', { class: 'ruled' }, t('newPlan')), beginnings(app, 'h4', close));
  }, { wide: true });
}

async function rename(app, plan, typed = plan.name) {
  const to = await askText(t('renamePlan'), t('name'), typed);
  if (!to || to === plan.name) return;
  await app.actions.run({
    title: t('do.renamePlan', { to }), ok: t('ok.rename', { to }), change: () => rename(app, plan, to),
    send: (key) => send('PATCH', `/api/plans/${plan.id}`, { body: { name: to }, key }), then: (renamed) => app.planChanged(renamed),
  });
}

async function remove(app, plan) {
  const { suites } = await get(`/api/plans/${plan.id}/tree`).catch(() => ({ suites: [] }));
  if (!await askYes(t('sureDeletePlan', { name: plan.name, suites: t('counted', { count: Math.max(0, suites.length - 1) }) }), t('delete'))) return;
  await app.actions.run({
    title: t('do.deletePlan', { name: plan.name }), about: `delete plan ${plan.id}`, send: (key) => send('DELETE', `/api/plans/${plan.id}`, { key }),
    then: () => { if (plan.id === app.plan?.id) app.leave(); },
  });
}
