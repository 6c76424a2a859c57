// Requests to the HTTP interface.

/** A refusal, or an answer that never came. */
export class Refusal extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? String(status));
    this.status = status;
    this.problem = problem;
    this.kind = (problem.type ?? '').split(':').pop() || (status ? 'unknown' : 'network');
  }
  /** Whether nobody knows if the request was carried out. */
  get unanswered() { return this.status === 0; }
}

/** The token that goes with every write, while the page has an edit lock. */
let token = () => null;
export function useToken(source) { token = source; }

/** How long the answer to a question, and to a change, which may wait for locks, can take. */
const questionTime = 10000, changeTime = 20000;

/** A key that tells a request sent twice from two requests. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
}

/** The URL of a path. A page that was opened with a name and a password in its URL cannot ask relative
 * to it: browsers refuse to fetch such URLs. */
export const address = (path) => new URL(path, location.origin);

/** Sends a request and returns the answer's body. It throws a Refusal. */
export async function send(method, path, { body, key, lock, keepalive, time = method === 'GET' ? questionTime : changeTime } = {}) {
  const headers = { Accept: 'application/json' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  // What a PUT asks for is the same however often it is done.
  if (method !== 'GET' && method !== 'PUT') headers['Idempotency-Key'] = key ?? newKey();
  const held = method === 'GET' ? null : lock === undefined ? token() : lock;
  if (held) headers['Lock-Token'] = held;
  let response, text;
  try {
    response = await fetch(address(path), {
      method, headers, keepalive, cache: method === 'GET' ? 'no-cache' : 'no-store',
      signal: AbortSignal.timeout(time),
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    text = await response.text();
  } catch {
    throw new Refusal(0, {});
  }
  let answer = {};
  try { answer = text ? JSON.parse(text) : {}; } catch { /* a proxy's page */ }
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}

export const get = (path, options) => send('GET', path, options);
