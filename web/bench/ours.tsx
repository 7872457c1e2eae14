/** The graph alone, of a view that the address describes: `?datasets=2000&columns=25&edges=50000`. */

import { render } from "preact";
import { useState } from "preact/hooks";
import { Graph } from "../src/graph/Graph";
import { FIRST_STATE, type GraphState } from "../src/model/state";
import { pictureView } from "./pictures";
import { randomView } from "./views";

const params = new URLSearchParams(location.search);
const number = (name: string, otherwise: number) => Number(params.get(name) ?? otherwise);
const view = params.has("picture")
  ? pictureView()
  : randomView(number("datasets", 2000), number("columns", 25), number("edges", 50_000));

function App() {
  const first = JSON.parse(params.get("state") ?? "{}") as Partial<GraphState>;
  const [state, setState] = useState<GraphState>({ ...FIRST_STATE, ...first });
  return (
    <Graph
      view={view}
      state={state}
      onState={setState}
      onEdges={(edges) => document.body.setAttribute("data-edges", edges.join())}
      onDataset={(dataset) => document.body.setAttribute("data-dataset", `${dataset}`)}
      saved={null}
      onExpand={({ id, direction }) => document.body.setAttribute("data-expand", `${id} ${direction}`)}
    />
  );
}

const root = document.getElementById("app");
if (root) render(<App />, root);
