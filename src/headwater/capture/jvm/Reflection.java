package headwater;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;

/** Names of classes and fields, calls of methods that not every version of Spark or a connector has, analyzed plans. */
public class Reflection {
  private static final Map NAMES = new ConcurrentHashMap();
  private static final Map SIMPLE_NAMES = new ConcurrentHashMap();
  private static final Map METHODS = new ConcurrentHashMap();
  private static final Object MISSING = new Object();

  /**
   * The analyzed plan. Where Spark could not analyze it, it keeps the job's error, and would write the frames of
   * whoever asks again into it: nobody does.
   */
  public static LogicalPlan analyzed(QueryExecution execution) {
    try {
      if (!execution.tracker().phases().contains("analysis")) throw new IllegalStateException("not analyzed");
    } catch (ConcurrentModificationException planning) { } // a later phase has begun
    return execution.analyzed();
  }

  /** When Spark began to optimize a query, in milliseconds since 1970; 0 where it does not say. */
  public static long optimized(Object execution) {
    try {
      Object phase = unwrap(((scala.collection.Map) call(call(execution, "tracker"), "phases")).get("optimization"));
      return phase == null ? 0 : ((Long) call(phase, "startTimeMs")).longValue();
    } catch (RuntimeException unlike) { return 0; }
  }

  public static boolean isTuple(Object value) {
    return value instanceof scala.Product && value.getClass().getName().startsWith("scala.Tuple");
  }

  public static Object unwrap(Object value) {
    if (!(value instanceof scala.Option)) return value;
    return ((scala.Option) value).isDefined() ? ((scala.Option) value).get() : null;
  }

  public static String simpleName(Object value) {
    if (value == null) return "";
    String name = (String) SIMPLE_NAMES.get(value.getClass());
    if (name != null) return name;
    name = value.getClass().getName();
    name = name.substring(name.lastIndexOf('.') + 1);
    SIMPLE_NAMES.put(value.getClass(), name);
    return name;
  }

  /** Classes below org.apache.spark go by their last component, others by their full name. */
  public static String className(Object value) {
    String name = value.getClass().getName();
    return name.startsWith("org.apache.spark.") ? simpleName(value) : name;
  }

  public static String[] fieldNames(Object node) {
    String[] names = (String[]) NAMES.get(node.getClass());
    if (names != null) return names;
    scala.Product product = (scala.Product) node;
    names = new String[product.productArity()];
    for (int i = 0; i < names.length; i++) {
      Object name = call(node, "productElementName", Integer.valueOf(i));
      names[i] = name == null ? null : (String) name;
    }
    if (names.length > 0 && names[0] == null) names = constructorNames(node.getClass(), names.length);
    NAMES.put(node.getClass(), names);
    return names;
  }

  /** Scala 2.12 has no productElementName; Spark knows the names of a constructor's parameters for its own toJSON. */
  private static String[] constructorNames(Class type, int arity) {
    String[] names = new String[arity];
    Arrays.fill(names, "");
    try {
      Class reflection = Class.forName("org.apache.spark.sql.catalyst.ScalaReflection");
      Object found = reflection.getMethod("getConstructorParameterNames", new Class[] {Class.class}).invoke(null, new Object[] {type});
      scala.collection.Iterator i = ((scala.collection.Iterable) found).iterator();
      for (int n = 0; n < arity && i.hasNext(); n++) names[n] = (String) i.next();
    } catch (Throwable unknown) { }
    return names;
  }

  public static boolean has(Object value, String method) { return value != null && method(value.getClass(), method, 0) != MISSING; }

  /** The value of a private field, its class's own or inherited; null where it is missing or closed. */
  public static Object field(Object value, String name) {
    for (Class type = value == null ? null : value.getClass(); type != null; type = type.getSuperclass()) try {
      java.lang.reflect.Field field = type.getDeclaredField(name);
      field.setAccessible(true);
      return field.get(value);
    } catch (Throwable missing) { }
    return null;
  }

  public static Object call(Object value, String name) { return invoke(value, name, new Object[0]); }

  public static Object call(Object value, String name, Object argument) { return invoke(value, name, new Object[] {argument}); }

  /** The result of a method that some version of Spark or a connector has; null where it is missing or fails. */
  private static Object invoke(Object value, String name, Object[] arguments) {
    if (value == null) return null;
    Object method = method(value.getClass(), name, arguments.length);
    if (method == MISSING) return null;
    try { return ((Method) method).invoke(value, arguments); } catch (Throwable failed) { return null; }
  }

  private static Object method(Class type, String name, int arity) {
    String key = type.getName() + "@" + System.identityHashCode(type) + "." + name + "/" + arity;
    Object found = METHODS.get(key);
    if (found != null) return found;
    found = MISSING;
    Method[] methods = methods(type);
    for (int i = 0; i < methods.length; i++) {
      if (!methods[i].getName().equals(name) || methods[i].getParameterTypes().length != arity || !fits(methods[i])) continue;
      found = methods[i];
      if (!methods[i].isBridge()) break;
    }
    if (found != MISSING) try { ((Method) found).setAccessible(true); } catch (Throwable refused) { }
    METHODS.put(key, found);
    return found;
  }

  /** Of a class with a method of a type that is missing, those of the nearest class above without. */
  private static Method[] methods(Class type) {
    for (Class one = type; one != null; one = one.getSuperclass())
      try { return one.getMethods(); } catch (LinkageError missing) { }
    return new Method[0];
  }

  /** A bridge is taken where there is nothing else: what a public class inherits from one that is not. */
  private static boolean fits(Method method) {
    Class[] types = method.getParameterTypes();
    return types.length == 0 || types[0] == int.class || types[0] == String.class || types[0].getName().endsWith("Identifier");
  }
}
