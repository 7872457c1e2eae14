package headwater;

import java.lang.reflect.Constructor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;
import org.apache.spark.sql.streaming.StreamingQueryListener;

/**
 * Which executions are batches of a streaming query, and which are writes that the user makes inside a batch.
 *
 * Of an execution inside another Spark says only the root, which for all within a batch is the batch. Events are
 * looked at where they are posted: that thread tells what encloses what, and that of a query which query it is.
 */
public class Streams {
  /** By run: the StreamExecution of each query that has started and is not yet reported. */
  private final Map queries = new ConcurrentHashMap();
  /** By execution: the run of the query whose batch it is. */
  private final Map batches = new ConcurrentHashMap();
  /** By execution: the run of the query in whose batch it is, where nothing else encloses it. */
  private final Map inner = new ConcurrentHashMap();
  /** By thread: the executions under way, the innermost first. */
  private final Map open = new ConcurrentHashMap();
  /** Runs that have been seen to start, or since: a session may be watched while its queries run. */
  private final Set known = ConcurrentHashMap.newKeySet();
  /** Runs of which nothing new has happened since their last batch was reported. */
  private final Set quiet = ConcurrentHashMap.newKeySet();

  /** Events of which posted() and the tap have to know. */
  public static boolean concerns(SparkListenerEvent event) {
    return event instanceof SparkListenerSQLExecutionStart || event instanceof SparkListenerSQLExecutionEnd
      || event instanceof StreamingQueryListener.QueryStartedEvent || event instanceof StreamingQueryListener.QueryTerminatedEvent;
  }

  /** Looks at an event on the thread that posts it; never fails. */
  public void posted(SparkListenerEvent event) {
    try {
      if (event instanceof SparkListenerSQLExecutionStart) began((SparkListenerSQLExecutionStart) event);
      else if (event instanceof SparkListenerSQLExecutionEnd) ended((SparkListenerSQLExecutionEnd) event);
      else if (event instanceof StreamingQueryListener.QueryStartedEvent) started((StreamingQueryListener.QueryStartedEvent) event);
    } catch (Throwable never) { }
  }

  private void began(SparkListenerSQLExecutionStart event) {
    Long id = Long.valueOf(event.executionId());
    Long thread = Long.valueOf(Thread.currentThread().getId());
    ArrayDeque own = (ArrayDeque) open.get(thread);
    if (own == null) { own = new ArrayDeque(); open.put(thread, own); }
    Object enclosing = own.peek();
    own.push(id);
    Object root = root(event);
    Object run = batches.get(root);
    if (run == null && !id.equals(root)) return;
    QueryExecution execution = SQLExecution.getQueryExecution(event.executionId());
    if (!isBatch(execution)) Before.ask(id, execution);
    if (!id.equals(root)) { if ((enclosing == null || enclosing.equals(root)) && !isBatch(execution)) inner.put(id, run); return; }
    if (!isBatch(execution)) return;
    String of = String.valueOf(Reflection.call(execution, "runId"));
    batches.put(id, of);
    if (known.add(of)) queries.put(of, Reflection.field(Thread.currentThread(), "$outer"));
  }

  private void ended(SparkListenerSQLExecutionEnd event) {
    Long thread = Long.valueOf(Thread.currentThread().getId());
    ArrayDeque own = (ArrayDeque) open.get(thread);
    if (own == null) return;
    own.remove(Long.valueOf(event.executionId()));
    if (own.isEmpty()) open.remove(thread);
  }

  /** The thread of a query belongs to its StreamExecution; where it does not, all sessions know the active queries. */
  private void started(StreamingQueryListener.QueryStartedEvent event) {
    Object query = Reflection.field(Thread.currentThread(), "$outer");
    if (!event.runId().equals(Reflection.call(query, "runId"))) query = active().get(event.id());
    known.add(event.runId().toString());
    if (query != null) queries.put(event.runId().toString(), query);
  }

