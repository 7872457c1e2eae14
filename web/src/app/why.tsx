/** The page that says why a column has no lineage or only some: where its lineage ends, and what runs say is missing. */

import { nameParams, nestedParams } from "./address";
import { pathOf } from "./api";
import type { PageProps } from "./app";
import type { Coverage, Roots, Versions } from "./documents";
import { useAnswer } from "./hooks";
import { nameOf } from "./impact";
import { JobLink, KindLabels, NameLink } from "./names";
import { Empty, Shown } from "./states";
import { Subject } from "./subject";

const EVIDENCE: Readonly<Record<string, string>> = {
  unwritten: "No known run writes its dataset: it is a source, or headwater does not watch the job that fills it.",
  literal: "A run wrote it and read no column for it: a constant, a count of rows, the time.",
  partial: "A run wrote it, and says that its lineage has gaps.",
  "no lineage": "Runs write its dataset, and say nothing of columns.",
  unnamed: "Runs write its dataset, and none ever named this column.",
  replaced: "A run replaced all rows of its dataset, and none has said since what is in it.",
  cycle: "It is made from itself only.",
  filtered: "What it is made from is left out by a filter.",
};

const COVERED = {
  full: "The latest run says where every column comes from.",
  opaque: "The latest run has steps that headwater cannot see into; their edges are coarse, and none is missing.",
  partial: "The latest run says that something is missing:",
  none: "The latest run says nothing of columns:",
} as const;

export function WhyPage({ address, go }: PageProps) {
  const type = address.influence === "value" ? "DIRECT" : null;
  const answer = useAnswer<Roots>(
    pathOf("api/v2/roots", { ...nameParams(address), ...nestedParams(address), type, as_of: address.asOf }),
  );
  const name = nameOf(address);
  return (
    <>
      <Subject name={name} address={address} go={go} />
      <Gaps namespace={name.namespace} dataset={name.name} go={go} />
      <Shown answer={answer} level={2}>
        {(roots) => <Ends roots={roots} go={go} />}
      </Shown>
    </>
  );
}

/** What the latest run of a dataset says of its own lineage. */
export function Gaps({ namespace, dataset, go }: { namespace: string; dataset: string; go: PageProps["go"] }) {
  const versions = useAnswer<Versions>(pathOf("api/v2/versions", { namespace, dataset, limit: 1 }));
  const run = versions.data?.versions[0]?.run ?? null;
  const coverage = useAnswer<Coverage>(run ? pathOf("api/v2/coverage", { run }) : null);
  const mine = coverage.data?.outputs.filter(
    (one) => one.output === null || (one.output.namespace === namespace && one.output.name === dataset),
  );
  if (versions.data && !run) return <p class="faint">No run that you may see wrote this dataset.</p>;
  if (!mine) return null;
  return (
    <section class="gaps">
      <h2>What the run that wrote it says</h2>
      {mine.map((one) => (
        <div key={one.run + one.job.name}>
          <p>
            {COVERED[one.coverage]} <JobLink job={one.job} go={go} /> <code>{one.run}</code>
          </p>
          {one.gaps.length > 0 && (
            <ul>
              {one.gaps.map((gap) => (
                <li key={JSON.stringify(gap)}>
                  <b>{gap.kind}</b> <code>{gap.what}</code> {gap.why}
                </li>
              ))}
            </ul>
          )}
        </div>
      ))}
    </section>
  );
}

function Ends({ roots, go }: { roots: Roots; go: PageProps["go"] }) {
  if (roots.evidence) {
    return (
      <Empty title="Nothing is known before this column.">
        <p>{EVIDENCE[roots.evidence] ?? roots.evidence}</p>
        <Near names={roots.near} go={go} />
      </Empty>
    );
  }
  return (
    <section>
      <h2>Where its lineage begins, and why nothing is before</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">How it takes part</th>
              <th scope="col">Why nothing is before it</th>
              <th scope="col">Steps</th>
            </tr>
          </thead>
          <tbody>
            {roots.roots.map((one) => (
              <tr key={JSON.stringify(one.column)}>
                <td>
                  <NameLink name={one.column} go={go} whole />
                </td>
                <td>
                  <KindLabels kinds={one.transformations} />
                </td>
                <td>
                  {EVIDENCE[one.evidence ?? one.origin] ?? one.origin}
                  <Near names={one.near} go={go} />
                </td>
                <td class="number">{one.distance}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Near({ names, go }: { names: Roots["near"]; go: PageProps["go"] }) {
  if (!names.length) return null;
  return (
    <p>
      Perhaps one of these was meant:{" "}
      {names.map((one) => (
        <NameLink key={JSON.stringify(one)} name={one} go={go} />
      ))}
    </p>
  );
}
