/** The graph: cards of datasets with their columns, the edges between, and all that can be done with them. */

import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { foldOf } from "../model/folds";
import { type Path, pathOf } from "../model/path";
import type { GraphState, Hop } from "../model/state";
import type { View } from "../model/view";
import type { Rect } from "./drawing/curves";
import { around, type Drawing, litBy } from "./drawing/drawing";
import type { ExportMenuProps } from "./export/ExportMenu";
import { announcement, hopBeyond, type Walk, walk } from "./keyboard";
import { Cards } from "./parts/Cards";
import type { CardActions } from "./parts/DatasetCard";
import { HoveredLine, type HoveredPlace } from "./parts/HoveredLine";
import { Legend } from "./parts/Legend";
import { Minimap } from "./parts/Minimap";
import { Toolbar } from "./parts/Toolbar";
import { usePointer } from "./pointer";
import { type CardState, cardStateWith } from "./scene/cards";
import { boxKeys } from "./scene/scene";
import { Stage } from "./stage";
import { Tree } from "./tree/Tree";
import "./graph.css";
import { useDrawing, useFollowed } from "./useScene";

export interface GraphProps {
  readonly view: View;
  readonly state: GraphState;
  onState(state: GraphState): void;
  /** Edges of one line were chosen: their places in the view. */
  onEdges(edges: readonly number[]): void;
  /** A dataset was chosen: its place in the view. Null where there is no page of it. */
  readonly onDataset: ((dataset: number) => void) | null;
  /** One hop more is wanted. Null where the view is all there is. */
  readonly onExpand: ((hop: Hop) => void) | null;
  readonly saved: ExportMenuProps["saved"];
}

/** The graph and, beside it, the same state as a table. */
export function Graph(props: GraphProps) {
  const { view, state, onState } = props;
  const followed = useFollowed(view, state);
  const [cardStates, setCardStates] = useState<ReadonlyMap<number, CardState>>(new Map());
  const { drawing, tidy } = useDrawing(followed, state, cardStates);
  const stage = useRef<Stage | null>(null);
  const anchor = useRef<Anchor>({ dataset: view.datasets.id[view.focus.dataset], hop: false });
  const change = (changed: Partial<GraphState>) => onState({ ...state, ...changed });
  return (
    <div class="hw-graph">
      <Toolbar {...{ state, change, tidy, drawing }} saved={props.saved} stage={() => stage.current} />
      {state.form === "table" ? (
        <Tree followed={followed} state={state} onState={onState} onEdges={props.onEdges} />
      ) : (
        <Canvas
          {...props}
          view={followed.graph.view}
          {...{ followed, drawing, cardStates, setCardStates, stage, anchor }}
        />
      )}
      <Legend view={view} hidden={state.hidden} onHidden={(hidden) => change({ hidden })} />
    </div>
  );
}

/** How long the pointer rests on a column before its path is lit, in ms: on the way across cards nothing flickers. */
const PREVIEW_DELAY = 120;

/** The dataset that was acted on last, by its id: its card stays where it is, and what it led to is brought into sight. */
interface Anchor {
  readonly dataset: number;
  readonly hop: boolean;
}

interface CanvasProps extends GraphProps {
  readonly followed: ReturnType<typeof useFollowed>;
  readonly drawing: Drawing | null;
  readonly cardStates: ReadonlyMap<number, CardState>;
  setCardStates(states: ReadonlyMap<number, CardState>): void;
  readonly stage: { current: Stage | null };
  readonly anchor: { current: Anchor };
}

