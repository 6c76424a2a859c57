// Messages at the edge of the page: what was done, and what was refused and can be tried again.
import { $, h, text } from './dom.js';
import { t } from './i18n.js';

const shortly = 10_000; // ms: there may be an Undo to reach

/** Shows that something is done, for a moment. action is {label, run}. */
export function done(message, action) {
  const card = show('good', message, null, action ? [{ label: action.label, run: () => { card.close(); action.run(); } }] : []);
  card.fade();
  return card;
}

/** Shows a refusal. Buttons are {label, run, kind}. The card stays until it is closed. */
export const refused = (title, message, buttons) => show('bad', title, message, buttons);

function show(kind, title, message, buttons) {
  const heading = h('strong', {}, title), body = h('p', {}, message ?? ''), foot = h('div', { class: 'buttons' });
  const card = h('div', { class: 'notice ' + kind }, h('div', { class: 'notice-text' }, heading, body), foot);
  let timer = 0;
  const self = {
    /** Replaces what the card says. */
    update(nextKind, nextMessage, nextButtons) {
      card.className = 'notice ' + nextKind;
      text(body, nextMessage ?? '');
      body.hidden = !nextMessage;
      const focused = foot.contains(document.activeElement);
      foot.replaceChildren(...nextButtons.map((b) => h('button', { type: 'button', class: b.kind ?? '', onclick: b.run }, b.label)),
        h('button', { type: 'button', class: 'quiet icon', 'aria-label': t('dismiss'), title: t('dismiss'), onclick: () => self.close() }, '×'));
      if (focused) foot.querySelector('button').focus();
    },
    fade() {
      timer = setTimeout(() => (card.matches(':hover') || card.contains(document.activeElement) ? self.fade() : self.close()), shortly);
    },
    close() {
      clearTimeout(timer);
      if (!card.isConnected) return;
      card.remove();
      self.onclose?.();
    },
    get open() { return card.isConnected; },
  };
  self.update(kind, message, buttons);
  $('notices').append(card);
  if (card.closest('dialog')) card.scrollIntoView({ block: 'nearest' });
  return self;
}
