package headwater;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;

/**
 * What happens to RDDs outside of SQL executions, queued as executions are.
 *
 * PySpark's methods say when they begin and end. Jobs of others are looked at where they start: one that saves has
 * Hadoop's settings in its function.
 */
public class RddActions {
  private static final String EXECUTION = "spark.sql.execution.id";
  private static final String PATH = "mapreduce.output.fileoutputformat.outputdir";

  private final LinkedBlockingQueue queue;
  private final AtomicLong dropped;
  private final AtomicLong lastId;
  /** By number: the id of the RDD that PySpark does something with now. */
  private final Map begun = new ConcurrentHashMap();
  /** By job of others: the number of what it does. */
  private final Map jobs = new ConcurrentHashMap();
  private SparkContext context = null;
  private int capacity = 1;
  private boolean reads = false;

  public RddActions(LinkedBlockingQueue queue, AtomicLong dropped, AtomicLong lastId) {
    this.queue = queue;
    this.dropped = dropped;
    this.lastId = lastId;
  }

  public void configure(int capacity, boolean reads) { this.capacity = capacity; this.reads = reads; }

  /** Jobs of this context are looked at from now on. */
  public void watch(SparkContext context) { this.context = context; }

  public void clear() { begun.clear(); jobs.clear(); }

  /** A method of PySpark begins; a number for end(), 0 when there is no room. */
  public long begin(String name, RDD rdd, boolean changed, String path, String columns) {
    Long id = start(new RddAction(name, rdd, changed, path, columns));
    if (id == null) return 0;
    begun.put(id, Integer.valueOf(rdd.id()));
    return id.longValue();
  }

  /** ``failure`` is what Spark or Python raised, null where nothing was. */
  public void end(Long id, Object failure) {
    begun.remove(id);
    queue.add(new Object[] {"end", id, Long.valueOf(System.currentTimeMillis()), null, null, failure, null, null, null});
  }

  private Long start(RddAction action) {
    Long id = Long.valueOf(lastId.decrementAndGet());
    if (queue.size() < capacity && queue.add(new Object[] {"start", id, Long.valueOf(System.currentTimeMillis()), action, null, null, null, null, null, null})) return id;
    dropped.incrementAndGet();
    return null;
  }

  /** Looks at an event on the thread that posts it; never fails. */
  public void posted(SparkListenerEvent event) {
    try {
      if (event instanceof SparkListenerJobStart) onStart((SparkListenerJobStart) event);
      else if (event instanceof SparkListenerJobEnd) onEnd((SparkListenerJobEnd) event);
    } catch (Throwable never) { }
  }

  private void onStart(SparkListenerJobStart event) throws Exception {
    if (context == null || event.properties() == null || event.properties().getProperty(EXECUTION) != null) return;
    Object active = ((scala.collection.Map) Reflection.call(Reflection.call(context, "dagScheduler"), "jobIdToActiveJob")).get(Integer.valueOf(event.jobId()));
    Object stage = Reflection.call(Reflection.unwrap(active), "finalStage");
    Object rdd = Reflection.call(stage, "rdd");
    Configuration settings = settings(Reflection.call(stage, "func"));
    if (!(rdd instanceof RDD) || settings == null && !reads || Origins.isMadeOf((RDD) rdd, begun.values())) return;
    Long id = start(settings == null ? new RddAction("RunJob", (RDD) rdd, true, null, "") : saved((RDD) rdd, settings));
    if (id != null) jobs.put(Integer.valueOf(event.jobId()), id);
  }

  private static RddAction saved(RDD rdd, Configuration settings) {
    String format = settings.get("mapred.output.format.class");
    String name = format != null ? "SaveAsHadoopDataset" : "SaveAsNewAPIHadoopDataset";
    if (format == null) format = settings.get("mapreduce.job.outputformat.class", "TextOutputFormat");
    return new RddAction(name, rdd, true, settings.get(PATH), format.contains("Text") ? "value" : "key,value");
  }

  private void onEnd(SparkListenerJobEnd event) {
    Long id = (Long) jobs.remove(Integer.valueOf(event.jobId()));
    if (id != null) end(id, Reflection.call(event.jobResult(), "exception"));
  }

  /** Hadoop's settings in the function that each task of a job runs; null where it does not save. */
  private static Configuration settings(Object function) throws Exception {
    Field[] fields = function == null ? new Field[0] : function.getClass().getDeclaredFields();
    for (int i = 0; i < fields.length; i++) {
      if (!fields[i].getType().getName().startsWith("org.apache.spark.internal.io.Hadoop")) continue;
      fields[i].setAccessible(true);
      Object found = Reflection.call(Reflection.field(fields[i].get(function), "conf"), "value");
      if (found instanceof Configuration) return (Configuration) found;
    }
    return null;
  }
}
