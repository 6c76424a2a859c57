// What the page asks the server, and how it understands failures.

// Failure is why a request had no answer that the page can use. kind is one of
//   network    nobody answered
//   ended      the session is over: 401, or a redirect to a page for signing in
//   forbidden  403
//   problem    the server said no, in detail: type is the last part of the problem's type
//   broken     the answer is not what this page understands
export class Failure extends Error {
	constructor(kind, { status = 0, type = "", detail = "" } = {}) {
		super(detail || kind);
		Object.assign(this, { kind, status, type, detail });
	}
}

const patience = 15_000;

// address is that of a path below the page. A page that was opened with a name and a password in its
// URL cannot ask relative to it: browsers refuse to fetch such URLs.
export function address(path) {
	return new URL(path, location.origin + location.pathname);
}

// ask sends a request to a path below the page, and returns the answer's JSON.
export async function ask(path, options = {}) {
	let response;
	try {
		response = await fetch(address(path), { redirect: "manual", credentials: "same-origin", signal: AbortSignal.timeout(patience), ...options });
	} catch (error) {
		throw new Failure("network", { detail: String(error) });
	}
	if (response.type === "opaqueredirect" || response.status === 401) throw new Failure("ended", { status: 401, type: "unauthenticated" });
	const type = response.headers.get("Content-Type") ?? "";
	let body = null;
	if (/^application\/([\w.-]+\+)?json\b/.test(type)) {
		try {
			body = await response.json();
		} catch (error) {
			throw new Failure("network", { detail: String(error) }); // cut off
		}
	}
	if (response.ok) {
		// A page for signing in answers 200, too.
		if (body === null) throw new Failure(/html/.test(type) ? "ended" : "broken", { status: response.status, detail: type });
		return body;
	}
	const problem = { status: response.status, type: String(body?.type ?? "").replace(/^.*[:/]/, ""), detail: String(body?.detail ?? body?.title ?? response.statusText ?? response.status) };
	// A proxy in front answers in its own way while the server restarts.
	if (body === null && [500, 502, 503, 504].includes(response.status)) throw new Failure("network", problem);
	throw new Failure(response.status === 403 ? "forbidden" : "problem", problem);
}

// treeQuery is the query that names a tree.
export function treeQuery(tree) {
	return tree ? "?" + new URLSearchParams({ namespace: tree.namespace, id: tree.id }) : "";
}
