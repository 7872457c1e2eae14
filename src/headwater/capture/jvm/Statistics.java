package headwater;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import com.fasterxml.jackson.core.JsonGenerator;
import org.apache.spark.executor.OutputMetrics;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.QueryExecution;

/**
 * How many rows, bytes and files an execution read and wrote: the metrics of its physical plan, which Spark counts anyway.
 *
 * Writes that have none there (JDBC, Delta) are counted by the stages that ran for the execution; a task that ran
 * twice counts twice in those.
 */
public class Statistics {
  private static final String ROOT = "spark.sql.execution.root.id";
  private static final String OWN = "spark.sql.execution.id";
  private static final int MOST_PLANS = 50;
  private static final int MOST_PATHS = 100;
  private static final int MOST_SCANS = 500;

  /** By stage that has not ended: the root execution that it runs for. */
  private final Map stages = new ConcurrentHashMap();
  /** By root execution: the rows and bytes that its stages wrote. */
  private final Map written = new ConcurrentHashMap();
  /** By root execution: the executions inside it that have ended. */
  private final Map inner = new ConcurrentHashMap();

  /** Events that posted() counts by. */
  public static boolean concerns(SparkListenerEvent event) {
    return event instanceof SparkListenerJobStart || event instanceof SparkListenerStageCompleted;
  }

  /** Looks at an event on the thread that posts it; never fails. */
  public void posted(SparkListenerEvent event) {
    try {
      if (event instanceof SparkListenerJobStart) onJob((SparkListenerJobStart) event);
      else if (event instanceof SparkListenerStageCompleted) onStage(((SparkListenerStageCompleted) event).stageInfo());
    } catch (Throwable never) { }
  }

  private void onJob(SparkListenerJobStart event) {
    if (event.properties() == null) return;
    String root = event.properties().getProperty(ROOT, event.properties().getProperty(OWN));
    if (root == null) return;
    scala.collection.Iterator i = event.stageInfos().iterator();
    while (i.hasNext()) stages.put(Integer.valueOf(((StageInfo) i.next()).stageId()), Long.valueOf(root));
  }

  private void onStage(StageInfo stage) {
    Object root = stages.get(Integer.valueOf(stage.stageId()));
    if (root == null || stage.taskMetrics() == null) return;
    OutputMetrics output = stage.taskMetrics().outputMetrics();
    if (output.recordsWritten() == 0 && output.bytesWritten() == 0) return;
    synchronized (written) {
      long[] sum = (long[]) written.get(root);
      if (sum == null) { sum = new long[2]; written.put(root, sum); }
      sum[0] += output.recordsWritten();
      sum[1] += output.bytesWritten();
    }
  }

  /** An execution inside another has ended: Delta plans its reads and writes in such. */
  public void ended(Long root, QueryExecution execution) {
    if (execution == null) return;
    synchronized (inner) {
      List plans = (List) inner.get(root);
      if (plans == null) { plans = new ArrayList(); inner.put(root, plans); }
      if (plans.size() < MOST_PLANS) plans.add(execution);
    }
  }

  /** What was counted for a root execution, which is forgotten: {the executions inside it, rows and bytes}. */
  public Object[] take(Long root) {
    stages.values().removeAll(Collections.singleton(root));
    return new Object[] {inner.remove(root), written.remove(root)};
  }

  public void clear() { stages.clear(); written.clear(); inner.clear(); }

  /** Writes "written" and "scans" of an execution that has ended; what cannot be read is left out. */
  public static void write(JsonGenerator out, QueryExecution execution, Object[] counted) throws IOException {
    Statistics.Found found = new Statistics.Found();
    try {
      found.visit(execution.executedPlan());
      List within = (List) counted[0];
      for (int i = 0; within != null && i < within.size(); i++) found.visit(((QueryExecution) within.get(i)).executedPlan());
    } catch (Throwable unplanned) { }
    long[] stages = (long[]) counted[1];
    long[] sum = found.written != null ? found.written : stages != null ? new long[] {stages[0], stages[1], -1L} : null;
    if (sum != null) { out.writeFieldName("written"); writeCounts(out, sum); }
    if (found.scans.isEmpty()) return;
    out.writeArrayFieldStart("scans");
    for (int i = 0; i < found.scans.size(); i++) writeScan(out, (Object[]) found.scans.get(i));
    out.writeEndArray();
  }

  private static void writeCounts(JsonGenerator out, long[] counts) throws IOException {
    out.writeStartArray();
    for (int i = 0; i < 3; i++) if (counts[i] < 0) out.writeNull(); else out.writeNumber(counts[i]);
    out.writeEndArray();
  }

