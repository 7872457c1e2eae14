/** The head of a page about a column or dataset: its name, the pages about it, the moment, and what one can do with it. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { shortened } from "../graph/drawing/text";
import { type Address, addressOf, type Name, type PageName, shortName } from "./address";
import { namespaceAddress } from "./home";
import type { Go } from "./hooks";
import { Moments } from "./moments";
import { Link } from "./names";
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
          {type && <code class="type">{shortened(type)}</code>}
        </h1>
        <Pin name={name} />
        <Share />
        <nav class="tabs" aria-label="Pages about it">
          {pages.map(([page, label]) => (
            <Link
              key={page}
              to={page === address.page ? address : { ...addressOf(name, page, address.asOf), nested: address.nested }}
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
