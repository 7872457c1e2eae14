package bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;
import java.util.Iterator;
import java.util.Map;

/** What the JVM says of its own threads and memory; compiled at run time, so that nothing but Spark is needed. */
public class Probe {
  /** One line per thread: id, CPU nanoseconds, 1 when its stack is in headwater's classes, name. */
  public static String threads() {
    ThreadMXBean bean = ManagementFactory.getThreadMXBean();
    long[] ids = bean.getAllThreadIds();
    ThreadInfo[] found = bean.getThreadInfo(ids, 30);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < ids.length; i++) {
      if (found[i] == null) continue;
      text.append(ids[i]).append('\t').append(bean.getThreadCpuTime(ids[i])).append('\t');
      text.append(isHeadwaters(found[i].getStackTrace()) ? 1 : 0).append('\t').append(found[i].getThreadName()).append('\n');
    }
    return text.toString();
  }

  /** CPU nanoseconds of the thread that answers. */
  public static long ownCpu() { return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime(); }

  private static boolean isHeadwaters(StackTraceElement[] stack) {
    for (int i = 0; i < stack.length; i++) if (stack[i].getClassName().startsWith("headwater.")) return true;
    return false;
  }

  /** Bytes of heap that are reachable, and bytes beside the heap (classes, compiled code). */
  public static long[] memory() throws Exception {
    for (int i = 0; i < 3; i++) { System.gc(); Thread.sleep(50L); }
    long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    long beside = ManagementFactory.getMemoryMXBean().getNonHeapMemoryUsage().getUsed();
    return new long[] {heap, beside};
  }

  /** How many Java objects py4j keeps for Python; -1 where this Java does not let one look. */
  public static int bindings() {
    try {
      Iterator threads = Thread.getAllStackTraces().keySet().iterator();
      while (threads.hasNext()) {
        Object task = task((Thread) threads.next());
        if (task == null || !task.getClass().getName().equals("py4j.ClientServerConnection")) continue;
        Object gateway = read(read(task, "javaServer"), "gateway");
        return ((Map) gateway.getClass().getMethod("getBindings", new Class[0]).invoke(gateway, new Object[0])).size();
      }
    } catch (Throwable unseen) { }
    return -1;
  }

  /** Java 19 moved the task of a thread into a holder. */
  private static Object task(Thread thread) throws Exception {
    try { return read(thread, "target"); }
    catch (NoSuchFieldException newer) { Object holder = read(thread, "holder"); return holder == null ? null : read(holder, "task"); }
  }

  private static Object read(Object object, String name) throws Exception {
    Class type = object instanceof Thread ? Thread.class : object.getClass();
    while (type != null) {
      try {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
      } catch (NoSuchFieldException above) { type = type.getSuperclass(); }
    }
    throw new NoSuchFieldException(name);
  }
}
