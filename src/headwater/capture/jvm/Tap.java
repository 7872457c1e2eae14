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
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.AsyncEventQueue;
import org.apache.spark.scheduler.LiveListenerBus;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;
import org.apache.spark.sql.streaming.StreamingQueryListener;

/**
 * Keeps the root SQL executions of an application, and its streaming queries, until Python asks for them.
 *
 * A query is told of by its start, its end, its first batch, and the writes that the user makes inside a batch; other
 * batches leave no trace.
 *
 * The listener only notes an execution; its plan is read when poll() is called, on the thread that calls.
 */
public class Tap extends SparkListener {
  /** A py4j reply above 8 KB takes 44 ms, waiting for an acknowledgement: several below it are faster, up to a point. */
  private static final int PIECE = 7000;
  private static final int MOST_PIECES = 40;

  private static final Object[] WAKE = new Object[0];
  private static final Long NONE = Long.valueOf(-1);

  private final Streams streams = new Streams();
  private final Statistics statistics = new Statistics();
  private final LastWords lastWords = new LastWords();
  /** By execution inside another: the root, of those that are told of. */
  private final Map nested = new ConcurrentHashMap();
  private final Set roots = Collections.synchronizedSet(new HashSet());
  /** Those whose start is queued, or was: their end is never dropped, so that no run stays open for want of room. */
  private final Set started = Collections.synchronizedSet(new HashSet());
  /** By execution that had ended before this listener got to its start: the start. */
  private final Map missed = new ConcurrentHashMap();
  private final AtomicLong dropped = new AtomicLong();
  private final LinkedBlockingQueue queue = new LinkedBlockingQueue();
  private final Map replies = new ConcurrentHashMap();
  private final AtomicLong lastReply = new AtomicLong();
  /** Ids of what is no execution, below those that Spark gives. */
  private final AtomicLong lastCall = new AtomicLong(-1);
  private final RddActions actions = new RddActions(queue, dropped, lastCall);
  private int capacity = 1;
  private boolean reads = false;
  private Limits limits = null;
  /** The queue of the listener bus that brings this tap its events; null before connect(). */
  private AsyncEventQueue own = null;

  /** Called once, before the tap is put on the listener bus. */
  public void configure(int capacity, boolean reads, int nodes, long milliseconds, int sql, long answer) {
    this.capacity = capacity;
    this.reads = reads;
    this.limits = new Limits(nodes, milliseconds, sql, answer);
    actions.configure(capacity, reads);
  }

  public void onOtherEvent(SparkListenerEvent event) {
    try {
      if (event instanceof SparkListenerSQLExecutionStart) onStart((SparkListenerSQLExecutionStart) event);
      else if (event instanceof SparkListenerSQLExecutionEnd) onEnd((SparkListenerSQLExecutionEnd) event);
      else if (event instanceof StreamingQueryListener.QueryStartedEvent) onQueryStart((StreamingQueryListener.QueryStartedEvent) event);
      else if (event instanceof StreamingQueryListener.QueryTerminatedEvent) onQueryEnd((StreamingQueryListener.QueryTerminatedEvent) event);
    } catch (Throwable never) { dropped.incrementAndGet(); }
  }

  private void onStart(SparkListenerSQLExecutionStart event) {
    Long id = Long.valueOf(event.executionId());
    String stream = streams.writer(id);
    String batch = streams.batchOf(id);
    if (batch != null) { onQueryFound(batch); if (Streams.isEndless(SQLExecution.getQueryExecution(event.executionId()))) wrote(batch); return; }
    if (stream == null && !id.equals(Streams.root(event))) { if (started.contains(Streams.root(event))) nested.put(id, Streams.root(event)); return; }
    if (Before.isDone(id)) { streams.left(id); return; }
    roots.add(id);
    QueryExecution execution = SQLExecution.getQueryExecution(event.executionId());
    if (execution == null) { if (mayBeOfScript(event)) missed.put(id, event); return; }
    Leaving.watch(execution.sparkSession());
    if (Altered.isMade(execution.logical())) return;
    offerQuery(id, event, execution);
    if (isInteresting(execution) && offer(new Object[] {"start", id, Long.valueOf(event.time()), readable(id, execution), event.description(), null, null, PlanWriter.place(execution), stream, Boolean.valueOf(Before.isNew(id))})) started.add(id);
  }

