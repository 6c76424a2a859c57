// What a visitor chooses for this browser: language and colours; and the list of keys.
import { ask } from './dialogs.js';
import { $, h, remembered } from './dom.js';
import { lang, setLanguage, t } from './i18n.js';

const themes = ['auto', 'light', 'dark'];
const signs = { auto: '◐', light: '☀', dark: '☾' };
const stored = remembered('localStorage', 'theme');

/** Sets the buttons up. again is called when the words are other ones. */
export function settings(again) {
  let theme = themes.includes(stored.get()) ? stored.get() : 'auto';
  const draw = () => {
    document.documentElement.dataset.theme = theme;
    const name = t('theme', { theme: t('theme.' + theme) });
    $('theme').textContent = signs[theme];
    label($('theme'), name);
    $('language').textContent = t('otherLanguage');
    $('language').title = t('language');
    $('language').lang = lang() === 'en' ? 'zh-CN' : 'en';
    label($('help'), t('help'));
  };
  $('theme').addEventListener('click', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    stored.set(theme === 'auto' ? null : theme);
    draw();
  });
  $('language').addEventListener('click', () => {
    setLanguage(lang() === 'en' ? 'zh-CN' : 'en');
    draw();
    again();
  });
  $('help').addEventListener('click', help);
  draw();
}

function label(element, words) {
  element.title = words;
  element.setAttribute('aria-label', words);
}

function help() {
  const keys = [['↑ ↓ ⇞ ⇟', 'move'], ['→ ←', 'open'], ['Enter', 'enter'], ['F2', 'f2'], ['Ins', 'new'], ['Del', 'delete'],
    ['Ctrl+X · Ctrl+C · Ctrl+V', 'cut'], ['a … z', 'letters'], ['/', 'find']];
  ask(t('help.title'), () => h('div', {}, h('dl', { class: 'keys' }, keys.flatMap(([key, what]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, t('help.' + what))])),
    h('p', {}, h('a', { href: 'routes' }, t('help.routes')))));
}
