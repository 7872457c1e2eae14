/** The documents of the API that the page reads, beside that of a view. */

import type { Subtype, TransformationType } from "../model/view";
import type { Name } from "./address";

export interface JobName {
  readonly namespace: string;
  readonly name: string;
}

export interface FoundText extends Name {
  readonly kind: "dataset" | "column" | "job";
  readonly in: string;
  readonly excerpt: string;
}

export interface TextPage {
  readonly results: readonly FoundText[];
  /** The text that was searched instead, where nothing has the text of the request. */
  readonly corrected: string | null;
  readonly next: string | null;
}

export interface ColumnPage {
  readonly columns: readonly (Required<Name> & {
    readonly id: number;
    readonly type: string;
    readonly match: string;
  })[];
  readonly corrected: string | null;
  readonly next: string | null;
}

export interface DatasetPage {
  readonly datasets: readonly (Name & {
    readonly columns: readonly { readonly field: string; readonly type: string }[];
  })[];
  readonly next: string | null;
}

export interface PathTransformation {
  readonly type: TransformationType;
  readonly subtype: Subtype;
  readonly masking: boolean;
  readonly opaque: boolean;
  readonly guess?: boolean;
  readonly wholeDataset: boolean;
}

export interface ImpactedDataset extends Name {
  readonly distance: number;
  readonly jobs: readonly JobName[];
  readonly columns: readonly {
    readonly field: string;
    readonly distance: number;
    readonly transformations: readonly PathTransformation[];
  }[];
  readonly transformations?: readonly PathTransformation[];
}

export interface Impact {
  readonly datasets: readonly ImpactedDataset[];
  readonly total: { readonly datasets: number; readonly columns: number; readonly jobs: number };
  readonly truncated: readonly string[];
}

export interface Hop {
  readonly input: Name;
  readonly output: Name;
  readonly transformations: readonly {
    readonly type: TransformationType;
    readonly subtype: Subtype;
    readonly masking: boolean;
    readonly opaque: boolean;
    readonly description: string;
  }[];
  readonly job: JobName;
}

export interface Paths {
  readonly source: Name;
  readonly target: Name;
  readonly paths: readonly { readonly columns: readonly Name[]; readonly steps: readonly (readonly Hop[])[] }[];
  readonly truncated: readonly string[];
}

export interface Roots {
  readonly column: Name;
  readonly origin: string | null;
  readonly evidence: string | null;
  readonly near: readonly Name[];
  readonly roots: readonly {
    readonly column: Name;
    readonly origin: string;
    readonly evidence: string | null;
    readonly near: readonly Name[];
    readonly distance: number;
    readonly transformations: readonly PathTransformation[];
  }[];
  readonly truncated: readonly string[];
}

export interface Gap {
  readonly kind: string;
  readonly what: string;
  readonly why: string;
}

export interface Coverage {
  readonly outputs: readonly {
    readonly coverage: "none" | "partial" | "opaque" | "full";
    readonly output: Name | null;
    readonly job: JobName;
    readonly run: string;
    readonly gaps: readonly Gap[];
  }[];
}

export interface Version {
  readonly version: string;
  readonly at: string;
  readonly run: string | null;
  readonly state: string;
  readonly job: JobName | null;
  readonly columns: readonly { readonly field: string; readonly type: string }[];
}

export interface Versions {
  readonly versions: readonly Version[];
  readonly next: string | null;
}

/** The documents of Marquez's API that the page reads: no more of them than it shows. */
export interface Namespaces {
  readonly namespaces: readonly { readonly name: string; readonly isHidden?: boolean }[];
}

export interface Run {
  readonly id: string;
  readonly state: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly durationMs: number | null;
  readonly facets?: Readonly<Record<string, unknown>>;
}

export interface Job extends JobName {
  readonly type: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly location: string | null;
  readonly description: string | null;
  readonly inputs: readonly JobName[];
  readonly outputs: readonly JobName[];
  readonly latestRun: Run | null;
  readonly latestRuns?: readonly Run[];
  readonly facets?: Readonly<Record<string, unknown>>;
}

export interface Jobs {
  readonly jobs: readonly Job[];
  readonly totalCount: number;
}

export interface Dataset {
  readonly namespace: string;
  readonly name: string;
  readonly sourceName: string | null;
  readonly description: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly tags: readonly string[];
  readonly fields: readonly {
    readonly name: string;
    readonly type: string | null;
    readonly description: string | null;
    readonly tags: readonly string[];
  }[];
  readonly facets?: Readonly<Record<string, unknown>>;
}

export interface JobGraph {
  readonly graph: readonly {
    readonly id: string;
    readonly type: "DATASET" | "JOB";
    readonly data: JobName & { readonly latestRun?: Run | null };
    readonly inEdges: readonly { readonly origin: string; readonly destination: string }[];
    readonly outEdges: readonly { readonly origin: string; readonly destination: string }[];
  }[];
}

/** When a step was first and last seen. */
export interface StepHistory {
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly run: string | null;
}

export interface Tag {
  readonly on: Name;
  readonly tag: string;
  readonly value: string;
  /** `API` for people, `FILE`, or the producer of an event. */
  readonly source: string;
  readonly at: string;
}

export interface TagList {
  readonly tags: readonly Tag[];
  /** Whether the key may change tags. */
  readonly writable: boolean;
}

export interface Arrival {
  readonly tag: string;
  readonly value: string;
  readonly column: Name;
  readonly arriving: "value" | "masked" | "influence";
  readonly path: readonly Hop[];
}

export interface TagFlow {
  readonly starts: readonly Name[];
  readonly reached: { readonly value: number; readonly masked: number; readonly influence: number };
  readonly arrivals: readonly Arrival[];
}

export interface ArrivingTags {
  readonly arrivals: readonly Arrival[];
}