  private void offerQuery(Long id, SparkListenerSQLExecutionStart event, QueryExecution execution) {
    if (isOfScript(event, execution)) offer(new Object[] {"query", id, Long.valueOf(event.time()), execution, null, null, null, PlanWriter.place(execution), null});
  }

  /** The execution, to be read when it is polled; its plan already, where by then the catalog has forgotten its table. */
  private Object readable(Long id, QueryExecution execution) {
    try {
      LogicalPlan plan = Reflection.analyzed(execution);
      if (!Altered.isEnded(plan) && Before.dropped(id) == null) return execution;
      Leaving.read(id);
      return PlanWriter.write(execution, plan, PlanWriter.place(execution), limits);
    } catch (Throwable wrong) { return execution; }
    finally { Leaving.read(null); }
  }

  private void onEnd(SparkListenerSQLExecutionEnd event) {
    Long id = Long.valueOf(event.executionId());
    Object root = nested.remove(id);
    if (root != null) statistics.ended((Long) root, event.qe());
    Object[] counted = statistics.take(id);
    try { end(id, event, counted); } finally { Leaving.forget(id); Before.forget(id); }
  }

  private void end(Long id, SparkListenerSQLExecutionEnd event, Object[] counted) {
    Object failure = Reflection.unwrap(Reflection.call(event, "executionFailure"));
    String batch = streams.batchEnded(id, failure != null);
    if (batch != null) queue.add(new Object[] {"batch", id, Long.valueOf(event.time()), null, null, null, null, null, batch});
    SparkListenerSQLExecutionStart start = (SparkListenerSQLExecutionStart) missed.remove(id);
    if (start != null && event.qe() != null) offerQuery(id, start, event.qe());
    if (!roots.remove(id)) return;
    String stream = streams.writer(id);
    streams.left(id);
    QueryExecution execution = event.qe();
    if (started.remove(id)) { streams.wrote(stream); queue.add(new Object[] {"end", id, Long.valueOf(event.time()), null, null, failure, written(execution, failure), null, stream, counted, execution}); return; }
    if (execution == null || !isInteresting(execution)) return;
    streams.wrote(stream);
    if (!offer(new Object[] {"end", id, Long.valueOf(event.time()), readable(id, execution), null, failure, written(execution, failure), PlanWriter.place(execution), stream, counted, execution})) dropped.incrementAndGet();
  }

  private void onQueryStart(StreamingQueryListener.QueryStartedEvent event) {
    String run = event.runId().toString();
    begin(run, event.id().toString(), streams.takeQuery(run));
  }

  /** A query that ran before this tap listened. */
  private void onQueryFound(String run) {
    Object query = streams.takeQuery(run);
    if (query == null) return;
    begin(run, String.valueOf(Reflection.call(query, "id")), query);
    if (Streams.hasWritten(query)) wrote(run);
  }

  private void begin(String run, String id, Object query) {
    queue.add(new Object[] {"stream", NONE, Long.valueOf(System.currentTimeMillis()), query, id, null, null, null, run});
  }

  private void wrote(String run) {
    queue.add(new Object[] {"batch", NONE, Long.valueOf(System.currentTimeMillis()), null, null, null, null, null, run});
  }

  private void onQueryEnd(StreamingQueryListener.QueryTerminatedEvent event) {
    String run = event.runId().toString();
    streams.forget(run);
    queue.add(new Object[] {"stopped", NONE, Long.valueOf(System.currentTimeMillis()), null, null, Reflection.unwrap(event.exception()), null, null, run});
  }

  /** The version that was written, {version, the one before}; or what to ask for it on another thread. */
  private static Object written(QueryExecution execution, Object failure) {
    if (execution == null || failure != null) return null;
    try {
      LogicalPlan command = execution.analyzed();
      String name = Reflection.simpleName(command);
      return name.endsWith("TableAsSelect") || name.equals("SaveIntoDataSourceCommand") || name.equals("CreateDeltaTableCommand") ? (Object) execution : Tables.written(command);
    } catch (Throwable unreadable) { return null; }
  }

