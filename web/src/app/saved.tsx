/** A view that was saved as one file, or that a notebook shows: the graph and the details of steps, without a server. */

import { useMemo, useState } from "preact/hooks";
import { shortened } from "../graph/drawing/text";
import { Graph } from "../graph/Graph";
import { readView } from "../model/reading";
import { FIRST_STATE } from "../model/state";
import { shortName } from "./address";
import { EdgePanel } from "./edge";
import { focusOf, focusType, Truncated } from "./lineage";
import { Moment } from "./names";

export interface Saved {
  /** A document of `GET /api/v2/view`. */
  readonly view: unknown;
  /** When it was saved, ISO 8601. */
  readonly at: string;
}

export function SavedView({ saved }: { saved: Saved }) {
  const view = useMemo(() => readView(saved.view), [saved]);
  const [state, setState] = useState(FIRST_STATE);
  const [edges, setEdges] = useState<readonly number[]>([]);
  const name = focusOf(view);
  const type = focusType(view);
  document.title = `${shortName(name)} · lineage · headwater`;
  return (
    <main id="main" class="lineage">
      <p class="crumbs">
        <bdi>{name.namespace}</bdi>
        <span aria-hidden="true"> › </span>
        <bdi>{name.name}</bdi>
      </p>
      <div class="title">
        <h1>
          <bdi>{name.field || shortName(name)}</bdi>
          {type && <code class="type">{shortened(type)}</code>}
        </h1>
        <p class="faint">
          Lineage {view.asOf && "of "}
          {view.asOf && <Moment at={view.asOf} />}
          {view.asOf && ", "}saved <Moment at={saved.at} />
        </p>
      </div>
      <Truncated view={view} />
      <div class="work">
        <Graph
          view={view}
          state={state}
          onState={setState}
          onEdges={setEdges}
          onDataset={null}
          onExpand={null}
          saved={null}
        />
        {edges.length > 0 && <EdgePanel view={view} edges={edges} close={() => setEdges([])} go={null} />}
      </div>
    </main>
  );
}
