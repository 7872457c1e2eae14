/** Requests to the server that the page comes from. */

import { saveBlob } from "../graph/export/saveBlob";

const KEY = "headwater-key";

/** An answer that is no success; a status of 0 means that there was no answer at all. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export type Params = Readonly<Record<string, string | number | null | undefined>>;

/** Return the key of this session, `""` without one; it is stored for the session of the tab alone. */
export function sessionKey(): string {
  return sessionStorage.getItem(KEY) ?? "";
}

/** Store a key for the session, or remove it. */
export function setSessionKey(key: string): void {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

/** Return the path of a request below the page's own folder, which may be below a proxy's path. */
export function pathOf(route: string, params: Params = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `${route}?${text}` : route;
}

/**
 * Send a request with the session's key.
 *
 * @throws ApiError the server is away, or refuses.
 */
export async function send(
  path: string,
  signal: AbortSignal | null = null,
  more: Readonly<Record<string, string>> = {},
  request: Pick<RequestInit, "method" | "body"> = {},
): Promise<Response> {
  const key = sessionKey();
  const headers = key ? { ...more, Authorization: `Bearer ${key}` } : more;
  let answer: Response;
  try {
    answer = await fetch(path, { ...request, headers, signal, credentials: "same-origin" });
  } catch (fault) {
    if (signal?.aborted) throw fault;
    throw new ApiError(0, "The server does not answer.");
  }
  if (!answer.ok) throw new ApiError(answer.status, await messageOf(answer));
  return answer;
}

async function messageOf(answer: Response): Promise<string> {
  try {
    const problem = (await answer.json()) as { message?: unknown };
    return typeof problem.message === "string" ? problem.message : answer.statusText;
  } catch {
    return answer.statusText || `The server answered ${answer.status}.`;
  }
}

/**
 * Return the JSON of an answer.
 *
 * @throws ApiError the server is away, or refuses.
 */
export async function getJson<T>(path: string, signal: AbortSignal | null = null): Promise<T> {
  return (await (await send(path, signal)).json()) as T;
}

/**
 * Change something.
 *
 * @throws ApiError the server is away, or refuses.
 */
export async function change(method: "POST" | "DELETE", path: string, body: unknown = null): Promise<void> {
  if (body === null) await send(path, null, {}, { method });
  else await send(path, null, { "Content-Type": "application/json" }, { method, body: JSON.stringify(body) });
}

/** Save the answer to a request as a file: a link could not send the session's key. */
export async function download(path: string, name: string): Promise<void> {
  saveBlob(await (await send(path)).blob(), name);
}