  private static void writeScan(JsonGenerator out, Object[] scan) throws IOException {
    out.writeStartObject();
    out.writeArrayFieldStart("paths");
    List paths = (List) scan[0];
    for (int i = 0; i < paths.size() && i < MOST_PATHS; i++) out.writeString(Secrets.place((String) paths.get(i)));
    out.writeEndArray();
    out.writeFieldName("counts");
    writeCounts(out, (long[]) scan[1]);
    if (scan[2] != null) { out.writeFieldName("report"); out.writeRawValue((String) scan[2]); }
    out.writeEndObject();
  }

  /** The scans and the write of physical plans. */
  private static class Found {
    final List scans = new ArrayList();
    long[] written = null;

    void visit(Object root) {
      ArrayDeque open = new ArrayDeque();
      open.push(root);
      while (!open.isEmpty()) {
        Object node = open.pop();
        String name = Reflection.simpleName(node);
        if (name.endsWith("InMemoryTableScanExec") || name.endsWith("TableCacheQueryStageExec") || name.startsWith("exchange.Reused")) continue;
        Object within = name.endsWith("AdaptiveSparkPlanExec") ? Reflection.call(node, "executedPlan") : name.endsWith("QueryStageExec") ? Reflection.call(node, "plan") : name.endsWith("CommandResultExec") ? Reflection.call(node, "commandPhysicalPlan") : null;
        if (within != null) { open.push(within); continue; }
        if (!(node instanceof TreeNode)) continue;
        count(node, name);
        push(((TreeNode) node).children(), open);
        push(Reflection.call(node, "subqueries"), open);
      }
    }

    private static void push(Object plans, ArrayDeque open) {
      if (!(plans instanceof scala.collection.Iterable)) return;
      scala.collection.Iterator i = ((scala.collection.Iterable) plans).iterator();
      while (i.hasNext()) open.push(i.next());
    }

    private void count(Object node, String name) {
      if (name.endsWith("DataWritingCommandExec") || name.endsWith("ExecutedCommandExec")) { add(Statistics.metrics(node, "numOutputRows", "numOutputBytes", "numFiles")); return; }
      Object progress = Reflection.unwrap(Reflection.call(node, "commitProgress"));
      if (progress != null) { add(new long[] {((Long) Reflection.call(progress, "numOutputRows")).longValue(), -1L, -1L}); return; }
      if (scans.size() >= MOST_SCANS) return;
      List paths = Statistics.paths(node, name);
      if (paths == null) return;
      scans.add(new Object[] {paths, Statistics.metrics(node, "numOutputRows", "filesSize", "numFiles"), IcebergReports.scan(Reflection.call(node, "scan"))});
    }

    private void add(long[] counts) {
      if (counts[0] < 0) return;
      if (written == null) { written = counts; return; }
      for (int i = 0; i < 3; i++) written[i] = written[i] < 0 || counts[i] < 0 ? -1 : written[i] + counts[i];
    }
  }

  /** The values of metrics of a physical operator, -1 of one that it has not. */
  private static long[] metrics(Object node, String rows, String bytes, String files) {
    Object metrics = Reflection.call(node, "metrics");
    return new long[] {metric(metrics, rows), metric(metrics, bytes), metric(metrics, files)};
  }

  private static long metric(Object metrics, String name) {
    Object metric = metrics instanceof scala.collection.Map ? Reflection.unwrap(((scala.collection.Map) metrics).get(name)) : null;
    Object value = Reflection.call(metric, "value");
    return value instanceof Long ? ((Long) value).longValue() : -1L;
  }

  /** Where a scan reads, empty of one that reads no files; null of operators that are no scan. */
  private static List paths(Object node, String name) {
    List found = new ArrayList();
    if (name.endsWith("FileSourceScanExec")) add(found, Reflection.call(Reflection.call(Reflection.call(node, "relation"), "location"), "rootPaths"));
    else if (name.endsWith("HiveTableScanExec")) found.add(String.valueOf(Reflection.call(Reflection.call(Reflection.call(node, "relation"), "tableMeta"), "location")));
    else if (name.endsWith("BatchScanExec")) {
      Object table = Reflection.call(node, "table");
      Object iceberg = Reflection.call(table, "table");
      if (Reflection.has(iceberg, "location")) found.add(String.valueOf(Reflection.call(iceberg, "location")));
      else add(found, Reflection.call(Reflection.call(table, "fileIndex"), "rootPaths"));
    } else if (!name.endsWith("RowDataSourceScanExec")) return null;
    return found;
  }

  private static void add(List found, Object paths) {
    if (!(paths instanceof scala.collection.Iterable)) return;
    scala.collection.Iterator i = ((scala.collection.Iterable) paths).iterator();
    while (i.hasNext()) found.add(String.valueOf(i.next()));
  }
}
