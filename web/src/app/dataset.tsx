/** The page of a dataset: its columns, who writes and reads it, its versions, and what is said of it. */

import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { addressOf } from "./address";
import { pathOf } from "./api";
import type { PageProps } from "./app";
import type { Dataset, JobGraph, JobName, Versions } from "./documents";
import { useAnswer } from "./hooks";
import { nameOf } from "./impact";
import { JobLink, Link, Moment } from "./names";
import { nestedLines, pathName } from "./nested";
import { Shown } from "./states";
import { Subject } from "./subject";
import { Gaps } from "./why";

export function DatasetPage({ address, go }: PageProps) {
  const { namespace, dataset } = address;
  const root = `api/v1/namespaces/${encodeURIComponent(namespace)}/datasets/${encodeURIComponent(dataset)}`;
  const answer = useAnswer<Dataset>(root);
  const { namespace: space, name } = nameOf({ ...address, field: "", column: "" });
  return (
    <>
      <Subject name={{ namespace: space, name }} address={{ ...address, field: "" }} go={go} />
      <Shown answer={answer} level={2}>
        {(found) => (
          <div class="dataset">
            <section>
              <About dataset={found} />
              <Fields dataset={found} address={address} go={go} />
            </section>
            <aside>
              <Jobs namespace={namespace} dataset={dataset} go={go} />
              <Gaps namespace={namespace} dataset={dataset} go={go} />
              <VersionList namespace={namespace} dataset={dataset} address={address} go={go} />
            </aside>
          </div>
        )}
      </Shown>
    </>
  );
}

function About({ dataset }: { dataset: Dataset }) {
  const owners = ownersOf(dataset);
  return (
    <>
      {dataset.description && <p>{dataset.description}</p>}
      <dl class="about">
        {dataset.tags.length > 0 && (
          <>
            <dt>Tags</dt>
            <dd>
              <Tags tags={dataset.tags} />
            </dd>
          </>
        )}
        {owners.length > 0 && (
          <>
            <dt>Owners</dt>
            <dd>{owners.join(", ")}</dd>
          </>
        )}
        <dt>Last written</dt>
        <dd>
          <Moment at={dataset.updatedAt} />
        </dd>
      </dl>
    </>
  );
}

function ownersOf(dataset: Dataset): string[] {
  const facet = dataset.facets?.ownership as { owners?: readonly { name?: unknown; type?: unknown }[] } | undefined;
  return (facet?.owners ?? []).map(({ name, type }) => (type ? `${name} (${type})` : String(name)));
}

function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <>
      {tags.map((one) => (
        <span key={one} class="tag">
          <bdi>{one}</bdi>
        </span>
      ))}
    </>
  );
}

const FIRST = 200;

