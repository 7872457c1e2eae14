/** The head of a page about a column or dataset: its name, the pages about it, the moment, and what one can do with it. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Address, addressOf, type Name, type PageName, shortName } from "./address";
import { pathOf } from "./api";
import type { Versions } from "./documents";
import { namespaceAddress } from "./home";
import { type Go, useAnswer } from "./hooks";
import { Link, Moment, momentText } from "./names";
import { isPinned, togglePin } from "./places";

const OF_COLUMN = {
  lineage: "Lineage",
  impact: "Impact",
  paths: "Paths",
  why: "Why",
  tags: "Tags",
  dataset: "Dataset",
} as const;
const OF_DATASET = { lineage: "Lineage", impact: "Impact", tags: "Tags", dataset: "Dataset" } as const;

interface SubjectProps {
  name: Name;
  address: Address;
  go: Go;
  type?: string;
  children?: ComponentChildren;
}

export function Subject({ name, address, go, type = "", children }: SubjectProps) {
  const pages = Object.entries(name.field ? OF_COLUMN : OF_DATASET) as [PageName, string][];
  const dataset = { namespace: name.namespace, name: name.name };
  return (
    <div class="subject">
      <p class="crumbs">
        <Link to={namespaceAddress(name.namespace)} go={go}>
          <bdi>{name.namespace}</bdi>
        </Link>
        <span aria-hidden="true"> › </span>
        <Link to={addressOf(dataset, "dataset", address.asOf)} go={go}>
          <bdi>{name.name}</bdi>
        </Link>
      </p>
      <div class="title">
        <h1>
          <bdi>{name.field || shortName(name)}</bdi>
          {type && <code class="type">{type}</code>}
        </h1>
        <Pin name={name} />
        <Share />
        <nav class="tabs" aria-label="Pages about it">
          {pages.map(([page, label]) => (
            <Link
              key={page}
              to={page === address.page ? address : addressOf(name, page, address.asOf)}
              go={go}
              current={page === address.page}
            >
              {label}
            </Link>
          ))}
        </nav>
      </div>
      <div class="controls">
        {children}
        <Moments dataset={dataset} address={address} go={go} />
      </div>
    </div>
  );
}

function Pin({ name }: { name: Name }) {
  const [, setTurn] = useState(0);
  const pinned = isPinned(name);
  const toggle = () => {
    togglePin(name);
    setTurn((one) => one + 1);
  };
  return (
    <button type="button" class="quiet" aria-pressed={pinned} onClick={toggle}>
      {pinned ? "Pinned" : "Pin"}
    </button>
  );
}

function Share() {
  const [copied, setCopied] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      setCopied("Copied");
    } catch {
      setCopied("Copy the address of this page");
    }
    setTimeout(() => setCopied(""), 3000);
  };
  return (
    <button type="button" class="quiet" onClick={copy} title="Copy the address: it holds all that you see">
      <span aria-live="polite">{copied || "Share"}</span>
    </button>
  );
}

const MOST = 100;

/** The moment of the lineage: now, one of the moments at which the dataset was written, or any other. */
function Moments({ dataset, address, go }: { dataset: Name; address: Address; go: Go }) {
  const path = pathOf("api/v2/versions", { namespace: dataset.namespace, dataset: dataset.name, limit: MOST });
  const { data } = useAnswer<Versions>(path);
  const moments = [...new Set(data?.versions.map((one) => one.at) ?? [])].reverse();
  const place = address.asOf ? moments.findLastIndex((one) => one <= address.asOf) : moments.length;
  const show = (asOf: string) => go({ ...address, asOf, edge: "" });
  const slide = (event: Event) => show(moments[Number((event.currentTarget as HTMLInputElement).value)] ?? "");
  return (
    <div class="moments">
      {moments.length > 1 && (
        <label>
          As of
          <input
            type="range"
            min={0}
            max={moments.length}
            value={place}
            onChange={slide}
            aria-valuetext={address.asOf || "now"}
          />
        </label>
      )}
      <label>
        {moments.length > 1 ? <span class="unseen">Moment</span> : "As of"}
        <input
          type="datetime-local"
          step="1"
          value={localTime(address.asOf)}
          onChange={(event) => show(isoTime(event.currentTarget.value))}
        />
      </label>
      {address.page === "lineage" && moments.length > 0 && <Compare moments={moments} address={address} go={go} />}
      {address.asOf && (
        <span class="then">
          <Moment at={address.asOf} />{" "}
          <button type="button" onClick={() => show("")}>
            Show now
          </button>
        </span>
      )}
    </div>
  );
}

/** The other moment, of those at which the dataset was written, that the lineage is compared with. */
function Compare({ moments, address, go }: { moments: readonly string[]; address: Address; go: Go }) {
  const choices = [...new Set([...moments, address.compare])].filter((one) => one && one !== address.asOf).sort();
  return (
    <label>
      Compare with
      <select
        value={address.compare}
        onChange={(event) => go({ ...address, compare: event.currentTarget.value, edge: "" })}
      >
        <option value="">nothing</option>
        {choices.map((one) => (
          <option key={one} value={one}>
            {momentText(one)}
          </option>
        ))}
      </select>
    </label>
  );
}

function localTime(iso: string): string {
  const date = new Date(iso);
  if (!iso || Number.isNaN(date.getTime())) return "";
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function isoTime(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}
