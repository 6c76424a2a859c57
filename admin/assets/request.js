// Requests to the page's own server.

// Failure is why a request has no usable answer:
//   away       the server could not be reached, or something in front of it answered instead
//   ended      whoever looks is not signed in
//   forbidden  they are, and may not
//   trouble    the lock store does not answer
//   degraded   nor does it here, and requests go on without it; detail is since when
//   broken     the server said no, in detail; type is the last part of the problem's type
export class Failure extends Error {
	constructor(kind, type = "", detail = "") {
		super(detail || kind);
		Object.assign(this, { kind, type, detail });
	}
}

const patience = 15_000;
const known = new Map(); // by path: the last answer and its entity tag

// ask sends a request to a path below the page, and returns the answer's JSON: the same object as
// before, if nothing has changed.
export async function ask(path, options = {}) {
	const before = known.get(path);
	let response, body = null;
	try {
		// A page that was opened with a name and a password in its URL cannot ask relative to it.
		response = await fetch(new URL(path, location.origin + location.pathname), {
			redirect: "manual", signal: AbortSignal.timeout(patience), headers: before ? { "If-None-Match": before.etag } : {}, ...options,
		});
		if (/^application\/([\w.-]+\+)?json\b/.test(response.headers.get("Content-Type"))) body = await response.json();
	} catch (error) {
		throw new Failure("away", "", String(error)); // or cut off
	}
	if (response.status === 304) return before.body;
	const type = String(body?.type ?? "").replace(/^.*[:/]/, "");
	// A page for signing in answers 200, too.
	if (response.type === "opaqueredirect" || response.status === 401 || response.ok && body === null) throw new Failure("ended", "unauthenticated");
	if (response.status === 403) throw new Failure("forbidden", type, body?.detail);
	if (body?.degraded_since) throw new Failure("degraded", type, body.degraded_since);
	if (type === "lock-store-unavailable") throw new Failure("trouble", type, body.detail);
	// A proxy in front answers in its own way while the server restarts.
	if (!response.ok) throw new Failure(body === null && response.status >= 500 ? "away" : "broken", type, body?.detail ?? String(response.status));
	const etag = response.headers.get("ETag");
	if (etag) known.set(path, { etag, body });
	return body;
}
