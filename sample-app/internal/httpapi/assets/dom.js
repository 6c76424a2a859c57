// Elements are made here, and here alone. What people wrote gets into the page as text nodes.

/** An element. Properties that are functions become listeners, as "onclick"; "class" and names with
 * a dash become attributes; null and false are left out. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (name in element && name !== 'list' && name !== 'role') element[name] = value;
    else element.setAttribute(name === 'class' ? 'class' : name, value === true ? '' : String(value));
  }
  element.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

export const $ = (id) => document.getElementById(id);

/** Sets an attribute if it is another one, so that screen readers hear changes only. */
export function attribute(element, name, value) {
  const text = value === null || value === undefined || value === false ? null : String(value);
  if (element.getAttribute(name) === text) return;
  if (text === null) element.removeAttribute(name);
  else element.setAttribute(name, text);
}

export function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
}

/** Has the later clicks of a double click count only where the first one hit: that may have put
 * something else under the pointer. */
export function guardClicks() {
  let hit = null;
  const guard = (e) => {
    const target = e.target.closest('button, a, summary, label, [role=treeitem]');
    if (e.detail <= 1) hit = target;
    else if (hit !== target) {
      e.preventDefault();
      e.stopPropagation();
    }
  };
  document.addEventListener('click', guard, true);
  document.addEventListener('dblclick', guard, true);
}

/** Runs a function, unless its last run has not ended: a double click is one click. */
export function once(run) {
  let running = false;
  return async () => {
    if (running) return;
    running = true;
    try { await run(); } finally { running = false; }
  };
}

/** Calls listeners. */
export class Emitter {
  #listeners = new Map();
  on(event, listener) {
    const all = this.#listeners.get(event) ?? [];
    this.#listeners.set(event, [...all, listener]);
    return () => this.#listeners.set(event, this.#listeners.get(event).filter((l) => l !== listener));
  }
  emit(event, ...values) {
    for (const listener of this.#listeners.get(event) ?? []) listener(...values);
  }
}

/** Storage that may be switched off. */
export function remembered(storage, key) {
  return {
    get() {
      try { return JSON.parse(globalThis[storage].getItem('pathlock.' + key)); } catch { return null; }
    },
    set(value) {
      try {
        if (value === null) globalThis[storage].removeItem('pathlock.' + key);
        else globalThis[storage].setItem('pathlock.' + key, JSON.stringify(value));
      } catch { /* the page works without */ }
    },
  };
}
