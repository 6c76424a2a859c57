// The field in which a name is changed in its place: in a row of the tree, and in the title.
import { validName } from './dialogs.js';
import { h } from './dom.js';

/** A field with a name. It calls end with what is written, or with null where that is given up: only
 * Enter sends it. A name that cannot be one is refused, and stays to be mended. */
export function nameField(name, label, { end, refuse }) {
  const field = h('input', {
    type: 'text', value: name, maxLength: 300, 'aria-label': label, spellcheck: false, 
    onblur: () => { if (document.hasFocus()) end(null); }, // and not because the window is left
    onkeydown: (e) => {
      e.stopPropagation();
      if (e.isComposing) return;
      if (e.key === 'Enter' && !validName(field.value)) refuse(field.value);
      else if (e.key === 'Enter') end(field.value);
      if (e.key === 'Escape') end(null);
    },
  });
  return field;
}
