/** Two runs or moments compared: the steps that came and went between them, as a list beside the graph. */

import { describeEdge } from "../graph/describe";
import { counted } from "../graph/drawing/text";
import { CHANGES } from "../model/merge";
import type { View } from "../model/view";
import type { Address } from "./address";
import type { Go } from "./hooks";
import { edgeIds } from "./lineage";
import { RunSelect, useRuns } from "./moments";
import { Panel } from "./panel";

interface ComparisonProps {
  view: View;
  address: Address;
  go: Go;
}

/** How many steps of each kind are listed; the graph has all. */
const MOST = 200;

export function Comparison({ view, address, go }: ComparisonProps) {
  const change = view.edges.change ?? [];
  const places = change.map((_, edge) => edge);
  const of = (name: (typeof CHANGES)[number]) => places.filter((edge) => CHANGES[change[edge]] === name);
  const { asOf, compare } = address;
  const runs = useRuns({ namespace: address.namespace, name: address.dataset });
  const momentOf = (text: string) => runs.find((one) => one.id === text)?.at ?? text;
  const isLater = asOf !== "" && momentOf(compare) > momentOf(asOf);
  const list = (title: string, edges: readonly number[]) => (
    <section>
      <h2 class="step">{title}</h2>
      {edges.length === 0 && <p class="faint">None.</p>}
      <ul class="changed">
        {edges.slice(0, MOST).map((edge) => (
          <li key={edge}>
            <button type="button" class="quiet" onClick={() => go({ ...address, edge: edgeIds(view, [edge]) })}>
              <bdi>{describeEdge(view, edge)}</bdi>
            </button>
          </li>
        ))}
      </ul>
      {edges.length > MOST && <p class="faint">and {counted(edges.length - MOST, "step")} more</p>}
    </section>
  );
  const select = (key: "compare" | "asOf", value: string, begins: boolean, none: string) => (
    <RunSelect
      key={key}
      label={begins ? "From" : "To"}
      runs={runs}
      value={value}
      none={none}
      choose={(chosen) => go({ ...address, [key]: chosen })}
    />
  );
  const one = select("compare", compare, !isLater, "nothing");
  const other = select("asOf", asOf, isLater, "now");
  return (
    <Panel label="What came and went" closing="Close the comparison" close={() => go({ ...address, compare: "" })}>
      <div class="runs">{isLater ? [other, one] : [one, other]}</div>
      <p>{counted(of("same").length, "step")} stayed.</p>
      {list("Came", of("came"))}
      {list("Went", of("went"))}
    </Panel>
  );
}
