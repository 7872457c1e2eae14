-- The work of `headwater archive`, for the events of bench/archive/shapes.py; each step begins with its name.

-- lines
CREATE TABLE line AS SELECT md5(json::VARCHAR) AS digest, json FROM read_ndjson_objects(
  '$source/*.ndjson.*', ignore_errors=true, maximum_object_size=67108864) WHERE json IS NOT NULL AND json_valid(json);
CREATE TABLE once AS SELECT min(rowid) AS row FROM line GROUP BY digest;
CREATE TABLE event AS SELECT digest, epoch_us(e.eventTime) AS at, e.eventType AS state, e.run.runId AS run,
  e.job.namespace AS job_namespace, e.job.name AS job_name, e.run.facets.parent.run.runId AS parent_run,
  e.outputs AS outputs FROM (SELECT digest, from_json(json, '{
  "eventType": "VARCHAR", "eventTime": "TIMESTAMPTZ",
  "run": {"runId": "VARCHAR", "facets": {"parent": {"run": {"runId": "VARCHAR"}}}},
  "job": {"namespace": "VARCHAR", "name": "VARCHAR"},
  "outputs": [{"namespace": "VARCHAR", "name": "VARCHAR", "facets": {
    "columnLineage": "JSON",
    "symlinks": {"identifiers": [{"namespace": "VARCHAR", "name": "VARCHAR"}]},
    "headwater_names": {"names": [{"previous": {"namespace": "VARCHAR", "name": "VARCHAR"},
                                   "current": {"namespace": "VARCHAR", "name": "VARCHAR"}}]}}}]
}') AS e FROM line WHERE rowid IN (FROM once));
CREATE TABLE output AS SELECT digest, at, run, o.namespace, o.name, o.facets.columnLineage::VARCHAR AS lineage,
  md5(concat_ws(chr(0), o.namespace, o.name, o.facets.columnLineage)) AS shape,
  o.facets.symlinks.identifiers AS links, o.facets.headwater_names.names AS renames
  FROM (SELECT digest, at, run, unnest(outputs) AS o FROM event);
ALTER TABLE event DROP COLUMN outputs;

-- events
COPY (SELECT digest, make_timestamp(at) AS at, state, run, job_namespace, job_name, json AS payload
  FROM event JOIN (SELECT * FROM line WHERE rowid IN (FROM once)) USING (digest) ORDER BY at, digest)
  TO '$into/events.parquet' (COMPRESSION zstd);
DROP TABLE line;

-- runs
CREATE TABLE run AS SELECT * FROM (
  SELECT DISTINCT ON (run) run, job_namespace, job_name, state, at AS state_at FROM event
  ORDER BY state IN ('COMPLETE', 'FAIL', 'ABORT') DESC, at DESC, state DESC, job_namespace DESC, job_name DESC)
  JOIN (SELECT run, min(at) FILTER (state = 'START') AS started_at, min(parent_run) AS parent_run
    FROM event GROUP BY run) USING (run);
COPY (SELECT * FROM run ORDER BY job_namespace, job_name, state_at) TO '$into/runs.parquet' (COMPRESSION zstd);

-- lineage
CREATE TABLE shape AS SELECT shape, any_value(namespace) AS namespace, any_value(name) AS name,
  any_value(lineage) AS lineage FROM output
  WHERE lineage IS NOT NULL GROUP BY shape;
CREATE TABLE change AS SELECT at, n.previous AS previous, n.current AS present
  FROM (SELECT at, unnest(renames) AS n FROM output);
CREATE TABLE link AS SELECT DISTINCT s.namespace, s.name, to_namespace, to_name
  FROM (SELECT namespace AS to_namespace, name AS to_name, unnest(links) AS s FROM output);
CREATE TABLE meaning AS SELECT previous.namespace AS m_namespace, previous.name AS m_name, at AS until,
  present.namespace AS p_namespace, present.name AS p_name FROM change
  UNION ALL SELECT namespace, name, $forever, to_namespace, to_name FROM link;
CREATE TABLE edge AS
  WITH parsed AS (SELECT shape, from_json(lineage, '{"fields": "MAP(VARCHAR, STRUCT(inputFields STRUCT(namespace VARCHAR, name VARCHAR, field VARCHAR, transformations STRUCT(subtype VARCHAR, masking BOOLEAN)[])[]))",
    "dataset": "STRUCT(namespace VARCHAR, name VARCHAR, field VARCHAR, transformations STRUCT(subtype VARCHAR, masking BOOLEAN)[])[]"}') AS l FROM shape),
  input AS (SELECT shape, f.key AS field, unnest(f.value.inputFields) AS i FROM (
      SELECT shape, unnest(map_entries(l.fields)) AS f FROM parsed)
    UNION ALL SELECT shape, NULL, unnest(l.dataset) FROM parsed)
  SELECT shape, field, i.namespace AS namespace, i.name AS name, i.field AS input_field, unnest(i.transformations) AS transformation
  FROM input;
CREATE TABLE cut AS SELECT DISTINCT shape, at AS cut FROM (
  SELECT DISTINCT shape, namespace, name FROM edge UNION SELECT shape, namespace, name FROM shape) AS n
  JOIN change c ON (n.namespace, n.name) IN ((c.previous.namespace, c.previous.name),
                                             (c.present.namespace, c.present.name));
CREATE TABLE telling AS
  WITH counted AS (SELECT t.digest, t.at, t.run, t.shape, r.job_namespace, r.job_name, r.state_at AS since,
      coalesce(m.p_namespace, t.namespace) AS namespace, coalesce(m.p_name, t.name) AS name,
      coalesce((SELECT max(cut) FROM cut c WHERE c.shape = t.shape AND c.cut <= t.at), 0) AS epoch
    FROM output t JOIN run r USING (run)
    LEFT JOIN meaning m ON m.m_namespace = t.namespace AND m.m_name = t.name AND t.at < m.until
    WHERE r.state = 'COMPLETE' AND t.lineage IS NOT NULL),
  of_event AS (SELECT run, job_namespace, job_name, namespace, name, at, digest, min(since) AS since,
      list_sort(list(DISTINCT {'shape': shape, 'epoch': epoch})) AS shapes FROM counted GROUP BY ALL)
  SELECT run, job_namespace, job_name, namespace, name, max({'at': at, 'digest': digest, 'shapes': shapes}).shapes AS shapes,
    min(since) AS since FROM of_event GROUP BY run, job_namespace, job_name, namespace, name;

-- spans
CREATE TABLE span AS
  WITH marked AS (SELECT *, shapes IS NOT DISTINCT FROM lag(shapes) OVER w AS same FROM telling
      WINDOW w AS (PARTITION BY job_namespace, job_name, namespace, name ORDER BY since, run)),
  turned AS (SELECT *, sum(CASE WHEN same THEN 0 ELSE 1 END) OVER (
      PARTITION BY job_namespace, job_name, namespace, name ORDER BY since, run) AS turn FROM marked),
  folded AS (SELECT job_namespace, job_name, namespace, name, turn, any_value(shapes) AS shapes, count(*) AS runs,
      min({'since': since, 'run': run}).run AS first_run,
      max({'since': since, 'run': run}).run AS last_run, min(since) AS since FROM turned
      GROUP BY job_namespace, job_name, namespace, name, turn),
  ended AS (SELECT *, lead(since) OVER (PARTITION BY job_namespace, job_name, namespace, name ORDER BY turn) AS until
      FROM folded)
  SELECT * FROM ended WHERE until IS NULL OR since < until;

-- column_edges
CREATE TABLE placed AS
  WITH one AS (SELECT * EXCLUDE (shapes), unnest(shapes) AS one FROM span)
  SELECT s.job_namespace, s.job_name, s.namespace, s.name, e.field,
    coalesce(m.p_namespace, e.namespace) AS input_namespace,
    coalesce(m.p_name, e.name) AS input_name, e.input_field, e.transformation.subtype AS subtype, e.transformation.masking AS masking,
    s.since, coalesce(s.until, $forever) AS until, s.runs, s.first_run, s.last_run
  FROM one s JOIN edge e ON e.shape = s.one.shape
  LEFT JOIN meaning m ON m.m_namespace = e.namespace AND m.m_name = e.name AND s.one.epoch < m.until;
CREATE VIEW joined AS
  WITH apart AS (SELECT DISTINCT ON (job_namespace, job_name, namespace, name, field,
      input_namespace, input_name, input_field, subtype, masking, since) * FROM placed),
  reached AS (SELECT *, max(until) OVER (PARTITION BY job_namespace, job_name, namespace, name, field,
      input_namespace, input_name, input_field, subtype, masking
      ORDER BY since ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM apart),
  islands AS (SELECT *, sum(CASE WHEN since <= before THEN 0 ELSE 1 END) OVER (PARTITION BY job_namespace, job_name, namespace, name, field,
      input_namespace, input_name, input_field, subtype, masking
      ORDER BY since) AS island FROM reached)
  SELECT job_namespace, job_name, namespace, name, field,
      input_namespace, input_name, input_field, subtype, masking,
    make_timestamp(min(since)) AS valid_from,
    CASE WHEN max(until) < $forever THEN make_timestamp(max(until)) END AS valid_to, sum(runs)::BIGINT AS runs,
    arg_min(first_run, since) AS first_run, arg_max(last_run, since) AS last_run
  FROM islands GROUP BY job_namespace, job_name, namespace, name, field,
      input_namespace, input_name, input_field, subtype, masking, island;
COPY (SELECT * FROM joined WHERE field IS NOT NULL ORDER BY namespace, name, field, valid_from)
  TO '$into/column_edges.parquet' (COMPRESSION zstd);

-- dataset_edges
COPY (SELECT * FROM joined WHERE field IS NULL ORDER BY namespace, name, field, valid_from)
  TO '$into/dataset_edges.parquet' (COMPRESSION zstd);
