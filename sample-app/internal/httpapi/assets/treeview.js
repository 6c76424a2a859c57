// The tree on the page, after the ARIA pattern of a tree view. It has elements for the rows in
// sight only, and the focus stays on the tree itself, so that no update takes it away.
import { attribute, Emitter, h, text } from './dom.js';

const beyond = 8; // rows above and below those in sight

/** Emits choose(id), and open(id) and enter(id) where a suite was clicked or entered by a key.
 * describe(id) returns {name, chip, kind, title}. */
export class TreeView extends Emitter {
  chosen = 0;
  #element;
  #space = h('div', { class: 'rows', role: 'presentation' });
  #tree;
  #describe;
  #opened = new Set();
  #filter = '';
  #shown = []; // ids of the rows, in order
  #at = new Map(); // their places
  #rows = new Map(); // elements by id
  #above = []; // the chosen suite and those above it, as they were when last drawn

  constructor(element, tree, describe) {
    super();
    this.#element = element;
    this.#tree = tree;
    this.#describe = describe;
    element.append(this.#space);
    element.addEventListener('scroll', () => this.draw(), { passive: true });
    element.addEventListener('keydown', (e) => this.#key(e));
    element.addEventListener('click', ({ target }) => this.#click(Number(target.closest('.row')?.dataset.id), target.closest('.twisty')));
    new ResizeObserver(() => this.draw()).observe(element);
  }

  get #height() { return parseFloat(getComputedStyle(this.#element).getPropertyValue('--row')) || 34; }

  /** Shows the tree as it is now. */
  refresh() {
    if (!this.#tree.has(this.chosen)) this.chosen = this.#above.find((id) => this.#tree.has(id)) ?? this.#tree.root;
    this.#above = this.#tree.upwards(this.chosen);
    const wanted = this.#filter.toLocaleLowerCase();
    let matches = null;
    if (wanted) {
      matches = new Set();
      for (const s of this.#tree.suites.values()) {
        if (s.name.toLocaleLowerCase().includes(wanted)) for (const id of this.#tree.upwards(s.id)) matches.add(id);
      }
    }
    this.#shown = [];
    this.#at.clear();
    const visit = (id, level, number, of) => {
      if (matches && !matches.has(id)) return;
      this.#at.set(id, { row: this.#shown.length, level, number, of });
      this.#shown.push(id);
      if (!(matches || this.#opened.has(id))) return;
      const children = this.#tree.children(id);
      children.forEach((child, i) => visit(child, level + 1, i + 1, children.length));
    };
    if (this.#tree.size) visit(this.#tree.root, 1, 1, 1);
    this.draw();
  }

  /** Opens suites: all of a small plan, the first level of a large one. */
  begin(opened) {
    this.#opened = new Set(opened);
    this.chosen = this.#tree.root;
    this.#element.scrollTop = 0;
  }

  filter(wanted) {
    this.#filter = wanted.trim();
    this.refresh();
  }

  choose(id) {
    if (!this.#tree.has(id)) return;
    for (const above of this.#tree.upwards(id).slice(1)) this.#opened.add(above);
    this.chosen = id;
    this.refresh();
    this.#scroll();
    this.emit('choose', id);
  }

  focus() { this.#element.focus({ preventScroll: true }); }

  /** Draws the rows in sight. */
  draw() {
    const height = this.#height, top = this.#element.scrollTop;
    this.#space.style.height = this.#shown.length * height + 'px';
    const first = Math.max(0, Math.floor(top / height) - beyond);
    const last = Math.min(this.#shown.length, Math.ceil((top + this.#element.clientHeight) / height) + beyond);
    const wanted = new Set(this.#shown.slice(first, last));
    if (this.#at.has(this.chosen)) wanted.add(this.chosen);
    for (const [id, row] of this.#rows) {
      if (wanted.has(id)) continue;
      this.#rows.delete(id);
      row.remove();
    }
    for (const id of wanted) this.#drawRow(id, height);
    attribute(this.#element, 'aria-activedescendant', this.#at.has(this.chosen) ? 'suite-' + this.chosen : null);
  }

  #drawRow(id, height) {
    let row = this.#rows.get(id);
    if (!row) {
      row = h('div', { class: 'row', role: 'treeitem', id: 'suite-' + id, 'data-id': id },
        h('span', { class: 'twisty', 'aria-hidden': 'true' }), h('span', { class: 'name' }), h('span', { class: 'chip' }));
      this.#rows.set(id, row);
      this.#space.append(row);
    }
    const at = this.#at.get(id), is = this.#describe(id), opens = this.#tree.children(id).length > 0;
    row.style.transform = `translateY(${at.row * height}px)`;
    row.style.setProperty('--level', at.level);
    attribute(row, 'aria-level', at.level);
    attribute(row, 'aria-posinset', at.number);
    attribute(row, 'aria-setsize', at.of);
    attribute(row, 'aria-selected', String(id === this.chosen));
    attribute(row, 'aria-expanded', opens ? String(Boolean(this.#filter) || this.#opened.has(id)) : null);
    attribute(row, 'data-lock', is.kind);
    const [twisty, name, chip] = row.children;
    text(twisty, opens ? '▸' : '');
    text(name, is.name);
    text(chip, is.chip ?? '');
    attribute(chip, 'title', is.title);
  }

  #click(id, twisty) {
    if (!this.#tree.has(id)) return;
    if (twisty && this.#tree.children(id).length) {
      this.#open(id, !this.#opened.has(id));
      return;
    }
    this.choose(id);
    this.emit('open', id);
  }

  #open(id, on) {
    if (on) this.#opened.add(id);
    else {
      this.#opened.delete(id);
      if (id !== this.chosen && this.#tree.contains(id, this.chosen)) this.choose(id);
    }
    this.refresh();
  }

  #scroll() {
    const at = this.#at.get(this.chosen);
    if (!at) return;
    const height = this.#height, top = at.row * height;
    if (top < this.#element.scrollTop) this.#element.scrollTop = top;
    else if (top + height > this.#element.scrollTop + this.#element.clientHeight) this.#element.scrollTop = top + height - this.#element.clientHeight;
    this.draw();
  }

  #key(e) {
    const id = this.chosen, row = this.#at.get(id)?.row ?? 0, page = Math.max(1, Math.floor(this.#element.clientHeight / this.#height) - 1);
    const go = (to) => this.choose(this.#shown[Math.max(0, Math.min(this.#shown.length - 1, to))]);
    const children = this.#tree.children(id), opened = this.#opened.has(id);
    const moves = {
      ArrowDown: () => go(row + 1), ArrowUp: () => go(row - 1), Home: () => go(0), End: () => go(this.#shown.length - 1),
      PageDown: () => go(row + page), PageUp: () => go(row - page),
      ArrowRight: () => (children.length && !opened ? this.#open(id, true) : children.length && go(row + 1)),
      ArrowLeft: () => (children.length && opened ? this.#open(id, false) : this.#tree.parent(id) && this.choose(this.#tree.parent(id))),
      '*': () => { for (const child of this.#tree.children(this.#tree.parent(id) ?? id)) this.#opened.add(child); this.refresh(); },
    };
    if (e.ctrlKey || e.metaKey || e.altKey || !this.#at.has(id) && !moves[e.key]) return; // what the filter hides is left alone
    if (moves[e.key]) { e.preventDefault(); moves[e.key](); }
    else if (e.key === 'Enter') { e.preventDefault(); this.emit('enter', id); }
  }
}
