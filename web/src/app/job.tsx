/** The page of a job: what it reads and writes, its runs, and where its code is. */

import type { PageProps } from "./app";
import type { Job, Run } from "./documents";
import { sourceOf } from "./edge";
import { namespaceAddress } from "./home";
import { useAnswer } from "./hooks";
import { Link, Moment, NameLink } from "./names";
import { Shown } from "./states";

export function JobPage({ address, go }: PageProps) {
  const root = `api/v1/namespaces/${encodeURIComponent(address.namespace)}/jobs/${encodeURIComponent(address.job)}`;
  const answer = useAnswer<Job>(root);
  const runs = useAnswer<{ runs: readonly Run[] }>(`${root}/runs?limit=20`);
  return (
    <Shown answer={answer}>
      {(job) => (
        <>
          <div class="subject">
            <p class="crumbs">
              <Link to={namespaceAddress(job.namespace)} go={go}>
                <bdi>{job.namespace}</bdi>
              </Link>
            </p>
            <div class="title">
              <h1>
                <bdi>{job.name}</bdi>
              </h1>
            </div>
          </div>
          {job.description && <p>{job.description}</p>}
          <div class="dataset">
            <section>
              <Source job={job} />
              <Names title="Reads" names={job.inputs} go={go} />
              <Names title="Writes" names={job.outputs} go={go} />
            </section>
            <aside>
              <h2>Runs</h2>
              <Shown answer={runs}>{(found) => <Runs runs={found.runs} />}</Shown>
            </aside>
          </div>
        </>
      )}
    </Shown>
  );
}

function Source({ job }: { job: Job }) {
  const source = sourceOf(job);
  return (
    <>
      {source.location && (
        <p>
          Source: <code>{source.location}</code>
        </p>
      )}
      {source.sql && <pre>{source.sql}</pre>}
    </>
  );
}

function Names({ title, names, go }: { title: string; names: Job["inputs"]; go: PageProps["go"] }) {
  return (
    <>
      <h2>{title}</h2>
      {names.length === 0 && <p class="faint">Nothing that is known.</p>}
      <ul class="names">
        {names.map((one) => (
          <li key={`${one.namespace} ${one.name}`}>
            <NameLink name={one} go={go} page="dataset" whole />
          </li>
        ))}
      </ul>
    </>
  );
}

function Runs({ runs }: { runs: readonly Run[] }) {
  if (!runs.length) return <p class="faint">No run is known.</p>;
  return (
    <ol class="names">
      {runs.map((one) => (
        <li key={one.id}>
          <span class={`run ${one.state.toLowerCase()}`}>{one.state.toLowerCase()}</span>
          {one.endedAt && <Moment at={one.endedAt} />}
          <small>
            <code>{one.id}</code>
            {one.durationMs !== null && ` ${(one.durationMs / 1000).toFixed(1)} s`}
          </small>
        </li>
      ))}
    </ol>
  );
}
