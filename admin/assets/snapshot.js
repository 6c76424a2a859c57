// What is known of one tree: its entries, which nodes they lock, and who waits for whom.

const collator = new Intl.Collator(undefined, { numeric: true });

// strength orders the modes; what is stronger is shown first.
export const strength = { gate: 6, X: 5, SIX: 4, S: 3, IX: 2, IS: 1 };

export class Snapshot {
	constructor(data) {
		Object.assign(this, { namespace: data.namespace, id: data.id, entries: new Map() });
		this.take(data);
		this.derive();
	}

	take(data) {
		Object.assign(this, { version: data.version, fence: data.fence, holders: data.holders, waiters: data.waiters });
		for (const entry of data.entries) this.entries.set(entry.key, entry);
	}

	// apply takes a change over, and reports whether it fits to what is known.
	apply(change) {
		if (change.from !== this.version) return false;
		this.take(change);
		const live = new Set([...change.holders, ...change.waiters]);
		for (const key of this.entries.keys()) if (!live.has(key)) this.entries.delete(key);
		this.derive();
		return true;
	}

	derive() {
		this.held = this.holders.map(key => this.entries.get(key)).filter(Boolean);
		this.queue = this.waiters.map(key => this.entries.get(key)).filter(Boolean);
		this.waits = graph(this);
		this.root = nodes(this);
	}

	// of returns all entries of an owner.
	of(holder) { return [...this.entries.values()].filter(entry => entry.holder === holder); }

	isWaiting(entry) { return !entry.fence; }
}

// place is where an entry locks: its strongest claim there, intentions on the way left out.
export function places(entry) {
	if (entry.places) return entry.places;
	const found = [];
	if (entry.gate) found.push({ path: "/", mode: "gate" });
	for (const claim of entry.claims) {
		const intention = claim.mode === "IX" || claim.mode === "IS";
		const above = claim.path === "/" ? "/" : claim.path + "/";
		if (!intention || !entry.claims.some(other => other !== claim && other.path.startsWith(above))) found.push(claim);
	}
	return entry.places = found;
}

// nodes builds the tree of the locked nodes and those above them. A node has children, the locks on
// it, how many entries pass through to something beneath, and sums over its subtree.
function nodes(snapshot) {
	const root = node("/", "");
	const put = (entry, waiting) => {
		for (const place of places(entry)) {
			let at = root;
			const names = place.path === "/" ? [] : place.path.slice(1).split("/");
			names.forEach((name, depth) => {
				let child = at.children.get(name);
				if (!child) at.children.set(name, child = node("/" + names.slice(0, depth + 1).join("/"), name));
				at = child;
			});
			at.locks.push({ entry, mode: place.mode, waiting });
		}
	};
	for (const entry of snapshot.held) put(entry, false);
	for (const entry of snapshot.queue) put(entry, true);
	sum(root);
	return root;
}

function node(path, name) {
	return { path, name, children: new Map(), locks: [], sorted: [], held: 0, waiting: 0, modes: new Map() };
}

function sum(at) {
	for (const lock of at.locks) {
		if (lock.waiting) at.waiting++;
		else {
			at.held++;
			at.modes.set(lock.mode, (at.modes.get(lock.mode) ?? 0) + 1);
		}
	}
	at.locks.sort((a, b) => a.waiting - b.waiting);
	at.sorted = [...at.children.values()].sort((a, b) => collator.compare(a.name, b.name));
	for (const child of at.sorted) {
		sum(child);
		at.held += child.held;
		at.waiting += child.waiting;
		for (const [mode, n] of child.modes) at.modes.set(mode, (at.modes.get(mode) ?? 0) + n);
	}
}

// graph says who waits for whom, directly and through others. An owner that holds one thing and waits
// for another passes the wait on. Each entry has the edges that are drawn: who is behind somebody
// who waits for a third has no line of its own to the third.
function graph({ held, queue, entries }) {
	const waitingOf = new Map(); // of an owner: the keys of its queued requests
	for (const waiter of queue) waitingOf.set(waiter.holder, [...waitingOf.get(waiter.holder) ?? [], waiter.key]);
	const direct = entry => entry.fence
		? (waitingOf.get(entry.holder) ?? []).map(key => ({ key, same: true }))
		: (entry.waits_for ?? []).filter(edge => entries.has(edge.key));
	const reaches = new Map(); // of an entry: the keys of all that it waits for
	const reach = entry => {
		let all = reaches.get(entry.key);
		if (all) return all;
		reaches.set(entry.key, all = new Set()); // a circle ends here
		for (const edge of direct(entry)) {
			all.add(edge.key);
			for (const key of reach(entries.get(edge.key))) all.add(key);
		}
		return all;
	};
	const edges = new Map(), blocks = new Map();
	for (const entry of [...queue, ...held]) {
		const known = direct(entry);
		const drawn = new Map(); // one line for each blocker
		for (const edge of known) {
			const through = known.some(other => other.key !== edge.key && reach(entries.get(other.key)).has(edge.key));
			if (!through && !drawn.has(edge.key)) drawn.set(edge.key, edge);
		}
		edges.set(entry.key, [...drawn.values()]);
	}
	for (const waiter of queue) for (const key of reach(waiter)) blocks.set(key, (blocks.get(key) ?? 0) + 1);
	const causes = held.filter(entry => blocks.has(entry.key));
	// Who waits for nobody is to blame most; then who blocks most.
	causes.sort((a, b) => edges.get(a.key).length - edges.get(b.key).length || blocks.get(b.key) - blocks.get(a.key) || a.fence - b.fence);
	return { causes, waiters: queue, edges, blocks, reach: key => reaches.get(key) ?? new Set() };
}
