/** A view with everything that a graph can show: the kinds of edges, names that attack, a wide dataset, a cycle. */

import { readView } from "../src/model/reading";
import type { Subtype, View } from "../src/model/view";

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly subtype: Subtype;
  readonly flags?: string;
  readonly text?: string;
  readonly job: string;
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "s3://lake|raw/flights": ["flight_id", "carrier", "distance", "departed_at", "passenger_email", "tail_number"],
  "s3://lake|raw/carriers": ["code", "name", "country"],
  "postgres://crm|public.passengers": ["email", "name", "born_on", "<script>alert(1)</script>"],
  "s3://lake|silver/flights_clean": ["flight_id", "carrier_name", "distance_km", "departed_on", "email_hash"],
  "s3://lake|silver/passengers": ["email_hash", "age", "אבג שם", "x".repeat(10_000)],
  "s3://lake|silver/model_scores": ["flight_id", "delay_risk"],
  "s3://lake|gold/carrier_day": ["carrier_name", "day", "flights", "km", "mean_age", "delay_risk"],
  "s3://lake|gold/report": ["carrier_name", "month", "km", "rank"],
  "s3://lake|gold/wide": Array.from({ length: 300 }, (_, place) => `feature_${place}`),
};

function arrow(from: string, to: string, subtype: Subtype, job: string, flags = "", text = ""): Arrow {
  return { from, to, subtype, job, flags, text };
}

const ARROWS: readonly Arrow[] = [
  arrow("flights.flight_id", "flights_clean.flight_id", "IDENTITY", "clean_flights"),
  arrow("carriers.name", "flights_clean.carrier_name", "IDENTITY", "clean_flights"),
  arrow("flights.carrier", "flights_clean", "JOIN", "clean_flights"),
  arrow("carriers.code", "flights_clean", "JOIN", "clean_flights"),
  arrow("flights.distance", "flights_clean.distance_km", "TRANSFORMATION", "clean_flights", "", "distance * 1.609344"),
  arrow("flights.distance", "flights_clean.distance_km", "CONDITIONAL", "clean_flights", "", "distance > 0"),
  arrow(
    "flights.departed_at",
    "flights_clean.departed_on",
    "TRANSFORMATION",
    "clean_flights",
    "",
    "to_date(departed_at)",
  ),
  arrow(
    "flights.passenger_email",
    "flights_clean.email_hash",
    "TRANSFORMATION",
    "clean_flights",
    "m",
    "sha2(passenger_email, 256)",
  ),
  arrow(
    "public.passengers.email",
    "passengers.email_hash",
    "TRANSFORMATION",
    "load_passengers",
    "m",
    "sha2(email, 256)",
  ),
  arrow(
    "public.passengers.born_on",
    "passengers.age",
    "TRANSFORMATION",
    "load_passengers",
    "",
    "floor(months_between(now(), born_on) / 12)",
  ),
  arrow("public.passengers.<script>alert(1)</script>", "passengers.אבג שם", "IDENTITY", "load_passengers"),
  arrow("public.passengers.name", `passengers.${"x".repeat(10_000)}`, "IDENTITY", "load_passengers"),
  arrow("flights_clean.flight_id", "model_scores.flight_id", "TRANSFORMATION", "score", "o", "mapInPandas(score)"),
  arrow("flights_clean.distance_km", "model_scores.delay_risk", "TRANSFORMATION", "score", "o", "mapInPandas(score)"),
  arrow("flights_clean.departed_on", "model_scores.delay_risk", "TRANSFORMATION", "score", "o", "mapInPandas(score)"),
  arrow("flights_clean.carrier_name", "carrier_day.carrier_name", "IDENTITY", "gold"),
  arrow("flights_clean.departed_on", "carrier_day.day", "IDENTITY", "gold"),
  arrow("flights_clean.flight_id", "carrier_day.flights", "AGGREGATION", "gold", "m", "count(flight_id)"),
  arrow("flights_clean.distance_km", "carrier_day.km", "AGGREGATION", "gold", "", "sum(distance_km)"),
  arrow("flights_clean.carrier_name", "carrier_day", "GROUP_BY", "gold"),
  arrow("flights_clean.departed_on", "carrier_day", "GROUP_BY", "gold"),
  arrow("passengers.age", "carrier_day.mean_age", "AGGREGATION", "gold", "", "avg(age)"),
  arrow("passengers.email_hash", "carrier_day", "JOIN", "gold"),
  arrow("model_scores.delay_risk", "carrier_day.delay_risk", "AGGREGATION", "gold", "s", "max(delay_risk)"),
  arrow("carrier_day.delay_risk", "model_scores.delay_risk", "TRANSFORMATION", "feedback", "", "0.9 * delay_risk"),
  arrow("carrier_day.carrier_name", "report.carrier_name", "IDENTITY", "report", "g"),
  arrow("carrier_day.day", "report.month", "TRANSFORMATION", "report", "", "trunc(day, 'MM')"),
  arrow("carrier_day.km", "report.km", "AGGREGATION", "report", "", "sum(km)"),
  arrow("carrier_day.km", "report.rank", "WINDOW", "report", "", "rank() OVER (ORDER BY km)"),
  ...Array.from({ length: 300 }, (_, place) =>
    arrow("carrier_day.km", `wide.feature_${place}`, "TRANSFORMATION", "features"),
  ),
];

