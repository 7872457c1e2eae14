/** The page of what depends on a column or dataset, as a list that can be filtered and saved. */

import { useState } from "preact/hooks";
import { type Address, type Name, nameParams, nestedParams, shortName } from "./address";
import { download, pathOf } from "./api";
import type { PageProps } from "./app";
import type { Impact, ImpactedDataset, PathTransformation } from "./documents";
import { useAnswer } from "./hooks";
import { JobLink, KindLabels, NameLink } from "./names";
import { Empty, Shown } from "./states";
import { Subject } from "./subject";

interface Row {
  readonly dataset: ImpactedDataset;
  readonly name: Name;
  readonly distance: number;
  readonly transformations: readonly PathTransformation[];
}

const FIRST = 200; // rows that are shown at once

export function ImpactPage({ address, go }: PageProps) {
  const params = {
    ...nameParams(address),
    ...nestedParams(address),
    type: address.influence === "value" ? "DIRECT" : null,
    as_of: address.asOf,
  };
  const answer = useAnswer<Impact>(pathOf("api/v2/impact", params));
  const save = () =>
    download(pathOf("api/v2/impact", { ...params, format: "csv" }), `impact-${address.field || "dataset"}.csv`);
  return (
    <>
      <Subject name={nameOf(address)} address={address} go={go}>
        <label>
          <input
            type="checkbox"
            checked={address.influence === "all"}
            onChange={(event) => go({ ...address, influence: event.currentTarget.checked ? "all" : "value" })}
          />{" "}
          Also what it decides the rows of
        </label>
        <button type="button" onClick={save}>
          Save as CSV
        </button>
      </Subject>
      <Shown answer={answer} level={2}>
        {(impact) => <Rows impact={impact} asOf={address.asOf} go={go} />}
      </Shown>
    </>
  );
}

function Rows({ impact, asOf, go }: { impact: Impact; asOf: string; go: PageProps["go"] }) {
  const [text, setText] = useState("");
  const [far, setFar] = useState("");
  const [most, setMost] = useState(FIRST);
  const every = impact.datasets.flatMap(rowsOf);
  if (!every.length) return <Empty title="Nothing depends on it, as far as is known." />;
  const rows = every.filter((row) => matches(row, text) && (!far || row.distance <= Number(far)));
  const { datasets, columns, jobs } = impact.total;
  return (
    <section>
      <p>
        {count(columns, "column")} in {count(datasets, "dataset")}, written by {count(jobs, "job")}
        {impact.truncated.length > 0 && ", and more than the server shows at once"}.
      </p>
      <div class="filters">
        <label>
          Filter
          <input
            type="search"
            value={text}
            placeholder="column, dataset, job or kind"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <label>
          Steps away
          <select value={far} onChange={(event) => setFar(event.currentTarget.value)}>
            <option value="">any</option>
            {[1, 2, 3, 5].map((one) => (
              <option key={one} value={one}>
                {one === 1 ? "1" : `up to ${one}`}
              </option>
            ))}
          </select>
        </label>
        <output>
          {Math.min(most, rows.length)} of {every.length} shown
        </output>
      </div>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Dataset</th>
              <th scope="col">How</th>
              <th scope="col">Steps</th>
              <th scope="col">Written by</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row) => (
              <tr key={`${row.name.namespace} ${row.name.name} ${row.name.field}`}>
                <td>{row.name.field ? <NameLink name={row.name} go={go} asOf={asOf} /> : "all rows"}</td>
                <td>
                  <NameLink
                    name={{ namespace: row.name.namespace, name: row.name.name }}
                    go={go}
                    page="dataset"
                    asOf={asOf}
                  />
                </td>
                <td>
                  <KindLabels kinds={row.transformations} />
                </td>
                <td class="number">{row.distance}</td>
                <td>
                  {row.dataset.jobs.map((job) => (
                    <JobLink key={`${job.namespace} ${job.name}`} job={job} go={go} />
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > most && (
        <button type="button" onClick={() => setMost(most + FIRST)}>
          Show more
        </button>
      )}
    </section>
  );
}

function rowsOf(dataset: ImpactedDataset): Row[] {
  const { namespace, name } = dataset;
  const whole = { dataset, name: { namespace, name }, distance: dataset.distance };
  if (!dataset.columns.length) return [{ ...whole, transformations: dataset.transformations ?? [] }];
  return dataset.columns.map((one) => ({ ...whole, ...one, name: { namespace, name, field: one.field } }));
}

function matches({ name, dataset, transformations }: Row, text: string): boolean {
  const texts = [name.namespace, name.name, name.field ?? "", ...dataset.jobs.map((one) => one.name)];
  const kinds = transformations.flatMap((one) => [one.type, one.subtype, one.masking ? "masked" : ""]);
  return [...texts, ...kinds].some((one) => one.toLowerCase().includes(text.trim().toLowerCase()));
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Return the name that an address is about, as far as it says. */
export function nameOf({ namespace, dataset, field, column }: Address): Name {
  if (column) return { namespace, name: column, field: "" };
  return field ? { namespace, name: dataset, field } : { namespace, name: dataset };
}

/** Return a name as the parameter of a question that takes one text. */
export function textOf(name: Name): string {
  const dataset = name.name.startsWith("/") ? `${name.namespace}:${name.name}` : `${name.namespace}/${name.name}`;
  return name.field ? `${dataset}.${name.field}` : shortName(name);
}
