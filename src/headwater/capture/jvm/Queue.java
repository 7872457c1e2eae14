package headwater;

import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.AsyncEventQueue;
import org.apache.spark.scheduler.LiveListenerBus;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerInterface;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;

/**
 * A queue of the listener bus that takes starts and ends of SQL executions only.
 *
 * Spark's own queues take every event of every task, and wake a thread for it. This one turns the others away where
 * they are posted, which costs less than to queue them, and cannot run over while a job of many tasks goes on.
 */
public class Queue extends AsyncEventQueue {
  public static final String NAME = "headwater";

  public Queue(SparkContext context, LiveListenerBus bus) { super(NAME, context.conf(), bus.metrics(), bus); }

  public void post(SparkListenerEvent event) {
    if (event instanceof SparkListenerSQLExecutionStart || event instanceof SparkListenerSQLExecutionEnd) super.post(event);
  }

  /** Put a listener on a queue of its own; on one that takes every event where this Spark's bus is not as we know it. */
  public static void add(SparkContext context, SparkListenerInterface listener) {
    LiveListenerBus bus = context.listenerBus();
    synchronized (bus) {
      try {
        Queue queue = new Queue(context, bus);
        queue.addListener(listener);
        java.util.List queues = (java.util.List) Reflection.field(bus, "queues");
        queue.start(context);
        queues.add(queue);
      } catch (Throwable unlike) { bus.addToQueue(listener, NAME); }
    }
  }
}