/** Return the view of the pictures, about the kilometres of a carrier's day. */
export function pictureView(): View {
  const datasets = Object.keys(FIELDS);
  const columns = datasets.flatMap((dataset, place) => FIELDS[dataset].map((field) => ({ place, field })));
  const datasetOf = (name: string) => datasets.findIndex((one) => one.endsWith(`/${name}`) || one.endsWith(`|${name}`));
  const columnOf = (name: string) => {
    const at = columns.findIndex(({ place, field }) => name === `${shortName(datasets[place])}.${field}`);
    return at >= 0 ? at : -1 - datasetOf(name);
  };
  const kinds = [...new Set(ARROWS.map(({ subtype, flags, text }) => JSON.stringify({ subtype, flags, text })))];
  const parsed = kinds.map((kind) => JSON.parse(kind) as Arrow);
  const jobs = [...new Set(ARROWS.map(({ job }) => job))];
  const texts = [...new Set(ARROWS.flatMap(({ text }) => (text ? [text] : [])))];
  const direct = ["IDENTITY", "TRANSFORMATION", "AGGREGATION"];
  return readView({
    focus: { dataset: datasetOf("gold/carrier_day"), column: columnOf("carrier_day.km") },
    asOf: null,
    depth: { up: null, down: null },
    datasets: {
      id: datasets.map((_, place) => place),
      namespace: datasets.map((name) => name.split("|")[0]),
      name: datasets.map((name) => name.split("|")[1]),
      width: datasets.map((name) => FIELDS[name].length),
    },
    columns: {
      id: columns.map((_, place) => place),
      dataset: columns.map(({ place }) => place),
      field: columns.map(({ field }) => field),
      dataType: columns.map((_, place) => (place % 3 ? "string" : "decimal(18,4)")),
      up: columns.map(() => null),
      down: columns.map(() => null),
      moreUp: columns.map(({ field }) => (field === "country" ? 1 : 0)),
      moreDown: columns.map(({ field }) => (field === "rank" ? 1 : 0)),
    },
    transformations: {
      type: parsed.map(({ subtype }) => (direct.includes(subtype) ? "DIRECT" : "INDIRECT")),
      subtype: parsed.map(({ subtype }) => subtype),
      masking: parsed.map(({ flags }) => flags === "m"),
      opaque: parsed.map(({ flags }) => flags === "o"),
      guess: parsed.map(({ flags }) => flags === "g"),
      description: parsed.map(({ text }) => texts.indexOf(text ?? "")),
    },
    descriptions: texts,
    jobs: { id: jobs.map((_, place) => place), namespace: jobs.map(() => "spark"), name: jobs },
    stale: { since: ["2026-11-20T03:00:00Z"], run: ["run"], job: [jobs.indexOf("score")] },
    edges: {
      input: ARROWS.map(({ from }) => columnOf(from)),
      output: ARROWS.map(({ to }) => columnOf(to)),
      transformation: ARROWS.map(({ subtype, flags, text }) => kinds.indexOf(JSON.stringify({ subtype, flags, text }))),
      job: ARROWS.map(({ job }) => jobs.indexOf(job)),
      stale: ARROWS.map(({ flags }) => (flags === "s" ? 0 : -1)),
    },
    truncated: [],
  });
}

function shortName(dataset: string): string {
  return dataset.split("|")[1].split("/").at(-1) as string;
}
