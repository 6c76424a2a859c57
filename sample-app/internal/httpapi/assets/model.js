// The tree of a plan, as the page knows it.

export class Tree {
  suites = new Map();
  root = 0;
  revision = -1;
  #children = new Map();
  #collator = new Intl.Collator(undefined, { numeric: true });

  /** Replaces everything. */
  load({ suites, revision }) {
    this.revision = revision;
    this.suites = new Map(suites.map((s) => [s.id, { id: s.id, parent: s.parent_id, name: s.name }]));
    this.#children = new Map();
    for (const [parent, all] of Map.groupBy(this.suites.values(), (s) => s.parent)) {
      all.sort((a, b) => this.#collator.compare(a.name, b.name) || a.id - b.id);
      this.#children.set(parent, all.map(({ id }) => id));
    }
    [this.root = 0] = this.children(null);
  }

  has(id) { return this.suites.has(id); }
  get(id) { return this.suites.get(id); }
  parent(id) { return this.suites.get(id)?.parent ?? null; }
  get size() { return this.suites.size; }

  /** The children, in the order of people. */
  children(id) { return this.#children.get(id) ?? []; }

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
