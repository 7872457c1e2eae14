package headwater;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * The call of one object of a plan (an operator, a relation, a provider) by OpenLineage's interfaces for extensions.
 *
 * It is somebody else's code: it runs on a thread of its own, and the caller waits for a limited time. A class whose
 * last answer is still awaited, or that was late several times, is not called. What fails is in "gaps", and the rest stands.
 */
public class InterfaceCall implements Runnable {
  private static final int MOST_LATE = 3;
  private static final int MOST_AWAITED = 4;
  /** The threads whose answers were late, by class. */
  private static final Map LATE = new WeakHashMap();

  private final Object object;
  private final Method[] methods;
  private final Context context;
  private final List delegates = new ArrayList();
  private final List gaps = new ArrayList();
  private final Map values = new LinkedHashMap();
  private volatile boolean done = false;

  private InterfaceCall(Object object, Method[] methods, Context context) {
    this.object = object;
    this.methods = methods;
    this.context = context;
  }

  /** {delegates, values}; null of an object whose class has none of the interfaces. Of one that cannot be asked, a class that is missing or a thread too many, a gap. */
  public static Object[] ask(Object object, Object session, Object options, long milliseconds) {
    if (object == null) return null;
    try {
      Method[] methods = Interfaces.of(object.getClass());
      return methods.length == 0 ? null : new InterfaceCall(object, methods, new Context(session, options)).ask(milliseconds);
    } catch (Throwable failed) { return new InterfaceCall(object, null, null).failed("it could not be asked: " + Answers.why(failed)); }
  }

  private Object[] ask(long milliseconds) {
    String refusal = milliseconds <= 0 ? "no time is left for it (connector_seconds), and it was not called" : refusal(object.getClass());
    if (refusal != null) return failed(refusal);
    Thread thread = new Thread(this, "headwater-asks");
    thread.setDaemon(true);
    thread.setContextClassLoader(object.getClass().getClassLoader());
    thread.start();
    try { thread.join(milliseconds); } catch (InterruptedException ended) { Thread.currentThread().interrupt(); }
    if (done) return result(delegates, values, gaps);
    addLate(object.getClass(), thread);
    thread.interrupt();
    return failed("it did not answer within " + milliseconds + " ms");
  }

  private static String refusal(Class type) {
    synchronized (LATE) {
      List late = (List) LATE.get(type);
      if (late != null && (late.size() >= MOST_LATE || awaited(late) > 0)) return "it took too long before, and is not asked again";
      int all = 0;
      Iterator i = LATE.values().iterator();
      while (i.hasNext()) all += awaited((List) i.next());
      return all < MOST_AWAITED ? null : "others took too long, and it was not asked";
    }
  }

  private static int awaited(List threads) {
    int alive = 0;
    for (int i = 0; i < threads.size(); i++) if (((Thread) threads.get(i)).isAlive()) alive++;
    return alive;
  }

  private static void addLate(Class type, Thread thread) {
    synchronized (LATE) {
      List late = (List) LATE.get(type);
      if (late == null) { late = new ArrayList(); LATE.put(type, late); }
      late.add(thread);
    }
  }

  /** Each method by itself: what one of them fails at, another may know. */
  public void run() {
    Answers answers = new Answers(delegates);
    for (int i = 0; i < methods.length; i++) {
      String part = Interfaces.answer(methods[i]);
      if (values.containsKey(part)) continue;
      try {
        methods[i].setAccessible(true);
        values.put(part, answers.read(part, methods[i].invoke(object, context.arguments(methods[i]))));
      } catch (Throwable failed) { gaps.add(gap(methods[i].getName() + ": " + Answers.why(failed))); }
    }
    done = true;
  }

  private List gap(String why) {
    List gap = new ArrayList();
    gap.add(object.getClass().getName());
    gap.add(why);
    return gap;
  }

  /** In lists of its own: a thread that is late may still write to the others. */
  private Object[] failed(String why) {
    List only = new ArrayList();
    only.add(gap(why));
    return result(new ArrayList(), new LinkedHashMap(), only);
  }

  private static Object[] result(List delegates, Map values, List gaps) {
    if (!gaps.isEmpty()) values.put("gaps", gaps);
    return new Object[] {delegates, values};
  }
}
