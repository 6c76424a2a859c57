// Dragging rows with a mouse or a pen. Fingers scroll; they and keyboards have "Move…".
import { h } from './dom.js';
import { shown } from './foreign.js';

const begins = 6; // pixels
const opens = 700; // how long to stay over a closed row, in milliseconds
const edge = 36; // pixels at the edges that scroll

/** on has idAt(node), name(id), may(id), fits(id, to), open(id), target(id) and drop(id, to, copies). */
export class Drag {
  #element;
  #on;
  #id = 0;
  #to = 0;
  #ghost = null;
  #start = null;
  #timer = 0;

  constructor(element, on) {
    this.#element = element;
    this.#on = on;
    element.addEventListener('pointerdown', (e) => this.#down(e));
    element.addEventListener('pointermove', (e) => this.#move(e));
    element.addEventListener('pointerup', (e) => this.#end(e, true));
    element.addEventListener('pointercancel', (e) => this.#end(e, false));
    addEventListener('keydown', (e) => { if (e.key === 'Escape' && this.#ghost) this.#end(e, false); });
  }

  #down(e) {
    const id = this.#on.idAt(e.target);
    if (e.button !== 0 || e.pointerType === 'touch' || !id || !this.#on.may(id) || e.target.closest('input, .twisty')) return;
    this.#id = id;
    this.#start = { x: e.clientX, y: e.clientY, pointer: e.pointerId };
  }

  #move(e) {
    if (!this.#id) return;
    if (!this.#ghost) {
      if (Math.hypot(e.clientX - this.#start.x, e.clientY - this.#start.y) < begins) return;
      this.#element.setPointerCapture(this.#start.pointer);
      this.#element.classList.add('dragging');
      this.#ghost = h('div', { class: 'ghost', 'aria-hidden': 'true' }, shown(this.#on.name(this.#id) ?? ''));
      document.body.append(this.#ghost);
    }
    e.preventDefault();
    this.#ghost.style.transform = `translate(${e.clientX + 14}px, ${e.clientY + 10}px)`;
    this.#ghost.dataset.copies = String(e.ctrlKey || e.metaKey);
    const box = this.#element.getBoundingClientRect();
    if (e.clientY < box.top + edge) this.#element.scrollTop -= edge / 3;
    if (e.clientY > box.bottom - edge) this.#element.scrollTop += edge / 3;
    const over = this.#on.idAt(document.elementFromPoint(e.clientX, e.clientY) ?? this.#element);
    this.#aim(over && this.#on.fits(this.#id, over) ? over : 0);
  }

  #aim(to) {
    if (to === this.#to) return;
    this.#to = to;
    clearTimeout(this.#timer);
    if (to) this.#timer = setTimeout(() => this.#on.open(to), opens);
    this.#on.target(to);
  }

  #end(e, drops) {
    const id = this.#id, to = this.#to, dragged = this.#ghost;
    this.#id = 0;
    this.#aim(0);
    if (!dragged) return;
    dragged.remove();
    this.#ghost = null;
    this.#element.classList.remove('dragging');
    // The click that follows a drag is not one.
    const swallow = (click) => { click.stopPropagation(); click.preventDefault(); };
    addEventListener('click', swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener('click', swallow, { capture: true }), 0);
    if (drops && to) this.#on.drop(id, to, Boolean(e.ctrlKey || e.metaKey));
  }
}
