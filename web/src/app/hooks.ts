/** Hooks: the address of the page, and answers of the server. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Address, readAddress, writeAddress } from "./address";
import { ApiError, getJson } from "./api";

/** Go to an address: a new entry of the history, or in the place of the present one. */
export type Go = (address: Address, how?: "push" | "replace") => void;

/** Return the address that is shown, and a function that goes to another. */
export function useAddress(): [Address, Go] {
  const [address, show] = useState(() => readAddress(location.search));
  useEffect(() => {
    const back = () => show(readAddress(location.search));
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  const go = useCallback<Go>((next, how = "push") => {
    const path = location.pathname + writeAddress(next);
    if (how === "replace") history.replaceState(null, "", path);
    else history.pushState(null, "", path);
    show(next);
  }, []);
  return [address, go];
}

export interface Answer<T> {
  readonly data: T | null;
  readonly error: ApiError | null;
  readonly loading: boolean;
  readonly reload: () => void;
}

const RETRY = 3000; // milliseconds between two tries of a server that is away

/**
 * Return the answer to a request; while another is loaded the one before stays.
 *
 * A server that is away is tried again until it answers.
 *
 * @param path of the request, null for none.
 */
export function useAnswer<T>(path: string | null): Answer<T> {
  return useLoaded(path, (signal) => getJson<T>(path ?? "", signal));
}

/**
 * Return what is loaded from the server; while another is loaded the one before stays.
 *
 * @param path that names what is loaded, null for nothing; it is loaded anew when it changes.
 */
export function useLoaded<T>(path: string | null, load: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<Omit<Answer<T>, "reload">>({ data: null, error: null, loading: path !== null });
  const latest = useRef<string | null>(null);
  useEffect(() => {
    if (path === null) return setState({ data: null, error: null, loading: false });
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const same = latest.current === path;
    latest.current = path;
    setState((before) => ({ data: before.data, error: same ? before.error : null, loading: true }));
    load(stop.signal)
      .then((data) => setState({ data, error: null, loading: false }))
      .catch((fault: unknown) => {
        if (stop.signal.aborted) return;
        const error = fault instanceof ApiError ? fault : new ApiError(-1, String(fault));
        if (error.status === 0) timer = setTimeout(() => setTurn((one) => one + 1), RETRY);
        setState((before) => ({ data: error.status === 0 ? before.data : null, error, loading: false }));
      });
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, turn]);
  const reload = useCallback(() => setTurn((one) => one + 1), []);
  return { ...state, reload };
}

/** Call a function when keys are pressed outside of text fields; `ctrl+k` is also Command-K. */
export function useKey(keys: readonly string[], act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const name = (event.ctrlKey || event.metaKey ? "ctrl+" : "") + event.key.toLowerCase();
      const typing = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (!keys.includes(name) || (typing && !name.startsWith("ctrl+"))) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [keys]);
}
