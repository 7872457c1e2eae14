/** The first page: what was looked at last, and everything by namespace. */

import { useState } from "preact/hooks";
import { type Address, addressOf, HOME, type Name } from "./address";
import { pathOf } from "./api";
import type { PageProps } from "./app";
import type { Dataset, Jobs, Namespaces } from "./documents";
import { type Go, useAnswer } from "./hooks";
import { JobLink, Link, Moment, NameLink } from "./names";
import { listed } from "./places";
import { Shown } from "./states";

const PAGE = 50;
const LATEST = 20; // jobs

export function HomePage({ address, go }: PageProps) {
  const namespaces = useAnswer<Namespaces>("api/v1/namespaces");
  return (
    <div class="home">
      <Shown answer={namespaces}>
        {({ namespaces: every }) => {
          const names = every.map((one) => one.name);
          if (!names.length) return <Nothing />;
          const chosen = names.includes(address.namespace) ? address.namespace : "";
          return (
            <>
              <nav class="side" aria-label="Namespaces">
                <h2>Namespaces</h2>
                <ul>
                  {names.map((name) => (
                    <li key={name}>
                      <Link to={{ ...HOME, namespace: name }} go={go} current={name === chosen}>
                        <bdi>{name}</bdi>
                      </Link>
                    </li>
                  ))}
                </ul>
              </nav>
              {chosen ? <Namespace key={chosen} name={chosen} go={go} /> : <Start go={go} />}
            </>
          );
        }}
      </Shown>
    </div>
  );
}

function Nothing() {
  return (
    <div class="state">
      <h1>No lineage yet</h1>
      <p>Run a job with headwater, or send OpenLineage events to this server:</p>
      <pre>headwater run job.py</pre>
      <pre>{`curl -H 'Content-Type: application/json' ${location.origin}/api/v1/lineage -d @event.json`}</pre>
    </div>
  );
}

function Start({ go }: { go: Go }) {
  return (
    <section class="start">
      <h1>Where does this column come from, and who depends on it?</h1>
      <p>
        Search for a column: press <kbd>/</kbd>. You see all that it is made from and all that is made from it, how each
        step computes it, and whether that is still so.
      </p>
      <Names title="Pinned" names={listed("pinned")} go={go} />
      <Names title="Looked at last" names={listed("recent")} go={go} />
      <WrittenLast go={go} />
    </section>
  );
}

/** The outputs of the jobs that ran last, each with its job: where to begin in a store that one does not know. */
function WrittenLast({ go }: { go: Go }) {
  const jobs = useAnswer<Jobs>(pathOf("api/v1/jobs", { limit: LATEST }));
  const written = (jobs.data?.jobs ?? [])
    .flatMap((job) => job.outputs.map((output) => ({ output, job })))
    .filter(({ output }) => output.namespace !== "hidden");
  const latest = new Map(written.toReversed().map((one) => [JSON.stringify(one.output), one]));
  if (!latest.size) return null;
  return (
    <>
      <h2>Written last</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Dataset</th>
            <th scope="col">By</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {[...latest].toReversed().map(([key, { output, job }]) => (
            <tr key={key}>
              <td>
                <NameLink name={output} go={go} whole />
              </td>
              <td>
                <JobLink job={job} go={go} />
              </td>
              <td>
                <Moment at={job.updatedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Names({ title, names, go }: { title: string; names: readonly Name[]; go: Go }) {
  if (!names.length) return null;
  return (
    <>
      <h2>{title}</h2>
      <ul class="names">
        {names.map((one) => (
          <li key={JSON.stringify(one)}>
            <NameLink name={one} go={go} page={one.field ? "lineage" : "dataset"} whole />
          </li>
        ))}
      </ul>
    </>
  );
}

function Namespace({ name, go }: { name: string; go: Go }) {
  const [pages, setPages] = useState(1);
  const root = `api/v1/namespaces/${encodeURIComponent(name)}`;
  const limit = pages * PAGE;
  const datasets = useAnswer<{ datasets: readonly Dataset[]; totalCount: number }>(
    pathOf(`${root}/datasets`, { limit }),
  );
  const jobs = useAnswer<Jobs>(pathOf(`${root}/jobs`, { limit }));
  const more = (total: number) =>
    total > limit && (
      <button type="button" onClick={() => setPages(pages + 1)}>
        Show more
      </button>
    );
  return (
    <section class="listing">
      <h1>
        <bdi>{name}</bdi>
      </h1>
      <Shown answer={datasets}>
        {({ datasets: rows, totalCount }) => (
          <>
            <h2>Datasets {counted(rows.length, totalCount)}</h2>
            <ul class="names">
              {rows.map((one) => (
                <li key={one.name}>
                  <Link to={addressOf(one, "dataset")} go={go}>
                    <bdi>{one.name}</bdi>
                  </Link>
                  <small>{one.fields.length === 1 ? "1 column" : `${one.fields.length} columns`}</small>
                </li>
              ))}
            </ul>
            {more(totalCount)}
          </>
        )}
      </Shown>
      <Shown answer={jobs}>
        {({ jobs: rows, totalCount }) => (
          <>
            <h2>Jobs {counted(rows.length, totalCount)}</h2>
            <ul class="names">
              {rows.map((one) => (
                <li key={one.name}>
                  <JobLink job={one} go={go} />
                  <small>{one.latestRun?.state.toLowerCase() ?? "never ran"}</small>
                </li>
              ))}
            </ul>
            {more(totalCount)}
          </>
        )}
      </Shown>
    </section>
  );
}

function counted(shown: number, total: number): string {
  return shown < total ? `(${shown} of ${total} shown)` : `(${total})`;
}

/** Return the address of a namespace's list. */
export function namespaceAddress(namespace: string): Address {
  return { ...HOME, namespace };
}