function Canvas(props: CanvasProps) {
  const { view, state, onState, followed, drawing, stage } = props;
  const root = useRef<HTMLElement>(null);
  const [preview, setPreview] = useDelayed<number>(PREVIEW_DELAY);
  const [hovered, setHovered] = useState<HoveredPlace | null>(null);
  const [active, setActive] = useState(-1);
  const [message, setMessage] = useState("");
  const { elements, boxes } = useStage(stage, drawing, props.anchor);
  const selected = followed.path?.start[0] ?? -1;
  const lit = useLit(props, preview);

  useEffect(() => {
    if (drawing) stage.current?.light(lit ? litBy(lit, drawing) : null);
  }, [lit, drawing]);
  usePointer(root, stage, drawing, setHovered, props.onEdges);

  const actions = useActions(props, setPreview, setActive);
  const go = (next: Walk | null) => {
    if (!next) return;
    setActive(next.column);
    setMessage(announcement(followed, next));
    focusColumn(props, root.current, next.column);
  };
  const current = active >= 0 ? active : firstColumn(view, selected);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") return onState({ ...state, column: null });
    if (!drawing || event.target instanceof HTMLInputElement) return;
    const from = focusedColumn() ?? current;
    const hop = event.shiftKey ? hopBeyond(view, from, event.key) : null;
    const next = hop ? null : walk(followed, drawing, from, event.key);
    if (hop) actions.expand?.(view.columns.dataset[from], hop);
    if (hop || next) event.preventDefault();
    go(next);
  };
  return (
    <section
      ref={root}
      class="hw-stage"
      aria-label="Lineage graph; arrow keys walk along edges, with Shift they add a hop, Enter shows the path of a column, Escape shows all"
      onKeyDown={onKeyDown}
    >
      <canvas ref={elements.canvas} class="hw-canvas" />
      <div ref={elements.world} class={lit ? "hw-world hw-lighting" : "hw-world"}>
        {drawing ? (
          <>
            <HoveredLine drawing={drawing} hovered={hovered} />
            <Cards {...{ drawing, boxes, lit, selected, actions }} active={current} />
          </>
        ) : null}
      </div>
      {drawing ? <Minimap drawing={drawing} stage={stage} /> : null}
      <output class="hw-live" aria-live="polite">
        {message}
      </output>
      {drawing ? null : <p class="hw-loading">Laying out…</p>}
    </section>
  );
}

/** Return a value that is set after a delay, and reset at once. */
function useDelayed<T>(delay: number): [T | null, (value: T | null) => void] {
  const [value, setValue] = useState<T | null>(null);
  const timer = useRef(0);
  const set = useCallback(
    (next: T | null) => {
      clearTimeout(timer.current);
      if (next === null) setValue(null);
      else timer.current = window.setTimeout(() => setValue(next), delay);
    },
    [delay],
  );
  return [value, set];
}

/** Return the column whose row has the keyboard's focus. */
function focusedColumn(): number | null {
  const row = document.activeElement?.closest<HTMLElement>("[data-column]");
  return row ? Number(row.dataset.column) : null;
}

/** Return the column that the keyboard starts from. */
function firstColumn(view: View, selected: number): number {
  return selected >= 0 ? selected : Math.max(0, view.focus.column);
}

/** Return the path that is lit: that of the column under the pointer, else where the rest is dimmed the selected one's. */
function useLit({ followed, state }: CanvasProps, preview: number | null): Path | null {
  const { graph, shown, depth, path } = followed;
  return useMemo(() => {
    if (preview !== null) return pathOf(graph, [preview], shown, depth);
    return state.rest === "dim" ? path : null;
  }, [graph, shown, depth, path, preview, state.rest]);
}

/** Return what cards can do: the same object as long as it can do the same, so that cards are not rendered anew for it. */
function useActions(
  props: CanvasProps,
  setPreview: (column: number | null) => void,
  setActive: (column: number) => void,
): CardActions {
  const latest = useRef(props);
  latest.current = props;
  const [opens, expands] = [props.onDataset !== null, props.onExpand !== null];
  return useMemo(
    () => ({
      select: (column) => {
        const { view, state, onState, anchor } = latest.current;
        const id = view.columns.id[column];
        if (id < 0) return unfold(latest.current, view.columns.dataset[column]);
        anchor.current = { dataset: view.datasets.id[view.columns.dataset[column]], hop: false };
        setPreview(null);
        setActive(column);
        onState({ ...state, column: state.column === id ? null : id });
      },
      preview: setPreview,
      changeCard: (dataset, card) => {
        const { view, cardStates, setCardStates, anchor } = latest.current;
        anchor.current = { dataset: view.datasets.id[dataset], hop: false };
        setCardStates(new Map(cardStates).set(view.datasets.id[dataset], card));
      },
      openDataset: opens ? (dataset) => latest.current.onDataset?.(dataset) : null,
      unfold: (dataset) => unfold(latest.current, dataset),
      expand: expands
        ? (dataset, hop) => {
            const { view, anchor, onExpand } = latest.current;
            anchor.current = { dataset: view.datasets.id[dataset], hop: true };
            onExpand?.(hop);
          }
        : null,
    }),
    [opens, expands],
  );
}

