/** Cards: which columns of each dataset have a row, and how tall a card is. */

import { type LineageGraph, listOf } from "../../model/graph";
import { numeral } from "../drawing/text";

export const CARD_WIDTH = 248;
export const HEADER = 46;
export const ROW = 24;
export const FOOTER = 26;
/** The number of rows of a card before its columns are paged. */
export const PAGE_ROWS = 12;

/** The state of one card: its page, its filter, and whether its columns are hidden. */
export interface CardState {
  readonly page: number;
  readonly filter: string;
  readonly collapsed: boolean;
}

export const FIRST_CARD: CardState = { page: 0, filter: "", collapsed: false };

export interface Card {
  /** Place of the dataset in the view. */
  readonly dataset: number;
  /** Places of the columns that have a row, from top to bottom. */
  readonly rows: readonly number[];
  /** Places of all columns that could have a row, in their order. */
  readonly columns: readonly number[];
  /** Those of them that the filter lets through, on all pages. */
  readonly matching: readonly number[];
  readonly state: CardState;
  readonly height: number;
}

/**
 * Return the card of a dataset.
 *
 * @param included 1 for the columns of the view that may have a row.
 */
export function cardOf(graph: LineageGraph, dataset: number, included: Uint8Array, state: CardState): Card {
  const columns = Array.from(listOf(graph.columnsOf, dataset).filter((column) => included[column]));
  const text = state.filter.toLowerCase();
  const matches = (column: number) => graph.view.columns.field[column].toLowerCase().includes(text);
  const matching = text ? columns.filter(matches) : columns;
  const page = Math.min(state.page, Math.max(0, Math.ceil(matching.length / PAGE_ROWS) - 1));
  const rows = state.collapsed ? [] : matching.slice(page * PAGE_ROWS, (page + 1) * PAGE_ROWS);
  const footer = rows.length < columns.length || state.filter !== "" ? FOOTER : 0;
  return {
    dataset,
    rows,
    columns,
    matching,
    state: { ...state, page },
    height: HEADER + rows.length * ROW + footer,
  };
}

/** Return the state of a card in which a column has a row. */
export function cardStateWith({ matching, columns, state }: Card, column: number): CardState {
  const filtered = matching.includes(column);
  const place = (filtered ? matching : columns).indexOf(column);
  const page = Math.max(0, Math.floor(place / PAGE_ROWS));
  return { collapsed: false, filter: filtered ? state.filter : "", page };
}

/** Return the height of a row's middle in its card. */
export function rowMiddle(row: number): number {
  return HEADER + row * ROW + ROW / 2;
}

/** Return a card's count of columns in words: `12 of 1,000 shown`. */
export function countOf({ rows, columns }: Card): string {
  return `${numeral(rows.length)} of ${numeral(columns.length)} shown`;
}