function Fields({ dataset, address, go }: { dataset: Dataset } & PageProps) {
  const [text, setText] = useState("");
  const [most, setMost] = useState(FIRST);
  const wanted = text.trim().toLowerCase();
  const every = dataset.fields.filter((one) => `${one.name} ${one.tags.join(" ")}`.toLowerCase().includes(wanted));
  return (
    <>
      <div class="filters">
        <h2>Columns ({dataset.fields.length})</h2>
        {dataset.fields.length > 10 && (
          <label>
            Filter
            <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
        )}
        {every.length < dataset.fields.length && (
          <output>
            {every.length} of {dataset.fields.length} shown
          </output>
        )}
      </div>
      {dataset.fields.length === 0 && <p class="faint">No column of this dataset is known.</p>}
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Type</th>
              <th scope="col">Tags</th>
              <th scope="col">Description</th>
            </tr>
          </thead>
          <tbody>
            {every.slice(0, most).map((one) => (
              <tr key={one.name}>
                <td>
                  <Link
                    to={addressOf(
                      { namespace: dataset.namespace, name: dataset.name, field: one.name },
                      "lineage",
                      address.asOf,
                    )}
                    go={go}
                  >
                    <bdi>{one.name}</bdi>
                  </Link>
                </td>
                <td>
                  <Type type={one.type ?? ""} column={one.name} dataset={dataset} asOf={address.asOf} go={go} />
                </td>
                <td>
                  <Tags tags={one.tags} />
                </td>
                <td>{one.description}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {every.length > most && (
        <button type="button" onClick={() => setMost(most + FIRST)}>
          Show more
        </button>
      )}
    </>
  );
}

const SHORT = 40; // characters of a type that fit a row

interface TypeProps {
  type: string;
  column: string;
  dataset: Dataset;
  asOf: string;
  go: PageProps["go"];
}

/** A type; one with fields within can be unfolded, and so can a long one. Each field leads to its lineage. */
function Type({ type, column, dataset, asOf, go }: TypeProps) {
  if (type.length <= SHORT && !type.includes("<")) return <code>{type}</code>;
  const to = (path: readonly string[]) =>
    addressOf(
      { namespace: dataset.namespace, name: dataset.name, field: pathName([column, ...path]) },
      "lineage",
      asOf,
    );
  return (
    <details>
      <summary>
        <code>{type.length <= SHORT ? type : `${type.slice(0, type.indexOf("<") + 1 || SHORT)}…`}</code>
      </summary>
      <pre>
        {nestedLines(type).map(({ indent, name, path, rest }, line) => (
          <Fragment key={`${line} ${name}`}>
            {indent}
            {name !== null && (
              <Link to={to(path)} go={go}>
                <bdi>{name || "(no name)"}</bdi>
              </Link>
            )}
            {`${rest}\n`}
          </Fragment>
        ))}
      </pre>
    </details>
  );
}

function Jobs({ namespace, dataset, go }: { namespace: string; dataset: string; go: PageProps["go"] }) {
  const id = `dataset:${namespace}:${dataset}`;
  const { data } = useAnswer<JobGraph>(pathOf("api/v1/lineage", { nodeId: id, depth: 1 }));
  if (!data) return null;
  const jobs = new Map(data.graph.filter((one) => one.type === "JOB").map((one) => [one.id, one.data]));
  const me = data.graph.find((one) => one.id === id);
  const list = (title: string, ids: readonly string[], none: string) => (
    <>
      <h2>{title}</h2>
      <JobNames jobs={ids.flatMap((one) => jobs.get(one) ?? [])} none={none} go={go} />
    </>
  );
  return (
    <section>
      {list("Written by", me?.inEdges.map((one) => one.origin) ?? [], "No known job writes it.")}
      {list("Read by", me?.outEdges.map((one) => one.destination) ?? [], "No known job reads it.")}
    </section>
  );
}

function JobNames({ jobs, none, go }: { jobs: readonly JobName[]; none: string; go: PageProps["go"] }) {
  if (!jobs.length) return <p class="faint">{none}</p>;
  return (
    <ul class="names">
      {jobs.map((job) => (
        <li key={`${job.namespace} ${job.name}`}>
          <JobLink job={job} go={go} />
        </li>
      ))}
    </ul>
  );
}

function VersionList({ namespace, dataset, address, go }: { namespace: string; dataset: string } & PageProps) {
  const { data } = useAnswer<Versions>(pathOf("api/v2/versions", { namespace, dataset, limit: 20 }));
  if (!data?.versions.length) return null;
  return (
    <section>
      <h2>Versions</h2>
      <ol class="names">
        {data.versions.map((one) => (
          <li key={one.version}>
            <Link
              to={{ ...address, page: "lineage", field: "", asOf: one.at }}
              go={go}
              title="The lineage as it was then"
            >
              <Moment at={one.at} />
            </Link>
            <small>
              {one.state.toLowerCase()}, {one.columns.length} columns
              {one.job && (
                <>
                  {" "}
                  by <JobLink job={one.job} go={go} />
                </>
              )}
            </small>
          </li>
        ))}
      </ol>
    </section>
  );
}
