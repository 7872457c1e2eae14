/** The moment of a lineage: now, any other, or from a run on that wrote the dataset; and the run that it is compared with. */

import type { Address, Name } from "./address";
import { pathOf } from "./api";
import type { Versions } from "./documents";
import { type Go, useAnswer } from "./hooks";
import { Moment, momentText } from "./names";

const MOST = 100;

/** A run that wrote a dataset, and when; where its id is not known it goes by the moment. */
interface Run {
  readonly id: string;
  readonly at: string;
  /** When it wrote, as much of its id as it needs, and its job. */
  readonly title: string;
}

/** Return the runs that wrote a dataset, the latest first. */
export function useRuns({ namespace, name }: Name): readonly Run[] {
  const { data } = useAnswer<Versions>(pathOf("api/v2/versions", { namespace, dataset: name, limit: MOST }));
  const versions = data?.versions ?? [];
  const length = idLength(versions.flatMap(({ run }) => run ?? []));
  const runs = versions.map(({ run, at, job }) => {
    const title = [momentText(at), run?.slice(0, length), job?.name].filter(Boolean).join(" · ");
    return { id: run ?? at, at, title };
  });
  return [...new Map(runs.map((one) => [one.id, one])).values()];
}

/** The moment of the lineage: now, one of the moments at which the dataset was written, or any other. */
export function Moments({ dataset, address, go }: { dataset: Name; address: Address; go: Go }) {
  const runs = useRuns(dataset);
  const moments = [...new Set(runs.map((one) => one.at))].reverse();
  const asOf = runs.find((one) => one.id === address.asOf)?.at ?? address.asOf;
  const place = asOf ? moments.findLastIndex((one) => one <= asOf) : moments.length;
  const show = (asOf: string) => go({ ...address, asOf, edge: "" });
  const slide = (event: Event) => show(moments[Number((event.currentTarget as HTMLInputElement).value)] ?? "");
  return (
    <div class="moments">
      {moments.length > 1 && (
        <label>
          As of
          <input
            type="range"
            min={0}
            max={moments.length}
            value={place}
            onChange={slide}
            aria-valuetext={asOf || "now"}
          />
        </label>
      )}
      <label>
        {moments.length > 1 ? <span class="unseen">Moment</span> : "As of"}
        <input
          type="datetime-local"
          step="1"
          value={localTime(asOf)}
          onChange={(event) => show(isoTime(event.currentTarget.value))}
        />
      </label>
      {address.page === "lineage" && runs.length > 0 && (
        <RunSelect
          label="Compare with"
          runs={runs.filter((one) => one.id !== address.asOf)}
          value={address.compare}
          none="nothing"
          choose={(compare) => go({ ...address, compare, edge: "" })}
        />
      )}
      {address.asOf && (
        <span class="then">
          <Moment at={asOf} />{" "}
          <button type="button" onClick={() => show("")}>
            Show now
          </button>
        </span>
      )}
    </div>
  );
}

interface RunSelectProps {
  label: string;
  runs: readonly Run[];
  value: string;
  /** The choice beside runs. */
  none: string;
  choose: (value: string) => void;
}

/** A choice of a run by its id, of those that wrote the dataset. */
export function RunSelect({ label, runs, value, none, choose }: RunSelectProps) {
  const known = value === "" || runs.some((one) => one.id === value);
  return (
    <label>
      {label}
      <select value={value} title={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{none}</option>
        {runs.map(({ id, title }) => (
          <option key={id} value={id} title={id}>
            {title}
          </option>
        ))}
        {!known && <option value={value}>{momentText(value)}</option>}
      </select>
    </label>
  );
}

/** Return by how many characters the ids of runs differ, at least eight: those of a minute begin alike (UUID v7). */
function idLength(ids: readonly string[]): number {
  const all = new Set(ids).size;
  let length = 8;
  while (new Set(ids.map((id) => id.slice(0, length))).size < all) length++;
  return length;
}

function localTime(iso: string): string {
  const date = new Date(iso);
  if (!iso || Number.isNaN(date.getTime())) return "";
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function isoTime(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}
