/** Names of columns, datasets and jobs as links, and transformations as labels. */

import type { ComponentChildren } from "preact";
import { type Address, addressOf, HOME, type Name, type PageName, shortName, writeAddress } from "./address";
import type { JobName, PathTransformation } from "./documents";
import type { Go } from "./hooks";

interface LinkProps {
  to: Address;
  go: Go | null;
  children: ComponentChildren;
  class?: string;
  title?: string;
  current?: boolean;
}

/** A link inside the page, which a new tab opens as any other; text alone where there is nowhere to go. */
export function Link({ to, go, children, current, ...rest }: LinkProps) {
  if (!go) return <span {...rest}>{children}</span>;
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a {...rest} href={writeAddress(to) || "."} onClick={follow} aria-current={current ? "page" : undefined}>
      {children}
    </a>
  );
}

interface NameLinkProps {
  name: Name;
  go: Go | null;
  page?: PageName;
  asOf?: string;
  whole?: boolean;
}

/** A column or a dataset: short, with the whole name below or as a title. */
export function NameLink({ name, go, page = "lineage", asOf = "", whole = false }: NameLinkProps) {
  const full = `${name.namespace} ${name.name}`;
  return (
    <span class="name">
      <Link to={addressOf(name, page, asOf)} go={go} title={name.field ? `${full} . ${name.field}` : full}>
        <bdi>{shortName(name)}</bdi>
      </Link>
      {whole && (
        <small>
          <bdi>{full}</bdi>
        </small>
      )}
    </span>
  );
}

export function JobLink({ job, go }: { job: JobName; go: Go | null }) {
  const to: Address = { ...HOME, page: "job", namespace: job.namespace, job: job.name };
  return (
    <Link to={to} go={go} title={`${job.namespace} ${job.name}`}>
      <bdi>{job.name}</bdi>
    </Link>
  );
}

const MEANINGS: Readonly<Record<string, string>> = {
  IDENTITY: "The value arrives unchanged.",
  TRANSFORMATION: "The value is computed from it.",
  AGGREGATION: "The value is aggregated from several rows.",
  CONDITIONAL: "It decides which value is taken.",
  WINDOW: "It partitions or orders the window.",
  FILTER: "It decides which rows are there.",
  JOIN: "It decides which rows are joined.",
  GROUP_BY: "It decides which rows are grouped.",
  SORT: "It decides the order of rows.",
};

type Kind = Pick<PathTransformation, "type" | "subtype" | "masking" | "opaque" | "guess">;

/** A transformation: its subtype, and marks for masked, opaque and guessed ones. */
export function KindLabel({ kind }: { kind: Kind }) {
  return (
    <span class={`kind ${kind.type.toLowerCase()}`} title={MEANINGS[kind.subtype]}>
      {kind.guess ? "guess" : kind.subtype.toLowerCase().replace("_", " ")}
      {kind.masking && <b class="mark"> masked</b>}
      {kind.opaque && !kind.guess && <b class="mark"> opaque</b>}
    </span>
  );
}

/** The labels of several transformations, each once. */
export function KindLabels({ kinds }: { kinds: readonly Kind[] }) {
  const once = new Map(kinds.map((one) => [`${one.subtype} ${one.masking} ${one.opaque} ${one.guess}`, one]));
  return (
    <>
      {[...once].map(([key, one]) => (
        <KindLabel key={key} kind={one} />
      ))}
    </>
  );
}

/** A moment in the reader's time zone; the exact one is its title. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {momentText(at)}
    </time>
  );
}

/** Return a moment in the reader's time zone; a text that is none stays as it is. */
export function momentText(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime())
    ? at
    : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
