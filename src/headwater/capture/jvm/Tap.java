package headwater;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;

/**
 * Keeps the root SQL executions of an application until Python asks for them.
 *
 * The listener only notes an execution; its plan is read when poll() is called, on the thread that calls.
 */
public class Tap extends SparkListener {
  /** A reply above 8 KB costs py4j 44 ms unless it is packed. */
  private static final int LARGEST_PLAIN = 7000;

  private final Set roots = Collections.synchronizedSet(new HashSet());
  private final Set planned = Collections.synchronizedSet(new HashSet());
  private final AtomicLong dropped = new AtomicLong();
  private LinkedBlockingQueue queue = new LinkedBlockingQueue(1);
  private boolean reads = false;
  private int mostNodes = 0;
  private long milliseconds = 0;
  private int longestSql = 0;

  /** Called once, before the tap is put on the listener bus. */
  public void configure(int capacity, boolean reads, int mostNodes, long milliseconds, int longestSql) {
    this.queue = new LinkedBlockingQueue(capacity);
    this.reads = reads;
    this.mostNodes = mostNodes;
    this.milliseconds = milliseconds;
    this.longestSql = longestSql;
  }

  public void onOtherEvent(SparkListenerEvent event) {
    try {
      if (event instanceof SparkListenerSQLExecutionStart) onStart((SparkListenerSQLExecutionStart) event);
      else if (event instanceof SparkListenerSQLExecutionEnd) onEnd((SparkListenerSQLExecutionEnd) event);
    } catch (Throwable never) { dropped.incrementAndGet(); }
  }

  private void onStart(SparkListenerSQLExecutionStart event) {
    Object root = Reflection.call(event, "rootExecutionId");
    if (root instanceof scala.Option && ((scala.Option) root).isDefined() && !((scala.Option) root).get().equals(Long.valueOf(event.executionId()))) return;
    Long id = Long.valueOf(event.executionId());
    roots.add(id);
    QueryExecution execution = SQLExecution.getQueryExecution(event.executionId());
    if (execution != null && isInteresting(execution)) offer(new Object[] {"start", id, Long.valueOf(event.time()), execution, event.description(), null});
  }

  private void onEnd(SparkListenerSQLExecutionEnd event) {
    Long id = Long.valueOf(event.executionId());
    if (!roots.remove(id)) return;
    QueryExecution execution = event.qe();
    if (execution == null || !isInteresting(execution)) return;
    Object failure = Reflection.call(event, "executionFailure");
    offer(new Object[] {"end", id, Long.valueOf(event.time()), execution, null, failure instanceof scala.Option && ((scala.Option) failure).isDefined() ? ((scala.Option) failure).get() : null});
  }

  /** A query that only reads is left alone unless asked for; logical() never fails, analyzed() may. */
  private boolean isInteresting(QueryExecution execution) {
    if (reads) return true;
    LogicalPlan plan = execution.logical();
    String name = Reflection.simpleName(plan);
    if (name.equals("CommandResult")) return false;
    if (plan instanceof org.apache.spark.sql.catalyst.plans.logical.Command) return true;
    return name.startsWith("Write") || name.startsWith("Insert") || name.equals("Union") || name.equals("WithCTE") || name.startsWith("Unresolved") || name.startsWith("Create") || name.startsWith("Replace");
  }

  private void offer(Object[] row) {
    if (!queue.offer(row)) dropped.incrementAndGet();
  }

  public long dropped() { return dropped.getAndSet(0); }

  public long pending() { return queue.size(); }

  public void close() { queue.clear(); roots.clear(); }

  /** Up to 50 rows as JSON lines, or null after the wait; large replies are deflated, in base64, after a "~". */
  public String poll(long wait) throws Exception {
    Object first = queue.poll(wait, TimeUnit.MILLISECONDS);
    if (first == null) return null;
    List rows = new ArrayList();
    rows.add(first);
    queue.drainTo(rows, 49);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < rows.size(); i++) {
      Object[] row = (Object[]) rows.get(i);
      if (i > 0) text.append('\n');
      text.append(line(row));
    }
    return pack(text.toString());
  }

  private String line(Object[] row) throws IOException {
    StringWriter text = new StringWriter();
    JsonGenerator out = new JsonFactory().createGenerator(text);
    out.writeStartObject();
    out.writeStringField("kind", (String) row[0]);
    out.writeNumberField("id", ((Long) row[1]).longValue());
    out.writeNumberField("time", ((Long) row[2]).longValue());
    if (row[4] != null) out.writeStringField("description", Secrets.text((String) row[4]));
    if (row[5] != null) writeFailure(out, row[5]);
    if (needsPlan(row)) writePlan(out, (QueryExecution) row[3]);
    out.writeEndObject();
    out.close();
    return text.toString();
  }

  /** The plan goes with START; with END only when START had none. */
  private boolean needsPlan(Object[] row) {
    if (row[0].equals("start")) { planned.add(row[1]); return true; }
    return !planned.remove(row[1]);
  }

  private void writePlan(JsonGenerator out, QueryExecution execution) throws IOException {
    try {
      String plan = PlanWriter.write(execution, execution.analyzed(), mostNodes, milliseconds, longestSql);
      out.writeFieldName("plan");
      out.writeRawValue(plan);
    } catch (Throwable failed) { out.writeStringField("unreadable", String.valueOf(failed)); }
  }

  private static void writeFailure(JsonGenerator out, Object failure) throws IOException {
    Throwable root = failure instanceof Throwable ? (Throwable) failure : null;
    out.writeStringField("failure", Secrets.text(root == null || root.getMessage() == null ? String.valueOf(failure) : root.getMessage()));
    if (root == null) return;
    java.io.StringWriter trace = new java.io.StringWriter();
    root.printStackTrace(new java.io.PrintWriter(trace));
    String text = Secrets.text(trace.toString());
    out.writeStringField("trace", text.length() > 8000 ? text.substring(0, 8000) : text);
  }

  /** The plan of a DataFrame that need not run, packed like a reply of poll(). */
  public String read(Object dataFrame) throws Exception {
    QueryExecution execution = (QueryExecution) Reflection.call(dataFrame, "queryExecution");
    return pack(PlanWriter.write(execution, execution.analyzed(), mostNodes, milliseconds, longestSql));
  }

  private static String pack(String text) throws Exception {
    if (text.length() < LARGEST_PLAIN) return text;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DeflaterOutputStream deflated = new DeflaterOutputStream(bytes, new Deflater(Deflater.BEST_SPEED));
    deflated.write(text.getBytes(StandardCharsets.UTF_8));
    deflated.close();
    return "~" + Base64.getEncoder().encodeToString(bytes.toByteArray());
  }
}
