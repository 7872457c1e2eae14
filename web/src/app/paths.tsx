/** The page of the paths between two columns, every step of each with its expression. */

import { type Name, nestedParams } from "./address";
import { pathOf } from "./api";
import type { PageProps } from "./app";
import type { Hop, Paths } from "./documents";
import { FieldForm } from "./fieldForm";
import { useAnswer } from "./hooks";
import { nameOf, textOf } from "./impact";
import { JobLink, KindLabels, NameLink } from "./names";
import { Empty, Shown } from "./states";
import { Subject } from "./subject";

const MOST = 20;

export function PathsPage({ address, go }: PageProps) {
  const name = nameOf(address);
  const answer = useAnswer<Paths>(
    address.to
      ? pathOf("api/v2/paths", {
          source: textOf(name),
          target: address.to,
          most: MOST,
          ...nestedParams(address),
          as_of: address.asOf,
          type: address.influence === "value" ? "DIRECT" : null,
        })
      : null,
  );
  return (
    <>
      <Subject name={name} address={address} go={go}>
        <FieldForm
          label="Other column"
          button="Show paths"
          placeholder="any ending of its name, as gold.fleet.km"
          first={address.to}
          submit={(to) => go({ ...address, to })}
        >
          <label>
            <input
              type="checkbox"
              checked={address.influence === "all"}
              onChange={(event) => go({ ...address, influence: event.currentTarget.checked ? "all" : "value" })}
            />{" "}
            Also over rows
          </label>
        </FieldForm>
      </Subject>
      {address.to ? (
        <Shown answer={answer} level={2}>
          {(found) => <List found={found} go={go} />}
        </Shown>
      ) : (
        <Empty title="Name the other column to see how the two are joined." />
      )}
    </>
  );
}

function List({ found: { paths, truncated }, go }: { found: Paths; go: PageProps["go"] }) {
  if (!paths.length) {
    return (
      <Empty title="No path leads from one to the other.">
        <p>Neither is made from the other, as far as is known.</p>
      </Empty>
    );
  }
  return (
    <>
      {paths.map((path, number) => (
        <section key={JSON.stringify(path.columns)} class="path">
          <h2>
            {paths.length === 1 ? "The path" : `Path ${number + 1} of ${paths.length}`}
            <small>
              {" "}
              {path.steps.length} {path.steps.length === 1 ? "step" : "steps"}
            </small>
          </h2>
          <Steps columns={path.columns} steps={path.steps} go={go} />
        </section>
      ))}
      {truncated.length > 0 && <p class="notice">There may be more paths than these.</p>}
    </>
  );
}

interface StepsProps {
  columns: readonly Name[];
  /** The edges between each column and the next. */
  steps: readonly (readonly Hop[])[];
  go: PageProps["go"];
}

/** The columns of a path, with how each is made from the one before. */
export function Steps({ columns, steps, go }: StepsProps) {
  return (
    <ol class="steps">
      {columns.map((column, place) => (
        <li key={JSON.stringify(column)}>
          <NameLink name={column} go={go} whole />
          {steps[place]?.map((hop) => (
            <HopLine key={JSON.stringify(hop)} hop={hop} go={go} />
          ))}
        </li>
      ))}
    </ol>
  );
}

function HopLine({ hop, go }: { hop: Hop; go: PageProps["go"] }) {
  const expressions = hop.transformations.map((one) => one.description).filter(Boolean);
  return (
    <div class="hop">
      <span aria-hidden="true">↓ </span>
      <KindLabels kinds={hop.transformations.map((one) => ({ ...one, guess: false }))} /> by{" "}
      <JobLink job={hop.job} go={go} />
      {expressions.map((one) => (
        <pre key={one} class="expression">
          {one}
        </pre>
      ))}
    </div>
  );
}
