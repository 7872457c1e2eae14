/** The states of a part of the page that has nothing to show yet, or cannot. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type ApiError, sessionKey, setSessionKey } from "./api";
import type { Answer } from "./hooks";

interface ShownProps<T> {
  answer: Answer<T>;
  children: (data: T) => ComponentChildren;
  /** The level of a heading that says why there is nothing: 2 below one that names the subject. */
  level?: 1 | 2;
}

/** Show an answer, or why there is none. */
export function Shown<T>({ answer, children, level = 1 }: ShownProps<T>) {
  const { data, error, loading, reload } = answer;
  if (error && error.status !== 0) return <Refused error={error} reload={reload} level={level} />;
  return (
    <>
      {error && <Away reload={reload} />}
      {data !== null ? children(data) : !error && loading && <Loading />}
    </>
  );
}

export function Loading() {
  return (
    <p class="state" role="status">
      Loading…
    </p>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

function Away({ reload }: { reload: () => void }) {
  return (
    <div class="notice" role="alert">
      The server does not answer. The page tries again every few seconds; what you see may be out of date.{" "}
      <button type="button" onClick={reload}>
        Try now
      </button>
    </div>
  );
}

const TITLES: Readonly<Record<number, string>> = {
  403: "Your key may not see this",
  404: "Not found",
  409: "Several have that name",
  429: "Too many requests",
  503: "The store is busy",
};

function Refused({ error, reload, level }: { error: ApiError; reload: () => void; level: 1 | 2 }) {
  const Heading = `h${level}` as const;
  if (error.status === 401) return <KeyForm message={sessionKey() ? error.message : ""} entered={reload} />;
  return (
    <div class="state" role="alert">
      <Heading>{TITLES[error.status] ?? "That did not work"}</Heading>
      <p class="long">{error.message}</p>
      {error.status === 404 && <p>Look for it with the search above: press / to go there.</p>}
      <button type="button" onClick={reload}>
        Try again
      </button>
    </div>
  );
}

/** Ask for a key once; it stays in this tab until that is closed. */
function KeyForm({ message, entered }: { message: string; entered: () => void }) {
  const [key, setKey] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    setSessionKey(key.trim());
    entered();
    dispatchEvent(new Event(KEY_CHANGED));
  };
  return (
    <form class="state key-form" onSubmit={submit}>
      <h1>This server needs a key</h1>
      <p>
        Paste an API key, or a token of your identity provider. It stays in this tab, and is gone when you close it.
      </p>
      {message && (
        <p class="long" role="alert">
          {message}
        </p>
      )}
      <label>
        Key
        <input
          type="password"
          autocomplete="off"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          required
        />
      </label>
      <button type="submit" class="primary">
        Use this key
      </button>
    </form>
  );
}

/** The event of the window after which all answers are asked for again. */
export const KEY_CHANGED = "headwater-key-changed";