  private static Map active() {
    Object session = Reflection.unwrap(org.apache.spark.sql.SparkSession.getDefaultSession());
    Object found = Reflection.call(Reflection.call(session, "sharedState"), "activeStreamingQueries");
    return found instanceof Map ? (Map) found : Collections.EMPTY_MAP;
  }

  /** The runs that were under way before this began to look; their queries are to be taken. */
  public List running() {
    List found = new ArrayList();
    java.util.Iterator i = active().values().iterator();
    while (i.hasNext()) {
      Object query = i.next();
      String run = String.valueOf(Reflection.call(query, "runId"));
      if (known.add(run)) { queries.put(run, query); found.add(run); }
    }
    return found;
  }

  /** The plan of a query as the user wrote it, below the write to its sink; null where this Spark does not show it. */
  public static LogicalPlan plan(Object query) {
    Object plan = Reflection.field(query, "plan");
    if (plan instanceof LogicalPlan) return (LogicalPlan) plan;
    try { return written(query); } catch (Throwable unlike) { return null; }
  }

  /** A query with a continuous trigger keeps the parts of its WriteToStream and not the whole; what it lacks is of no matter here. */
  private static LogicalPlan written(Object query) throws Exception {
    Constructor whole = Class.forName("org.apache.spark.sql.catalyst.streaming.WriteToStream").getConstructors()[0];
    Class[] types = whole.getParameterTypes();
    Object[] parts = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      if (types[i] == LogicalPlan.class) parts[i] = Reflection.field(query, "analyzedPlan");
      else if (types[i] == org.apache.spark.sql.connector.catalog.Table.class) parts[i] = Reflection.field(query, "sink");
      else if (types[i] == scala.Option.class) parts[i] = scala.Option.empty();
      else if (types[i] == boolean.class) parts[i] = Boolean.FALSE;
      else if (types[i] == String.class) parts[i] = "";
    }
    return (LogicalPlan) whole.newInstance(parts);
  }

  /** Whether a query that is under way has written by now. */
  public static boolean hasWritten(Object query) {
    return Reflection.simpleName(query).equals("ContinuousExecution") || Reflection.call(query, "lastProgress") != null;
  }

  /** Whether an execution is all that a query with a continuous trigger runs: it writes as it goes, and ends with the query. */
  public static boolean isEndless(QueryExecution execution) {
    return execution != null && Reflection.simpleName(execution.logical()).equals("WriteToContinuousDataSource");
  }

  /** The root of an execution: itself, unless it is inside another. */
  public static Object root(SparkListenerSQLExecutionStart event) {
    Object root = Reflection.unwrap(Reflection.call(event, "rootExecutionId"));
    return root == null ? Long.valueOf(event.executionId()) : root;
  }

  /** Whether an execution is a batch, or the part of one that its sink runs: its plan is that of the query. */
  public static boolean isBatch(QueryExecution execution) { return Reflection.simpleName(execution).equals("IncrementalExecution"); }

  /** The run in whose batch an execution is, null for others. */
  public String writer(Long id) { return (String) inner.get(id); }

  /** Forgets an execution inside a batch that has ended. */
  public void left(Long id) { inner.remove(id); }

  /** A write inside a batch has ended: the end of that batch has to be reported. */
  public void wrote(String run) { if (run != null) quiet.remove(run); }

  /** The run whose batch an execution is, null for others. */
  public String batchOf(Long id) { return (String) batches.get(id); }

  /** The run whose batch has ended, where that is worth telling: after the first one, and after writes inside it. */
  public String batchEnded(Long id, boolean failed) {
    Object run = batches.remove(id);
    return run != null && !failed && quiet.add(run) ? (String) run : null;
  }

  /** The StreamExecution of a run that starts; it is given once. */
  public Object takeQuery(String run) { return queries.remove(run); }

  /** Forgets a run that has ended. */
  public void forget(String run) { queries.remove(run); quiet.remove(run); known.remove(run); }

  public void clear() { queries.clear(); batches.clear(); inner.clear(); open.clear(); quiet.clear(); known.clear(); }
}
