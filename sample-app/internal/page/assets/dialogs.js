// Questions to the person at the page.
import { $, h, text } from './dom.js';
import { shown } from './foreign.js';
import { t } from './i18n.js';

/** Opens a dialog and resolves with what close was called with, null if it was left. build gets
 * close and returns the content. The focus goes back to where it was. */
export function ask(title, build, { wide } = {}) {
  return new Promise((resolve) => {
    const before = document.activeElement, notices = $('notices'), around = notices.parentElement;
    let answer = null;
    const close = (value) => { answer = value; dialog.close(); };
    const dialog = h('dialog', { class: wide ? 'wide-dialog' : '', 'aria-label': title },
      h('div', { class: 'dialog-head' }, h('h2', {}, title),
        h('button', { type: 'button', class: 'quiet icon', 'aria-label': t('close'), title: t('close'), onclick: () => close(null) }, '×')),
      build(close));
    dialog.addEventListener('close', () => {
      (around.isConnected ? around : document.body).append(notices); // it may have been a dialog, too
      dialog.remove();
      if (before?.isConnected) before.focus();
      resolve(answer);
    });
    // A click beside it leaves it: not one that began within, and not the second half of the double
    // click that has opened it.
    let pressed = null;
    dialog.addEventListener('pointerdown', (e) => { pressed = e.target; });
    dialog.addEventListener('click', (e) => { if (e.target === dialog && pressed === dialog && e.detail === 1) close(null); });
    document.body.append(dialog);
    // What is outside of a dialog cannot be clicked. Messages can be, and they come below its buttons.
    dialog.append(notices);
    dialog.showModal();
    const first = dialog.querySelector('[autofocus], input:not(.unseen), .primary');
    first?.focus();
    first?.select?.();
  });
}

const okCancel = (close, label, kind = 'primary') => h('div', { class: 'dialog-foot' },
  h('button', { type: 'button', onclick: () => close(null) }, t('cancel')), h('button', { type: 'submit', class: kind }, label));

const form = (onsubmit, ...children) => h('form', { onsubmit: (e) => { e.preventDefault(); onsubmit(); } }, ...children);

/** Whether a text can be the name of a suite, case or plan. */
export function validName(name) {
  return name !== '' && [...name].length <= 255 && name.trim() === name && !/[/\u0000-\u001f\u007f-\u009f]/.test(name) && name !== '.' && name !== '..';
}

/** Asks for a name. */
export function askText(title, label, value = '', { more, button, check = validName } = {}) {
  return ask(title, (close) => {
    const input = h('input', { type: 'text', value, autocomplete: 'off', spellcheck: false, 'aria-label': label, maxLength: 300 });
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
    let chosen = start;
    const wrong = h('p', { class: 'wrong', role: 'alert' });
    const finder = h('input', { type: 'search', autocomplete: 'off', spellcheck: false, 'aria-label': t('find'), placeholder: t('find'), autofocus: true });
    const naming = name === undefined ? null : h('input', { type: 'text', value: name, autocomplete: 'off', 'aria-label': t('name') });
    const list = h('div', { class: 'places', role: 'listbox', tabIndex: 0, 'aria-label': title });
    const more = h('p', { class: 'faint' });
    const label = (id) => (id === tree.root ? planName : tree.path(id));
    let options = [];
    const draw = () => {
      const wanted = finder.value.toLocaleLowerCase();
      options = [];
      let left = 0;
      const visit = (id) => {
        if (!refuses(id) && (!wanted || label(id).toLocaleLowerCase().includes(wanted))) {
          if (options.length < most) options.push(id);
          else left++;
        }
        for (const child of tree.children(id)) visit(child);
      };
      visit(tree.root);
      if (!options.includes(chosen)) chosen = options[0];
      list.replaceChildren(...options.map((id) => h('div', {
        role: 'option', id: 'place-' + id, 'aria-selected': String(id === chosen), onclick: () => { chosen = id; mark(); }, ondblclick: () => submit(),
      }, shown(label(id)))));
      more.textContent = left ? t('moreFound', { count: left }) : '';
      mark();
    };
    const mark = () => {
      for (const option of list.children) option.setAttribute('aria-selected', String(option.id === 'place-' + chosen));
      list.setAttribute('aria-activedescendant', 'place-' + chosen);
      list.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
    };
    const submit = () => {
      text(wrong, chosen === undefined ? t('nothingFound', { text: finder.value }) : naming && !validName(naming.value) ? t('err.badName') : '');
      if (chosen === undefined) finder.focus();
      else if (wrong.textContent) naming.focus();
      else close({ to: chosen, name: naming?.value });
    };
    const keys = (e) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (!step) return;
      e.preventDefault();
      const next = options.indexOf(chosen) + step;
      if (options[next] !== undefined) { chosen = options[next]; mark(); }
    };
    finder.addEventListener('input', draw);
    finder.addEventListener('keydown', keys);
    list.addEventListener('keydown', keys);
    draw();
    return form(submit, finder, list, more, naming ? h('label', {}, h('span', {}, t('name')), naming) : null, wrong, okCancel(close, button));
  }, { wide: true });
}