  /** A query that only reads is left alone unless asked for; logical() never fails, analyzed() may. */
  private boolean isInteresting(QueryExecution execution) {
    if (Streams.isBatch(execution)) return false;
    if (reads) return true;
    try { return writes(Reflection.analyzed(execution)); } catch (Throwable wrong) { return writes(execution.logical()) || Reflection.simpleName(execution.logical()).startsWith("Insert"); }
  }

  /** A query that ``sql`` itself runs is one of a SQL script: a FOR assigns its rows to variables. */
  private static boolean isOfScript(SparkListenerSQLExecutionStart event, QueryExecution execution) {
    if (!mayBeOfScript(event)) return false;
    try { return !writes(Reflection.analyzed(execution)) && !Reflection.simpleName(execution.analyzed()).equals("CommandResult"); } catch (Throwable wrong) { return false; }
  }

  private static boolean mayBeOfScript(SparkListenerSQLExecutionStart event) {
    return String.valueOf(event.description()).startsWith("sql at ") || String.valueOf(event.details()).contains("SparkSession.sql(");
  }

  /** A command, a write of a stream's batch, or several of them (FROM … INSERT … INSERT) with their CTEs. */
  private static boolean writes(LogicalPlan plan) {
    String name = Reflection.simpleName(plan);
    if (name.equals("CommandResult")) return false;
    if (plan instanceof Command || name.startsWith("Write")) return true;
    if (!name.equals("Union") && !name.equals("WithCTE")) return false;
    scala.collection.Iterator children = plan.children().iterator();
    while (children.hasNext()) if (writes((LogicalPlan) children.next())) return true;
    return false;
  }

  /** The room may be a few rows more than asked for, when several threads add one at a time. */
  private boolean offer(Object[] row) {
    return queue.size() < capacity && queue.add(row);
  }

  /** Begin to listen, on a queue of its own, so that it cannot delay Spark's. */
  public void connect(SparkContext context) {
    Origins.forget();
    actions.watch(context);
    own = Queue.add(context, this, streams, statistics, actions);
    java.util.Iterator running = streams.running().iterator();
    while (running.hasNext()) onQueryFound((String) running.next());
  }

  /** Rows leave the plan of a DataFrame: those of its RDD, or of the one behind ``checkpoint``, what was made of it, unless that is null; false when nothing will be known. */
  public boolean remember(Object dataFrame, Object checkpoint) {
    QueryExecution execution = (QueryExecution) Reflection.call(dataFrame, "queryExecution");
    if (checkpoint == null && Procedures.isCall(execution.logical())) { called(execution); return false; }
    Long collected = checkpoint == null ? null : collected(checkpoint);
    if (collected != null) return offer(new Object[] {"collected", collected, Long.valueOf(System.currentTimeMillis()), execution, null, null, null, PlanWriter.place(execution), null});
    Object rdd = checkpoint == null ? execution.toRdd() : Reflection.call(((QueryExecution) Reflection.call(checkpoint, "queryExecution")).analyzed(), "rdd");
    if (!(rdd instanceof RDD)) return false;
    Long id = Long.valueOf(((RDD) rdd).id());
    if (offer(new Object[] {"origin", id, Long.valueOf(System.currentTimeMillis()), execution, null, null, null, PlanWriter.place(execution), null})) { Origins.know(id.intValue()); return true; }
    return false;
  }

  /** The rows of an RDD are what ``toJSON`` made of a DataFrame; false when nothing will be known. */
  public boolean rememberJson(Object dataFrame, Object rdd) {
    QueryExecution execution = (QueryExecution) Reflection.call(dataFrame, "queryExecution");
    int id = ((RDD) Reflection.call(rdd, "rdd")).id();
    if (!offer(new Object[] {"json", Long.valueOf(id), Long.valueOf(System.currentTimeMillis()), execution, null, null, null, PlanWriter.place(execution), null})) return false;
    Origins.knowJson(id, execution.analyzed().schema().fieldNames());
    return true;
  }

  /** An RDD will be checkpointed when a job has run for it. */
  public void keepOrigins(Object rdd) throws IOException { Origins.keep((RDD) Reflection.call(rdd, "rdd")); }

