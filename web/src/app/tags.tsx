/** The page of tags: which a column or dataset has, which arrive at it, and where its own flow. */

import { useState } from "preact/hooks";
import { type Name, nameParams } from "./address";
import { change, pathOf } from "./api";
import type { PageProps } from "./app";
import type { Arrival, ArrivingTags, Tag, TagFlow, TagList } from "./documents";
import { FieldForm } from "./fieldForm";
import { type Go, useAnswer } from "./hooks";
import { nameOf } from "./impact";
import { Moment, NameLink } from "./names";
import { Steps } from "./paths";
import { Shown } from "./states";
import { Subject } from "./subject";

export function TagsPage({ address, go }: PageProps) {
  const influence = address.influence === "all";
  const list = useAnswer<TagList>(pathOf("api/v2/tags", nameParams(address)));
  const name = nameOf(address);
  return (
    <>
      <Subject name={name} address={address} go={go}>
        <label>
          <input
            type="checkbox"
            checked={influence}
            onChange={(event) => go({ ...address, influence: event.currentTarget.checked ? "all" : "value" })}
          />{" "}
          Also what they decide the rows of
        </label>
      </Subject>
      <Shown answer={list} level={2}>
        {({ tags, writable }) => (
          <>
            <section>
              <h2>Its tags</h2>
              {tags.length === 0 && <p class="faint">It has none.</p>}
              {tags.map((one) => (
                <OwnTag
                  key={JSON.stringify([one.on, one.tag])}
                  {...{ one, writable, influence, changed: list.reload, go }}
                  asOf={address.asOf}
                />
              ))}
              {writable && !address.column && <NewTag name={name} changed={list.reload} />}
            </section>
            <Arriving name={nameParams(address)} influence={influence} asOf={address.asOf} go={go} />
          </>
        )}
      </Shown>
    </>
  );
}

interface ArrivingProps {
  name: Record<string, string>;
  influence: boolean;
  asOf: string;
  go: Go;
}

function Arriving({ name, influence, asOf, go }: ArrivingProps) {
  const path = pathOf("api/v2/tags/arriving", { ...name, influence: String(influence), as_of: asOf });
  const answer = useAnswer<ArrivingTags>(path);
  return (
    <section>
      <h2>Tags that arrive here</h2>
      <Shown answer={answer} level={2}>
        {({ arrivals }) =>
          arrivals.length === 0 ? (
            <p class="faint">No tag of another column arrives here.</p>
          ) : (
            <Arrivals arrivals={arrivals} tagged go={go} />
          )
        }
      </Shown>
    </section>
  );
}

interface OwnTagProps {
  one: Tag;
  writable: boolean;
  influence: boolean;
  asOf: string;
  changed: () => void;
  go: Go;
}

const SOURCES: Readonly<Record<string, string>> = { API: "put by people", FILE: "of a file of tags" };

function OwnTag({ one, writable, influence, asOf, changed, go }: OwnTagProps) {
  const [error, setError] = useState("");
  const flow = useAnswer<TagFlow>(
    pathOf("api/v2/tags/flow", { tag: one.tag, value: one.value, influence: String(influence), as_of: asOf }),
  );
  const text = textOf(one);
  const takeOff = () =>
    change("DELETE", pathOf("api/v2/tags", placeOf(one.on, one.tag))).then(changed, (fault) => setError(fault.message));
  return (
    <article class="own-tag">
      <p>
        <span class="tag">
          <bdi>{text}</bdi>
        </span>
        on <NameLink name={one.on} go={go} page={one.on.field ? "lineage" : "dataset"} />
        {one.on.field ? "" : ", all columns"}, {SOURCES[one.source] ?? `of ${one.source}`} <Moment at={one.at} />{" "}
        {writable && (
          <button type="button" class="quiet" onClick={takeOff} aria-label={`Take off ${text}`}>
            Take off
          </button>
        )}
      </p>
      {error && (
        <p class="notice" role="alert">
          {error}
        </p>
      )}
      {flow.data && <Flow flow={flow.data} go={go} />}
    </article>
  );
}

/** Where a tag flows from all columns that have it. */
function Flow({ flow: { starts, reached, arrivals }, go }: { flow: TagFlow; go: Go }) {
  const all = reached.value + reached.masked + reached.influence;
  const on = starts.length === 1 ? "this column" : `the ${starts.length} columns that have it`;
  if (all === 0) return <p class="faint">It arrives nowhere else.</p>;
  return (
    <details open={all <= 20}>
      <summary>
        From {on} it arrives at {all}: {reached.value} by value, {reached.masked} masked
        {reached.influence > 0 && `, ${reached.influence} by influence`}
        {arrivals.length < all && ` (${arrivals.length} shown)`}
      </summary>
      <Arrivals arrivals={arrivals} go={go} />
    </details>
  );
}

const KINDS = {
  value: "the value arrives",
  masked: "a masked form arrives",
  influence: "it decides, and does not arrive",
} as const;

/** Columns at which tags arrive; each unfolds to the steps that prove it. */
function Arrivals({ arrivals, tagged = false, go }: { arrivals: readonly Arrival[]; tagged?: boolean; go: Go }) {
  return (
    <ul class="arrivals">
      {arrivals.map((one) => (
        <li key={JSON.stringify([one.tag, one.value, one.arriving, one.column])}>
          <details>
            <summary>
              <span class={`mark ${one.arriving}`} title={KINDS[one.arriving]}>
                {one.arriving}
              </span>{" "}
              {tagged && (
                <span class="tag">
                  <bdi>{textOf(one)}</bdi>
                </span>
              )}
              <NameLink name={one.column} go={go} />
              <small>
                {" "}
                {one.path.length} {one.path.length === 1 ? "step" : "steps"}
              </small>
            </summary>
            <Steps columns={columnsOf(one)} steps={one.path.map((hop) => [hop])} go={go} />
          </details>
        </li>
      ))}
    </ul>
  );
}

function columnsOf({ path, column }: Arrival): Name[] {
  return [...path.map((hop) => hop.input), column];
}

function NewTag({ name, changed }: { name: Name; changed: () => void }) {
  const putOn = async (text: string) => {
    const [tag = "", ...value] = text.split("=").map((one) => one.trim());
    await change("POST", "api/v2/tags", { ...placeOf(name, tag), value: value.join("=") });
    changed();
  };
  return <FieldForm label="New tag" button="Put on" placeholder="pii.email" submit={putOn} />;
}

function placeOf({ namespace, name, field }: Name, tag: string) {
  return { namespace, dataset: name, field: field ?? "", tag };
}

function textOf({ tag, value }: { tag: string; value: string }): string {
  return value ? `${tag}=${value}` : tag;
}
