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

/** How long the server may be silent after a question, and after a change, which may wait for locks. An
 * answer that is large, or comes over a slow line, may take longer. */
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
  const silence = new AbortController(), decoder = new TextDecoder();
  let response, text = '', timer = 0;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), time);
  };
  try {
    heard();
    response = await fetch(address(path), {
      method, headers, keepalive, cache: method === 'GET' ? 'no-cache' : 'no-store',
      signal: silence.signal,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const reader = response.body?.getReader();
    for (let part = {}; reader && !part.done; text += decoder.decode(part.value, { stream: !part.done })) {
      heard();
      part = await reader.read();
    }
  } catch {
    throw new Refusal(0, {});
  } finally {
    clearTimeout(timer);
  }
  let answer = {};
  try { answer = text ? JSON.parse(text) : {}; } catch { /* a proxy's page */ }
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}

export const get = (path, options) => send('GET', path, options);

/** Resolves with [answer], or with [null, refusal]. */
export const outcome = (request) => request.then((answer) => [answer], (why) => {
  if (why instanceof Refusal) return [null, why];
  throw why;
});
