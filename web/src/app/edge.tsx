/** The panel of an edge: how the step computes its output, which job and run made it, and whether that is still so. */

import type { View } from "../model/view";
import { pathOf } from "./api";
import type { Job, StepHistory } from "./documents";
import { type Go, useAnswer } from "./hooks";
import { columnName, datasetName } from "./lineage";
import { JobLink, KindLabel, Moment, NameLink } from "./names";
import { Panel } from "./panel";

interface EdgePanelProps {
  view: View;
  /** Places of edges in the view. */
  edges: readonly number[];
  close: () => void;
  /** Null in a saved view, which has no server to ask for more. */
  go: Go | null;
}

export function EdgePanel({ view, edges, close, go }: EdgePanelProps) {
  return (
    <Panel label="Details of the step" closing="Close the details" close={close}>
      {edges.length === 0 && <p>This step is not in the view: it is gone, or of another kind.</p>}
      {edges.map((edge) => (
        <Step key={edge} view={view} edge={edge} go={go} />
      ))}
    </Panel>
  );
}

function Step({ view, edge, go }: { view: View; edge: number; go: Go | null }) {
  const { transformations, edges, jobs } = view;
  const place = edges.transformation[edge];
  const output = edges.output[edge];
  const kind = {
    type: transformations.type[place],
    subtype: transformations.subtype[place],
    masking: transformations.masking[place],
    opaque: transformations.opaque[place],
    guess: transformations.guess[place],
  };
  const job = { namespace: jobs.namespace[edges.job[edge]], name: jobs.name[edges.job[edge]] };
  const expression = view.descriptions[transformations.description[place]];
  return (
    <section>
      <h2 class="step">
        <NameLink name={columnName(view, edges.input[edge])} go={go} /> <span aria-hidden="true">→</span>
        <span class="unseen">to</span>{" "}
        {output < 0 ? (
          <>
            all rows of <NameLink name={datasetName(view, -1 - output)} go={go} page="dataset" />
          </>
        ) : (
          <NameLink name={columnName(view, output)} go={go} />
        )}
      </h2>
      <p>
        <KindLabel kind={kind} />
      </p>
      {expression ? <pre class="expression">{expression}</pre> : <p class="faint">No expression is known.</p>}
      {kind.opaque && <p>headwater cannot see into this step: every column that it reads may be in the output.</p>}
      <Stale view={view} edge={edge} go={go} />
      {go ? (
        <>
          <History view={view} edge={edge} />
          <JobOf job={job} go={go} />
        </>
      ) : (
        <dl>
          <dt>Job</dt>
          <dd>
            <bdi>{job.name}</bdi>
          </dd>
        </dl>
      )}
    </section>
  );
}

function Stale({ view: { stale, edges, jobs }, edge, go }: { view: View; edge: number; go: Go | null }) {
  const place = edges.stale[edge];
  if (place < 0) return null;
  const job = stale.job[place];
  return (
    <p class="notice">
      Possibly replaced since <Moment at={stale.since[place]} />:{" "}
      <JobLink job={{ namespace: jobs.namespace[job], name: jobs.name[job] }} go={go} /> overwrote the dataset, and its
      event does not say whether all of it. Run <code>{stale.run[place]}</code>.
    </p>
  );
}

function History({ view, edge }: { view: View; edge: number }) {
  const output = view.edges.output[edge];
  const columnOf = (place: number) => view.columns.within?.[place] ?? view.columns.id[place];
  const path = pathOf("api/v2/step", {
    input: columnOf(view.edges.input[edge]),
    output: output < 0 ? -view.datasets.id[-1 - output] : columnOf(output),
    job: view.jobs.id[view.edges.job[edge]],
  });
  const { data } = useAnswer<StepHistory>(path);
  if (!data) return null;
  return (
    <dl>
      <dt>First seen</dt>
      <dd>
        <Moment at={data.firstSeen} />
      </dd>
      <dt>Last seen</dt>
      <dd>
        <Moment at={data.lastSeen} />
        {data.run && (
          <>
            {" "}
            in run <code>{data.run}</code>
          </>
        )}
      </dd>
    </dl>
  );
}

function JobOf({ job, go }: { job: { namespace: string; name: string }; go: Go }) {
  const hidden = job.namespace === "hidden";
  const root = `api/v1/namespaces/${encodeURIComponent(job.namespace)}/jobs/${encodeURIComponent(job.name)}`;
  const { data } = useAnswer<Job>(hidden ? null : root);
  const source = data ? sourceOf(data) : null;
  return (
    <>
      <dl>
        <dt>Job</dt>
        <dd>{hidden ? <bdi>{job.name}</bdi> : <JobLink job={job} go={go} />}</dd>
        {data?.latestRun && (
          <>
            <dt>Latest run</dt>
            <dd>
              {data.latestRun.state.toLowerCase()} <code>{data.latestRun.id}</code>
            </dd>
          </>
        )}
        {source?.location && (
          <>
            <dt>Source</dt>
            <dd>
              <code>{source.location}</code>
            </dd>
          </>
        )}
      </dl>
      {source?.sql && (
        <details>
          <summary>SQL of the job</summary>
          <pre>{source.sql}</pre>
        </details>
      )}
    </>
  );
}

interface Source {
  readonly location: string;
  readonly sql: string;
}

/** Return where the job's code is, as far as its events say: a URL or a file and line, and its SQL. */
export function sourceOf(job: Job): Source {
  const facets = (job.facets ?? {}) as Record<string, Record<string, unknown> | undefined>;
  const texts = (facet: string, ...names: string[]) =>
    names.map((name) => facets[facet]?.[name]).find((one): one is string => typeof one === "string") ?? "";
  return {
    location: job.location ?? texts("sourceCodeLocation", "url", "path"),
    sql: texts("sql", "query"),
  };
}
