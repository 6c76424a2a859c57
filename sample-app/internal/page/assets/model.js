// The tree of a plan, as the page knows it.

export class Tree {
  suites = new Map();
  root = 0;
  revision = -1;
  #children = new Map();
  #sorted = new Set();
  #collator = new Intl.Collator(undefined, { numeric: true });

  /** Replaces everything. */
  load({ suites, revision }) {
    this.suites = new Map();
    this.#children = new Map();
    this.#sorted.clear();
    this.revision = revision;
    for (const s of suites) this.#put(s);
  }

  #put(s) {
    this.suites.set(s.id, { id: s.id, parent: s.parent_id, name: s.name });
    if (s.parent_id === null) {
      this.root = s.id;
      return;
    }
    const siblings = this.#children.get(s.parent_id);
    if (siblings) siblings.push(s.id);
    else this.#children.set(s.parent_id, [s.id]);
    this.#sorted.delete(s.parent_id);
  }

  #take(id) {
    const old = this.suites.get(id);
    if (!old || old.parent === null) return;
    const siblings = this.#children.get(old.parent);
    siblings.splice(siblings.indexOf(id), 1);
  }

  /** Puts in a suite that was created or changed. */
  put(s) {
    this.#take(s.id);
    this.#put(s);
  }

  /** Takes out a suite and all below it. */
  remove(id) {
    this.#take(id);
    const all = [id];
    for (let at = all.pop(); at !== undefined; at = all.pop()) {
      all.push(...(this.#children.get(at) ?? []));
      this.#children.delete(at);
      this.suites.delete(at);
    }
  }

  has(id) { return this.suites.has(id); }
  get(id) { return this.suites.get(id); }
  parent(id) { return this.suites.get(id)?.parent ?? null; }
  get size() { return this.suites.size; }

  /** The children, in the order of people. It sorts them when somebody looks. */
  children(id) {
    const all = this.#children.get(id);
    if (!all) return [];
    if (!this.#sorted.has(id)) {
      all.sort((a, b) => this.#collator.compare(this.suites.get(a).name, this.suites.get(b).name) || a - b);
      this.#sorted.add(id);
    }
    return all;
  }

  /** The suite and those above it, the root last. */
  upwards(id) {
    const all = [];
    for (let at = id; at !== null && this.suites.has(at); at = this.parent(at)) all.push(at);
    return all;
  }

  /** Whether a is b, or is above it. */
  contains(a, b) { return this.upwards(b).includes(a); }

  /** The path, as the interface spells it. */
  path(id) {
    return this.upwards(id).slice(0, -1).reverse().map((at) => '/' + this.suites.get(at).name).join('') || '/';
  }

  /** A name for a copy that no child of the parent has. */
  freeName(parent, name) {
    const taken = new Set(this.children(parent).map((id) => this.suites.get(id).name));
    for (let n = 2; taken.has(name); n++) name = name.replace(/ \d+$/, '') + ' ' + n;
    return name;
  }
}
