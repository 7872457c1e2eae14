/**
 * The View document: everything that the page draws, as `GET /api/v2/view` sends it.
 *
 * Each table is an object of parallel arrays: place i of every array is about the same thing, and all arrays of a table
 * have the same length. References between tables are places (indexes from 0), never ids. Ids are those of the store:
 * they stay the same from one answer to the next, so that a view that grows can be merged with the one before.
 */

export type TransformationType = "DIRECT" | "INDIRECT";

export type Subtype =
  | "IDENTITY"
  | "TRANSFORMATION"
  | "AGGREGATION"
  | "CONDITIONAL"
  | "WINDOW"
  | "FILTER"
  | "JOIN"
  | "GROUP_BY"
  | "SORT";

/** A limit that cut the view; `columns` also stands for the limit of datasets. */
export type Limit = "columns" | "depth" | "nested" | "time";

/** The datasets of the view. */
export interface DatasetTable {
  readonly id: readonly number[];
  readonly namespace: readonly string[];
  readonly name: readonly string[];
  /** The number of columns the dataset is known to have, at least those in the view. */
  readonly width: readonly number[];
}

/** The columns of the view: those on the path of the focus, and the focus itself. */
export interface ColumnTable {
  readonly id: readonly number[];
  /** Place in `datasets`. */
  readonly dataset: readonly number[];
  /** The name; a field within a column has dots (`items.price`). */
  readonly field: readonly string[];
  /** Of a field within a column the id of the column, else null; only views of the server have it. */
  readonly within?: readonly (number | null)[];
  /** The data type as Spark writes it, null where no schema was seen. */
  readonly dataType: readonly (string | null)[];
  /** Hops before the focus, null for columns that are not upstream of it; 0 at the focus. */
  readonly up: readonly (number | null)[];
  /** Hops after the focus, null for columns that are not downstream of it; 0 at the focus. */
  readonly down: readonly (number | null)[];
  /** 1 where the store has inputs of the column that the view lacks, 0 where it has none. */
  readonly moreUp: readonly (0 | 1)[];
  /** 1 where the store has outputs of the column that the view lacks, 0 where it has none. */
  readonly moreDown: readonly (0 | 1)[];
}

/** The kinds of transformation that edges refer to. */
export interface TransformationTable {
  readonly type: readonly TransformationType[];
  readonly subtype: readonly Subtype[];
  readonly masking: readonly boolean[];
  /** The engine could not see inside: a conservative edge. */
  readonly opaque: readonly boolean[];
  /** Not from an event: a run without column lineage is supposed to have made its outputs from its inputs. */
  readonly guess: readonly boolean[];
  /** Place in `descriptions`, -1 without one. */
  readonly description: readonly number[];
}

export interface JobTable {
  readonly id: readonly number[];
  readonly namespace: readonly string[];
  readonly name: readonly string[];
}

/** The reasons why edges are possibly replaced: a later run overwrote the dataset, perhaps only partly. */
export interface StaleTable {
  /** The end of the overwriting run, ISO 8601. */
  readonly since: readonly string[];
  /** The id of the overwriting run. */
  readonly run: readonly string[];
  /** Place in `jobs`. */
  readonly job: readonly number[];
}

/** The edges, each from a column to a column or to all rows of a dataset. */
export interface EdgeTable {
  /** Place in `columns`. */
  readonly input: readonly number[];
  /** Place in `columns`; an edge to the rows of a whole dataset has -1 - place in `datasets`. */
  readonly output: readonly number[];
  /** Place in `transformations`. */
  readonly transformation: readonly number[];
  /** Place in `jobs`. */
  readonly job: readonly number[];
  /** Place in `stale`, -1 for an edge that is current. */
  readonly stale: readonly number[];
  /** Place in `CHANGES` of `merge.ts`, where the view compares two moments; the server sends no such views. */
  readonly change?: readonly (0 | 1 | 2)[];
}

export interface Focus {
  /** Place in `datasets`. */
  readonly dataset: number;
  /** Place in `columns`; -1 where the view is about the whole dataset. */
  readonly column: number;
}

export interface View {
  readonly focus: Focus;
  /** The moment of the lineage, ISO 8601; null for now. */
  readonly asOf: string | null;
  /** The largest number of hops on each side; null for no bound. */
  readonly depth: { readonly up: number | null; readonly down: number | null };
  readonly datasets: DatasetTable;
  readonly columns: ColumnTable;
  readonly transformations: TransformationTable;
  readonly descriptions: readonly string[];
  readonly jobs: JobTable;
  readonly stale: StaleTable;
  readonly edges: EdgeTable;
  /** The limits that cut the view; empty when it is whole. */
  readonly truncated: readonly Limit[];
}
