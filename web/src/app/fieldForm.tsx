/** A form with one field and a button. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface FieldFormProps {
  label: string;
  button: string;
  placeholder: string;
  first?: string;
  /** Receives the text; the field is emptied when what it returns is done, and says why where that fails. */
  submit: (text: string) => Promise<void> | void;
  children?: ComponentChildren;
}

export function FieldForm({ label, button, placeholder, first = "", submit, children }: FieldFormProps) {
  const [text, setText] = useState(first);
  const [error, setError] = useState("");
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    const done = submit(text.trim());
    if (!done) return;
    try {
      await done;
      setText("");
      setError("");
    } catch (fault) {
      setError(String((fault as Error).message));
    }
  };
  return (
    <form class="inline" onSubmit={onSubmit}>
      <label>
        {label}
        <input
          type="text"
          value={text}
          required
          placeholder={placeholder}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary">
        {button}
      </button>
      {children}
      {error && <span role="alert">{error}</span>}
    </form>
  );
}
