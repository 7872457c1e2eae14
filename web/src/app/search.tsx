/** The search box: datasets, columns, jobs and tags, what was looked at last, and what is pinned. */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { type Address, addressOf, HOME, type Name } from "./address";
import { pathOf } from "./api";
import type { ColumnPage, FoundText, TextPage } from "./documents";
import { type Go, useAnswer, useKey } from "./hooks";
import { listed } from "./places";

const KEYS = ["/", "ctrl+k"];
const PAUSE = 150; // milliseconds after the last key
const MOST = 20;

interface Option {
  readonly label: string;
  readonly group: string;
  readonly detail: string;
  readonly to: Address;
}

export function Search({ go }: { go: Go }) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const id = useId();
  useKey(KEYS, () => input.current?.select());
  const { options, message } = useOptions(text, open);
  const choose = (option: Option | undefined) => {
    if (!option) return;
    setOpen(false);
    setText("");
    input.current?.blur();
    go(option.to);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setOpen(true);
      setActive((one) => Math.min(Math.max(one + step, -1), options.length - 1));
    } else if (event.key === "Enter") choose(options[Math.max(active, 0)]);
    else if (event.key === "Escape") {
      setOpen(false);
      input.current?.blur();
    }
  };
  return (
    <search class="search">
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search columns, datasets, jobs and tags"
        aria-expanded={open && options.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder="Search columns, datasets, jobs, tags"
        value={text}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setActive(-1);
          setOpen(true);
        }}
        onKeyDown={press}
      />
      <span class="hint" aria-hidden="true">
        /
      </span>
      <div class="found" hidden={!open || (!options.length && !message)}>
        {message && <p role="status">{message}</p>}
        <div id={id} role="listbox" aria-label="Found">
          {options.map((one, place) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the input's (ARIA 1.2, combobox)
            <div
              key={`${one.group} ${one.detail} ${one.label}`}
              id={`${id}-${place}`}
              role="option"
              tabIndex={-1}
              aria-selected={place === active}
              onMouseDown={(event) => event.preventDefault()}
              onMouseMove={() => setActive(place)}
              onClick={() => choose(one)}
            >
              <span class="group">{one.group}</span>
              <bdi>{one.label}</bdi>
              <small>
                <bdi>{one.detail}</bdi>
              </small>
            </div>
          ))}
        </div>
      </div>
    </search>
  );
}

function useOptions(text: string, open: boolean): { options: readonly Option[]; message: string } {
  const [wanted, setWanted] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const ask = (route: string, limit: number) => (wanted && open ? pathOf(route, { q: wanted, limit }) : null);
  const columns = useAnswer<ColumnPage>(ask("api/v2/columns", MOST));
  const texts = useAnswer<TextPage>(ask("api/v2/search", MOST));
  if (!text.trim()) {
    const pinned = listed("pinned").map((one) => ofName(one, "pinned"));
    return { options: [...pinned, ...listed("recent").map((one) => ofName(one, "recent"))], message: "" };
  }
  const error = columns.error ?? texts.error;
  if (error) return { options: [], message: error.status === 401 ? "This server needs a key first." : error.message };
  const named = columns.data?.columns.filter((one) => one.match !== "dataset").map((one) => ofName(one, "column"));
  const parts = [
    { found: named ?? [], corrected: columns.data?.corrected },
    { found: (texts.data?.results ?? []).map(ofFound), corrected: texts.data?.corrected },
  ];
  // Where one of the two has the text as it is, the other's typing errors are none.
  const exact = parts.filter((one) => one.found.length > 0 && !one.corrected);
  const options = (exact.length > 0 ? exact : parts).flatMap((one) => one.found);
  const whole = !columns.loading && !texts.loading && wanted === text.trim();
  const none = `Nothing that you may see has ${text.trim()} in its name, tags or texts`;
  const instead = parts.find((one) => one.found.length > 0)?.corrected;
  const message = options.length === 0 ? `${none}.` : exact.length === 0 ? `${none}; this is for ${instead}.` : "";
  return { options, message: whole ? message : "" };
}

function ofName(name: Name, group: string): Option {
  const label = name.field ? `${name.name}.${name.field}` : name.name;
  return { label, group, detail: name.namespace, to: addressOf(name, name.field ? "lineage" : "dataset") };
}

function ofFound(found: FoundText): Option {
  const detail = found.in === "name" ? found.namespace : `${found.in}: ${found.excerpt} (${found.namespace})`;
  if (found.kind !== "job") return { ...ofName(found, found.kind), detail };
  const to: Address = { ...HOME, page: "job", namespace: found.namespace, job: found.name };
  return { label: found.name, group: "job", detail, to };
}