  /** An RDD is about to be saved, or taken by a function: a number for endAction(), 0 when there is no room. */
  public long beginAction(String name, Object rdd, boolean changed, String path, String columns) {
    return actions.begin(name, (RDD) Reflection.call(rdd, "rdd"), changed, path, columns);
  }

  /** ``failure`` is what Spark or Python raised, null where nothing was. */
  public void endAction(long id, Object failure) { actions.end(Long.valueOf(id), failure); }

  /** Spark 4 runs a procedure while it analyzes CALL and posts no execution: it is queued as one that has ended. */
  private void called(QueryExecution execution) {
    if (execution.logical() instanceof Command) return;
    Object[] call = new Object[] {execution, execution.logical()};
    if (!offer(new Object[] {"end", Long.valueOf(lastCall.decrementAndGet()), Long.valueOf(System.currentTimeMillis()), call, null, null, null, PlanWriter.place(execution), null})) dropped.incrementAndGet();
  }

  /** The first column of the result of ``df.transpose()``, or of a number the driver computed, which holds its rows; null of other DataFrames. */
  private static Long collected(Object dataFrame) {
    LogicalPlan plan = ((QueryExecution) Reflection.call(dataFrame, "queryExecution")).analyzed();
    String name = Reflection.simpleName(plan);
    if (plan.output().isEmpty() || !name.equals("Transpose") && !name.equals("LocalRelation")) return null;
    return Long.valueOf(((NamedExpression) plan.output().head()).exprId().id());
  }

  /** Wait until this tap has heard all that happened; false when it takes longer. Other listeners are not waited for. */
  public boolean drain(long milliseconds) {
    return own == null || own.waitUntilEmpty(System.currentTimeMillis() + milliseconds);
  }

  /** The program to be started when this JVM ends before close(), and what it reads; see LastWords for the file. */
  public void lastWords(String command, String text, String statusFile) { lastWords.set(command.split("\n"), text, statusFile); }

  /** Ends a poll that waits. */
  public void wake() { queue.add(WAKE); }

  public long dropped() { return dropped.getAndSet(0); }

  /** Events that the bus dropped before this tap heard of them. */
  public long refused(LiveListenerBus bus) {
    try { return Queue.refused(bus); } catch (Throwable unlike) { return 0; }
  }

  public long pending() { return queue.size(); }

  public void close() { lastWords.set(null, null, ""); queue.clear(); roots.clear(); started.clear(); replies.clear(); streams.clear(); nested.clear(); statistics.clear(); actions.clear(); }

  /**
   * Up to 50 rows as JSON lines, or null after the wait.
   *
   * A large reply is deflated, in base64, after a "~". One that is still large comes in pieces, the first after
   * "+", an id and the length of the whole; piece() gives the others.
   */
  public String poll(long wait) throws Exception {
    Object first = queue.poll(wait, TimeUnit.MILLISECONDS);
    if (first == null) return null;
    List rows = new ArrayList();
    rows.add(first);
    queue.drainTo(rows, 49);
    rows.removeAll(Collections.singletonList(WAKE));
    if (rows.isEmpty()) return null;
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
    if (row[0].equals("start") && Boolean.TRUE.equals(row[9])) out.writeBooleanField("creates", true);
    if (row[6] != null) writeVersion(out, row[6]);
    if (row.length > 10 && row[5] == null && row[10] != null) Statistics.write(out, (QueryExecution) row[10], (Object[]) row[9]);
    if (row[8] != null) out.writeStringField("stream", (String) row[8]);
    if (row[3] instanceof String) { out.writeFieldName("plan"); out.writeRawValue((String) row[3]); }
    else if (row[3] instanceof QueryExecution) writePlan(out, (QueryExecution) row[3], (String[]) row[7]);
    else if (row[3] instanceof Object[]) writePlan(out, ((Object[]) row[3])[0], (LogicalPlan) ((Object[]) row[3])[1], (String[]) row[7]);
    else if (row[3] instanceof RddAction) writeAction(out, (RddAction) row[3]);
    else if (row[0].equals("stream")) writeQuery(out, row[3]);
    out.writeEndObject();
    out.close();
    return text.toString();
  }