/** Show in full what a fold stands for; the dataset beside it stays where it is. */
function unfold({ view, state, onState, anchor }: CanvasProps, dataset: number): void {
  const id = foldOf(view, dataset);
  anchor.current = { dataset: id >> 1, hop: false };
  onState({ ...state, unfolded: [...state.unfolded, id] });
}

/** Keep a stage for the elements, and show each drawing on it. */
function useStage(stage: { current: Stage | null }, drawing: Drawing | null, anchor: { current: Anchor }) {
  const elements = { canvas: useRef<HTMLCanvasElement>(null), world: useRef<HTMLDivElement>(null) };
  const [boxes, setBoxes] = useState<readonly number[]>([]);
  const before = useRef<Drawing | null>(null);
  useLayoutEffect(() => {
    const [canvas, world] = [elements.canvas.current, elements.world.current];
    const root = canvas?.parentElement;
    if (!canvas || !world || !root) return;
    stage.current = new Stage({ root, canvas, world }, setBoxes);
    const stop = onColours(() => stage.current?.recolour());
    return () => {
      stop();
      stage.current?.close();
      stage.current = null;
    };
  }, []);
  // At once: what is clicked next is another anchor.
  useLayoutEffect(() => {
    if (!drawing) return;
    const { dataset, hop } = anchor.current;
    const moved = before.current && anchorOf(before.current, drawing, dataset);
    stage.current?.show(drawing, null, moved);
    if (hop && before.current && moved) {
      stage.current?.glideTo(around([...addedBoxes(before.current, drawing), moved.after]));
      anchor.current = { dataset, hop: false };
    }
    before.current = drawing;
  }, [drawing]);
  return { elements, boxes };
}

/** Call back when the page's colours change, by the system's scheme or by the page's own; returns what ends it. */
function onColours(changed: () => void): () => void {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const theme = new MutationObserver(changed);
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  scheme.addEventListener("change", changed);
  return () => {
    theme.disconnect();
    scheme.removeEventListener("change", changed);
  };
}

/** Return where the card of a dataset was and is, or else that of the focus. */
function anchorOf(before: Drawing, after: Drawing, id: number): { before: Rect; after: Rect } | null {
  const { datasets, focus } = after.scene.graph.view;
  const rects = ({ boxes, scene }: Drawing) =>
    [id, datasets.id[focus.dataset]].map((one) => boxes[scene.boxOf[scene.graph.view.datasets.id.indexOf(one)]]);
  const [from, to] = [rects(before), rects(after)];
  const shown = from.findIndex((rect, place) => rect && to[place]);
  return shown < 0 ? null : { before: from[shown], after: to[shown] };
}

/** Return where the cards are that a drawing has and the one before had not. */
function addedBoxes(before: Drawing, { scene, boxes }: Drawing): Rect[] {
  const keys = new Set(boxKeys(before.scene));
  return boxKeys(scene).flatMap((key, box) => (keys.has(key) ? [] : [boxes[box]]));
}

/** Show a column's row, turning its card to the page that has it, and put the keyboard's focus there. */
function focusColumn(props: CanvasProps, root: HTMLElement | null, column: number): void {
  const { view, drawing, stage, cardStates, setCardStates } = props;
  if (!drawing) return;
  const dataset = view.columns.dataset[column];
  const box = drawing.scene.boxOf[dataset];
  const card = drawing.scene.cards[box];
  if (!card.rows.includes(column)) {
    const state = cardStateWith(card, column);
    setCardStates(new Map(cardStates).set(view.datasets.id[dataset], state));
  }
  stage.current?.reveal(drawing.boxes[box]);
  // After the cards in sight have been rendered.
  setTimeout(() => root?.querySelector<HTMLElement>(`[data-column="${column}"]`)?.focus({ preventScroll: true }), 60);
}
