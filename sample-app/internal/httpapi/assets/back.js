// What the browser's Back closes: the dialog, or on a phone the panel, that was opened last. For that,
// one entry of the history lies on top of the page's own while something is open.

const opened = []; // functions that close
let here = location.href;

const onTop = () => history.state?.onTop; // false on the page's own entry, if there is one on top of it

function cover() {
  if (!opened.length || onTop()) return;
  history.replaceState({ onTop: false }, '');
  history.pushState({ onTop: true }, '');
}

/** Has Back call a function, which may return false to stay open. It returns what to call once it is
 * closed. */
export function closedByBack(close) {
  opened.push(close);
  cover();
  return () => { if (opened.includes(close)) opened.splice(opened.indexOf(close), 1); };
}

/** Sets the address. */
export function goTo(url) {
  if (new URL(url, location.href).href !== location.href) history.replaceState(history.state, '', url);
  here = location.href;
}

addEventListener('popstate', () => {
  if (onTop() !== false) return; // somebody follows a link
  history.replaceState(history.state, '', here);
  const close = opened.pop();
  if (!close) history.back(); // nothing is open any more
  else if (close() === false) opened.push(close);
  cover();
});
