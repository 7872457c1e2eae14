/** The steps of a view as a table. */

import type { GraphState } from "../model/state";
import type { View } from "../model/view";

export interface GraphProps {
  readonly view: View;
  readonly state: GraphState;
  onState(state: GraphState): void;
  onEdges(edges: readonly number[]): void;
  onDataset(dataset: number): void;
  onExpand(column: number, direction: "up" | "down"): void;
}

export function Graph({ view, onEdges }: GraphProps) {
  const { columns, datasets, edges, transformations } = view;
  const name = (place: number) =>
    place < 0
      ? `${datasets.name[-1 - place]} (all rows)`
      : `${datasets.name[columns.dataset[place] ?? 0]}.${columns.field[place]}`;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col">How</th>
          </tr>
        </thead>
        <tbody>
          {edges.input.map((input, edge) => (
            <tr key={edge}>
              <td>{name(input)}</td>
              <td>{name(edges.output[edge] ?? 0)}</td>
              <td>
                <button type="button" onClick={() => onEdges([edge])}>
                  {transformations.subtype[edges.transformation[edge] ?? 0]}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