  private static void writeVersion(JsonGenerator out, Object written) throws IOException {
    if (written instanceof QueryExecution) written = Tables.created(((QueryExecution) written).sparkSession(), ((QueryExecution) written).analyzed());
    if (written == null) return;
    out.writeStringField("version", ((String[]) written)[0]);
    out.writeStringField("previous", ((String[]) written)[1]);
    if (((String[]) written).length > 2 && ((String[]) written)[2] != null) { out.writeFieldName("commit"); out.writeRawValue(((String[]) written)[2]); }
  }

  /** A statement that Spark cannot analyze writes nothing; a plan that we cannot read must not go unsaid. */
  private void writePlan(JsonGenerator out, QueryExecution execution, String[] place) throws IOException {
    LogicalPlan plan;
    try { plan = Reflection.analyzed(execution); } catch (Throwable wrong) { return; }
    writePlan(out, execution, plan, place);
  }

  private void writePlan(JsonGenerator out, Object execution, LogicalPlan plan, String[] place) throws IOException {
    try {
      String text = PlanWriter.write(execution, plan, place, limits);
      out.writeFieldName("plan");
      out.writeRawValue(text);
    } catch (Throwable failed) {
      out.writeStringField("command", Reflection.simpleName(plan));
      out.writeStringField("unreadable", Secrets.message(String.valueOf(failed)));
    }
  }

  private static void writeAction(JsonGenerator out, RddAction action) throws IOException {
    try {
      String text = action.plan();
      out.writeFieldName("plan");
      out.writeRawValue(text);
    } catch (Throwable failed) {
      out.writeStringField("command", action.name);
      out.writeStringField("unreadable", Secrets.message(String.valueOf(failed)));
    }
  }

  /** A streaming query as the user wrote it: its sources are in it whether or not a batch has rows of them. */
  private void writeQuery(JsonGenerator out, Object query) throws IOException {
    LogicalPlan plan = Streams.plan(query);
    String name = (String) Reflection.call(query, "name");
    if (name != null) out.writeStringField("name", name);
    if (plan != null) { writePlan(out, query, plan, PlanWriter.place(query)); return; }
    out.writeStringField("command", "WriteToStream");
    out.writeStringField("unreadable", "this Spark does not show the plan of a streaming query");
  }

  private static void writeFailure(JsonGenerator out, Object failure) throws IOException {
    Throwable root = failure instanceof Throwable ? (Throwable) failure : null;
    String said = String.valueOf(failure);
    int frames = said.indexOf("\n\tat ");
    out.writeStringField("failure", Secrets.text(root != null && root.getMessage() != null ? root.getMessage() : frames < 0 ? said : said.substring(0, frames)));
    if (root == null && frames < 0) return;
    java.io.StringWriter trace = new java.io.StringWriter();
    if (root == null) trace.write(said); else root.printStackTrace(new java.io.PrintWriter(trace));
    String text = Secrets.text(trace.toString());
    out.writeStringField("trace", text.length() > 8000 ? text.substring(0, 8000) : text);
  }

  /** The plan of a DataFrame that need not run, packed like a reply of poll(). */
  public String read(Object dataFrame) throws Exception {
    QueryExecution execution = (QueryExecution) Reflection.call(dataFrame, "queryExecution");
    return pack(PlanWriter.write(execution, execution.analyzed(), PlanWriter.place(execution), limits));
  }

  private String pack(String text) throws Exception {
    if (text.length() <= PIECE) return text;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DeflaterOutputStream deflated = new DeflaterOutputStream(bytes, new Deflater(Deflater.BEST_SPEED));
    deflated.write(text.getBytes(StandardCharsets.UTF_8));
    deflated.close();
    String packed = "~" + Base64.getEncoder().encodeToString(bytes.toByteArray());
    if (packed.length() <= PIECE || packed.length() > MOST_PIECES * PIECE) return packed;
    Long id = Long.valueOf(lastReply.incrementAndGet());
    replies.put(id, packed);
    return "+" + id + " " + packed.length() + " " + piece(id.longValue(), 0);
  }

  /** The part of a large reply from a place on, and the reply is forgotten with its last part. */
  public String piece(long id, int from) {
    String packed = (String) replies.get(Long.valueOf(id));
    int until = Math.min(packed.length(), from + PIECE);
    if (until == packed.length()) replies.remove(Long.valueOf(id));
    return packed.substring(from, until);
  }
}
