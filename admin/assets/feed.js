// The feed keeps the page up to date: by server-sent events, by polling where a proxy swallows
// those, and by trying again where the server is away.

import { address, ask, treeQuery } from "./request.js";

// A stream is silent when no ping came this long after it began, or this long after the last one.
const firstPing = 5_000, nextPing = 30_000;
// While the page polls, it tries the stream again after this time.
const streamAgain = 60_000;
const backoff = [500, 1_000, 2_000, 4_000, 8_000, 15_000];

export class Feed {
	// receive is called with ("about" | "trees" | "tree" | "change" | "history" | "trouble", data),
	// and state with {kind, …} when the connection changes: connecting, live, polling, away, ended,
	// forbidden or broken.
	constructor({ receive, state, pollMS }) {
		Object.assign(this, { receive, state, pollMS, tree: null, attempt: 0, run: 0, sources: new Set(), timers: new Set() });
		this.kind = "connecting";
	}

	// watch follows the overview, and one tree unless it is null.
	watch(tree) {
		this.tree = tree;
		this.begin();
	}

	// begin drops what is under way and connects anew.
	begin() {
		this.end();
		this.connect(this.run);
	}

	end() {
		this.run++;
		for (const source of this.sources) source.close();
		this.sources.clear();
		this.forget();
	}

	// forget drops all that was to be done later.
	forget() {
		for (const timer of this.timers) clearTimeout(timer);
		this.timers.clear();
	}

	later(ms, run, action) {
		const timer = setTimeout(() => {
			this.timers.delete(timer);
			if (run === this.run) action();
		}, ms);
		this.timers.add(timer);
		return timer;
	}

	enter(kind, more = {}) {
		this.kind = kind;
		if (kind === "live" || kind === "polling") this.attempt = 0;
		this.state({ kind, ...more });
	}

	async connect(run) {
		if (this.kind === "away") this.enter("away", { until: null });
		try {
			// This tells an ended session from a server that is away, which a stream cannot.
			const about = await ask("api/about");
			if (run !== this.run) return;
			this.receive("about", about);
			this.stream(run, () => this.poll(run));
		} catch (failure) {
			if (run === this.run) this.fail(run, failure);
		}
	}

	// fail reacts to a request that failed.
	fail(run, failure) {
		if (failure.kind === "ended" || failure.kind === "forbidden") {
			this.end();
			this.enter(failure.kind);
			return;
		}
		if (failure.kind === "problem" && failure.type === "lock-store-unavailable") {
			this.receive("trouble", { what: "tree", detail: failure.detail, since: new Date().toISOString() });
			return;
		}
		const wait = backoff[Math.min(this.attempt++, backoff.length - 1)] * (0.8 + 0.4 * Math.random());
		const busy = failure.kind === "network" || failure.status === 503; // it starts, or stops
		const detail = busy ? null : failure.detail || String(failure);
		this.end();
		this.enter("away", { until: Date.now() + wait, detail });
		const next = this.run;
		this.later(wait, next, () => this.connect(next));
	}

	// stream follows the server-sent events. silent is called when they do not get through.
	stream(run, silent) {
		const source = new EventSource(address("api/events" + treeQuery(this.tree)));
		this.sources.add(source);
		let alarm = 0, heard = false;
		const over = () => {
			clearTimeout(alarm);
			this.timers.delete(alarm);
			source.close();
			this.sources.delete(source);
		};
		const listen = ms => {
			clearTimeout(alarm);
			this.timers.delete(alarm);
			alarm = this.later(ms, run, () => { over(); silent(); });
		};
		const on = (name, action) => source.addEventListener(name, event => {
			if (run === this.run) action(event);
			else over();
		});
		listen(firstPing);
		on("ping", () => {
			heard = true;
			if (this.kind !== "live") {
				this.forget(); // what was to be polled
				this.enter("live");
			}
			listen(nextPing);
		});
		for (const name of ["trees", "tree", "change", "history", "trouble"]) {
			on(name, event => { if (heard) this.receive(name, JSON.parse(event.data)); });
		}
		on("bye", () => {
			over();
			this.later(Math.random() * 500, run, () => this.connect(run));
		});
		source.onerror = () => {
			over();
			if (run !== this.run) return;
			// Refused before the first word: too many viewers, or a proxy that knows no streams.
			if (heard) this.connect(run);
			else silent();
		};
	}

	// poll asks again and again, and tries the stream from time to time.
	poll(run) {
		if (this.kind === "polling") return; // it goes on already
		const every = Math.max(2_000, 2 * this.pollMS);
		this.enter("polling", { every });
		const round = async () => {
			try {
				await this.refresh(run);
				if (run !== this.run || this.kind !== "polling") return;
				this.later(every, run, round);
			} catch (failure) {
				if (run !== this.run || this.kind !== "polling") return;
				this.fail(run, failure);
				if (run === this.run) this.later(every, run, round); // the store is in trouble
			}
		};
		const again = () => this.later(streamAgain, run, () => { this.stream(run, () => {}); again(); });
		round();
		again();
	}

	// refresh asks for everything once.
	async refresh(run = this.run) {
		const tree = this.tree;
		const [trees, chosen] = await Promise.all([ask("api/trees"), tree && ask("api/tree" + treeQuery(tree))]);
		if (run !== this.run) return;
		this.receive("trees", trees);
		if (chosen) this.receive("tree", chosen);
		this.receive("history", { version: null });
	}
}
