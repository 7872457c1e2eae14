package headwater;

import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.AsyncEventQueue;
import org.apache.spark.scheduler.LiveListenerBus;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerInterface;

/**
 * A queue of the listener bus that takes starts and ends of SQL executions and of streaming queries only. What stages
 * wrote is counted, and jobs of RDDs are looked at, where they are posted.
 *
 * Spark's own queues take every event of every task, and wake a thread for it. This one turns the others away where
 * they are posted, which costs less than to queue them, and cannot run over while a job of many tasks goes on.
 */
public class Queue extends AsyncEventQueue {
  public static final String NAME = "headwater";
  private static final String CAPACITY = "spark.scheduler.listenerbus.eventqueue.headwater.capacity";
  private static final int LEAST = 10000;

  private final Streams streams;
  private final Statistics statistics;
  private final RddActions actions;

  public Queue(SparkContext context, LiveListenerBus bus, Streams streams, Statistics statistics, RddActions actions) {
    super(NAME, roomy(context.conf()), bus.metrics(), bus);
    this.streams = streams;
    this.statistics = statistics;
    this.actions = actions;
  }

  /** The job may want small queues for Spark's own listeners, which take every event of every task: this one takes few. */
  private static SparkConf roomy(SparkConf conf) {
    if (conf.contains(CAPACITY)) return conf;
    return conf.clone().set(CAPACITY, String.valueOf(Math.max(LEAST, conf.getInt("spark.scheduler.listenerbus.eventqueue.capacity", LEAST))));
  }

  /** How many events a bus could not put into the queue of this name, full as it was. */
  public static long refused(LiveListenerBus bus) {
    return bus.metrics().metricRegistry().counter("queue." + NAME + ".numDroppedEvents").getCount();
  }

  public void post(SparkListenerEvent event) {
    actions.posted(event);
    if (Statistics.concerns(event)) { statistics.posted(event); return; }
    if (!Streams.concerns(event)) return;
    streams.posted(event);
    super.post(event);
  }

  /** Put a listener on a queue of its own, which is returned; on one that takes every event where this Spark's bus is not as we know it. */
  public static AsyncEventQueue add(SparkContext context, SparkListenerInterface listener, Streams streams, Statistics statistics, RddActions actions) {
    LiveListenerBus bus = context.listenerBus();
    synchronized (bus) {
      try {
        Queue queue = new Queue(context, bus, streams, statistics, actions);
        queue.addListener(listener);
        List queues = (List) Reflection.field(bus, "queues");
        queue.start(context);
        queues.add(queue);
        return queue;
      } catch (Throwable unlike) { bus.addToQueue(listener, NAME); }
      return named(bus);
    }
  }

  /** The queue that the bus has made by this name; null where it does not show its queues. */
  private static AsyncEventQueue named(LiveListenerBus bus) {
    List queues = (List) Reflection.field(bus, "queues");
    for (int i = 0; queues != null && i < queues.size(); i++)
      if (NAME.equals(((AsyncEventQueue) queues.get(i)).name())) return (AsyncEventQueue) queues.get(i);
    return null;
  }
}
