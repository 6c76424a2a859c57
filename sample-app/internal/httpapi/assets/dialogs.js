// Questions to the person at the page.
import { closedByBack } from './back.js';
import { $, h, text } from './dom.js';
import { t } from './i18n.js';

/** Opens a dialog and resolves with what close was called with, null if it was left. build gets
 * close and returns the content. A click beside it leaves it unless something was typed; Escape and Back do.
 * What somebody writes at length stays until they say so. */
export function ask(title, build, { wide, stays } = {}) {
  return new Promise((resolve) => {
    const notices = $('notices');
    let answer = null;
    const close = (value) => {
      answer = value;
      closed();
      dialog.close();
    };
    const dialog = h('dialog', { class: wide ? 'wide-dialog' : '', 'aria-label': title, closedby: stays ? 'none' : 'any' },
      h('div', { class: 'dialog-head' }, h('h2', {}, title),
        h('button', { type: 'button', class: 'quiet icon', 'aria-label': t('close'), title: t('close'), onclick: () => close(null) }, '×')),
      build(close));
    const typed = () => 'typed' in dialog.dataset;
    const closed = closedByBack(() => !(stays && typed()) && close(null));
    dialog.addEventListener('close', () => {
      closed();
      // Another dialog may be open: one around this one, or one that has opened since, for the event
      // comes with the next frame. Notices that are moved lose the focus.
      const top = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
      if (notices.parentElement !== top) top.append(notices);
      dialog.remove();
      resolve(answer);
    });
    // Not every browser knows closedby yet.
    if (stays) dialog.addEventListener('keydown', (e) => { if (e.key === 'Escape') e.preventDefault(); });
    dialog.addEventListener('input', () => {
      dialog.dataset.typed = '';
      if (!stays) dialog.setAttribute('closedby', 'closerequest');
    });
    document.body.append(dialog);
    // What is outside of a dialog cannot be clicked. Messages can be, and they come below its buttons.
    dialog.append(notices);
    dialog.showModal();
    const first = dialog.querySelector('[autofocus]') ?? dialog.querySelector('input, .primary');
    first?.focus();
    if (first?.tagName === 'INPUT') first.select();
  });
}

export const okCancel = (close, label, kind = 'primary') => h('div', { class: 'dialog-foot' },
  h('button', { type: 'button', onclick: () => close(null) }, t('cancel')), h('button', { type: 'submit', class: kind }, label));

const form = (onsubmit, ...children) => h('form', { onsubmit: (e) => { e.preventDefault(); onsubmit(); } }, ...children);

/** Whether a text can be the name of a suite, case or plan. */
export function validName(name) {
  return name !== '' && [...name].length <= 255 && name.trim() === name && !/[/\u0000-\u001f\u007f-\u009f]/.test(name) && name !== '.' && name !== '..';
}

/** Asks for a name. */
export function askText(title, label, value = '', { more, button, check = validName } = {}) {
  return ask(title, (close) => {
    const input = h('input', { type: 'text', value, autocomplete: 'off', spellcheck: false, 'aria-label': label });
    const wrong = h('p', { class: 'wrong', role: 'alert' });
    return form(() => {
      if (check(input.value)) close(input.value);
      else { wrong.textContent = t('err.badName'); input.focus(); }
    }, h('label', {}, h('span', {}, label), input), more ? h('p', { class: 'faint' }, more) : null, wrong, okCancel(close, button ?? t('ok')));
  });
}

/** Asks for consent. */
export function askYes(question, button) {
  return ask(question, (close) => form(() => close(true), okCancel(close, button, 'danger')));
}

/** Asks for a suite, and for a name if one is given. It resolves with {to, name}. */
export function askPlace(title, tree, planName, { start, refuses, name, button }) {
  const most = 100;
  return ask(title, (close) => {
    const wrong = h('p', { class: 'wrong', role: 'alert' }), more = h('p', { class: 'faint' });
    const finder = h('input', { type: 'search', autocomplete: 'off', spellcheck: false, 'aria-label': t('find'), placeholder: t('find'), autofocus: true });
    const naming = name === undefined ? null : h('input', { type: 'text', value: name, autocomplete: 'off', 'aria-label': t('name') });
    const list = h('select', { class: 'places', size: 10, 'aria-label': title, ondblclick: () => submit() });
    const all = [];
    const visit = (id) => {
      const label = id === tree.root ? planName : tree.path(id);
      if (!refuses(id)) all.push({ id, label, key: label.toLocaleLowerCase() });
      for (const child of tree.children(id)) visit(child);
    };
    visit(tree.root);
    const draw = () => {
      const wanted = finder.value.toLocaleLowerCase(), chosen = list.value || String(start), found = all.filter(({ key }) => key.includes(wanted));
      list.replaceChildren(...found.slice(0, most).map(({ id, label }) => h('option', { value: String(id) }, label)));
      list.value = chosen;
      if (list.selectedIndex < 0) list.selectedIndex = 0;
      more.textContent = found.length > most ? t('moreFound', { count: found.length - most }) : '';
    };
    const submit = () => {
      text(wrong, !list.value ? t('nothingFound', { text: finder.value }) : naming && !validName(naming.value) ? t('err.badName') : '');
      if (!list.value) finder.focus();
      else if (wrong.textContent) naming.focus();
      else close({ to: Number(list.value), name: naming?.value });
    };
    finder.addEventListener('input', draw);
    list.addEventListener('keydown', (e) => { if (e.key === 'Enter') submit(); });
    draw();
    return form(submit, finder, list, more, naming ? h('label', {}, h('span', {}, t('name')), naming) : null, wrong, okCancel(close, button));
  }, { wide: true });
}
