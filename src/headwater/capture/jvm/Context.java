package headwater;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;

/**
 * What the methods of OpenLineage's interfaces are called with, of the classes that the connector's own loader has.
 *
 * Some get a context with an OpenLineage object and the name of a listener event, some get these two themselves; those
 * of a provider also get the session and the options, as RelationProvider.createRelation does.
 */
public class Context implements InvocationHandler {
  private static final String PRODUCER = "urn:headwater:producer:headwater";
  private static final String EVENT = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart";

  private final Object session;
  private final Object options;

  /** ``options`` are those of the command that has the provider; null of all others. */
  public Context(Object session, Object options) {
    this.session = session;
    this.options = options;
  }

  public Object[] arguments(Method method) throws Exception {
    Class[] types = method.getParameterTypes();
    Object[] values = new Object[types.length];
    boolean first = true;
    for (int i = 0; i < types.length; i++) {
      if (types[i] != Object.class) { values[i] = value(types[i]); continue; }
      values[i] = first ? Reflection.call(session, "sqlContext") : options;
      first = false;
    }
    return values;
  }

  private Object value(Class type) throws Exception {
    if (type == String.class) return EVENT;
    if (type.getName().endsWith(".OpenLineage")) return type.getConstructor(new Class[] {URI.class}).newInstance(new Object[] {new URI(PRODUCER)});
    if (type.isInstance(session)) return session;
    if (type.isInstance(options)) return options;
    if (type.getName().equals("scala.Option")) return scala.Option.empty();
    if (type == java.util.Optional.class) return java.util.Optional.empty();
    if (type.isInterface()) return type.getName().contains("openlineage") ? Proxy.newProxyInstance(type.getClassLoader(), new Class[] {type}, this) : null;
    return type.getName().contains("OpenLineage") ? made(type) : null;
  }

  /** A context that is a class: of its constructor with the fewest parameters. */
  private Object made(Class type) throws Exception {
    Constructor[] all = type.getConstructors();
    Constructor least = null;
    for (int i = 0; i < all.length; i++) if (least == null || all[i].getParameterTypes().length < least.getParameterTypes().length) least = all[i];
    if (least == null) return null;
    Class[] types = least.getParameterTypes();
    Object[] values = new Object[types.length];
    for (int i = 0; i < types.length; i++) values[i] = value(types[i]);
    return least.newInstance(values);
  }

  /** Answers for a context: by the type of what is asked for. */
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (method.getName().equals("toString")) return "headwater";
    if (method.getName().equals("hashCode")) return Integer.valueOf(System.identityHashCode(proxy));
    if (method.getName().equals("equals")) return Boolean.valueOf(proxy == arguments[0]);
    Class type = method.getReturnType();
    if (type == boolean.class) return Boolean.FALSE;
    if (type == int.class) return Integer.valueOf(0);
    if (type == long.class) return Long.valueOf(0L);
    return value(type);
  }
}
