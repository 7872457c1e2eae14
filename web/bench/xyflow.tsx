/** @jsxImportSource react */
/** The view of `ours.tsx` in @xyflow/react, with the same layout: a node for a dataset, two handles for a column. */

import { Handle, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { createRoot } from "react-dom/client";
import { LayoutWorker } from "../src/graph/layout/client";
import { requestOf, sceneOf } from "../src/graph/scene/scene";
import { graphOf, shownEdges } from "../src/model/graph";
import { randomView } from "./views";

const params = new URLSearchParams(location.search);
const number = (name: string, otherwise: number) => Number(params.get(name) ?? otherwise);
const view = randomView(number("datasets", 2000), number("columns", 25), number("edges", 50_000));

function DatasetNode({ data }: NodeProps & { data: { name: string; columns: string[] } }) {
  return (
    <div style={{ width: 248, background: "white", border: "1px solid #868e9c", borderRadius: 6, fontSize: 13 }}>
      <div style={{ height: 46 }}>{data.name}</div>
      {data.columns.map((column, row) => (
        <div key={column} style={{ position: "relative", height: 24 }}>
          <Handle type="target" position={Position.Left} id={`i${row}`} />
          {column}
          <Handle type="source" position={Position.Right} id={`o${row}`} />
        </div>
      ))}
    </div>
  );
}

const NODE_TYPES = { dataset: DatasetNode };

async function start(root: HTMLElement): Promise<void> {
  const graph = graphOf(view);
  const edges = shownEdges(view, new Set());
  const scene = sceneOf(graph, { edges, path: null, jobs: false, group: "none", cardStates: new Map() });
  const { x, y } = await new LayoutWorker().layOut(requestOf(scene, new Map()));
  const columns = number("columns", 25);
  const nodes = scene.cards.map(({ dataset }, box) => ({
    id: `${dataset}`,
    type: "dataset",
    // Its nodes are taller: they have all columns.
    position: { x: x[box], y: y[box] * Math.max(1, (46 + columns * 24) / 360) },
    data: {
      name: view.datasets.name[dataset],
      columns: view.columns.field.slice(dataset * columns, (dataset + 1) * columns),
    },
  }));
  const lines = view.edges.input.map((input, edge) => {
    const output = view.edges.output[edge];
    return {
      id: `${edge}`,
      source: `${view.columns.dataset[input]}`,
      sourceHandle: `o${input % columns}`,
      target: `${view.columns.dataset[output]}`,
      targetHandle: `i${output % columns}`,
    };
  });
  const focus = nodes.find((node) => node.id === `${view.focus.dataset}`)?.position ?? { x: 0, y: 0 };
  const viewport = { x: 600 - focus.x, y: 300 - focus.y, zoom: 1 };
  createRoot(root).render(
    <ReactFlow
      defaultNodes={nodes}
      defaultEdges={lines}
      nodeTypes={NODE_TYPES}
      defaultViewport={viewport}
      minZoom={0.005}
      onlyRenderVisibleElements
      panOnScroll={params.has("pan")}
    />,
  );
}

const root = document.getElementById("app");
if (root) start(root);
