package headwater;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/**
 * What the methods of OpenLineage's interfaces gave, as plain values: maps, lists, texts and numbers.
 *
 * A node of the plan (a delegate) goes by its place in a list beside. Accessors are those of Scala's case classes
 * (datasetIdentifier) or of Java's beans (getDatasetIdentifier). Raises IllegalArgumentException for what is no answer.
 */
public class Answers {
  private static final int MOST = 10000;
  private static final int LONGEST_NAME = 4096;

  private final List delegates;

  /** Delegates are added to the list. */
  public Answers(List delegates) { this.delegates = delegates; }

  /** The answer of a method with ``part`` of the lineage, as Interfaces names it. */
  public Object read(String part, Object answer) throws Exception {
    if (part.equals("relation")) return identifier(answer);
    List found = new ArrayList();
    Iterator items = items(answer);
    while (items.hasNext()) found.add(item(part, next(items, found)));
    return found;
  }

  /** The next of a list of which some are found; what was left out would be lineage that is missing. */
  private static Object next(Iterator items, List found) {
    if (found.size() == MOST) throw new IllegalArgumentException("it gave more than " + MOST + " of them");
    return items.next();
  }

  private Object item(String part, Object item) throws Exception {
    if (item == null) throw new IllegalArgumentException("it gave a list with null in it");
    if (part.equals("inputs") || part.equals("outputs")) return dataset(item, part.equals("inputs") ? "inputFacetsBuilder" : "outputFacetsBuilder");
    if (part.equals("dependencies")) return dependency(item);
    Map found = new LinkedHashMap();
    Object delegate = get(item, "delegate");
    if (delegate != null) { found.put("delegate", position(delegate)); return found; }
    if (part.equals("fieldsRead")) found.put("dataset", identifier(get(item, "datasetIdentifier")));
    found.put("field", text(get(item, "field")));
    found.put("id", id(get(item, "exprId")));
    return found;
  }

  private Map dataset(Object item, String ownBuilder) throws Exception {
    Map found = new LinkedHashMap();
    Object node = get(item, "node");
    if (node != null) found.put("delegate", position(node));
    else found.put("dataset", identifier(get(item, "datasetIdentifier")));
    Object builder = get(item, "facetsBuilder");
    putFacets(found, "facets", builder != null ? builder : get(item, "datasetFacetsBuilder"));
    putFacets(found, "ownFacets", get(item, ownBuilder));
    return found;
  }

  /** A dataset whose facets cannot be made is a dataset all the same. */
  private static void putFacets(Map found, String name, Object builder) {
    if (builder == null) return;
    try { found.put(name, Facets.text(builder)); } catch (Throwable failed) { found.put(name + "Failed", why(failed)); }
  }

  private Map dependency(Object item) {
    Map found = new LinkedHashMap();
    found.put("output", id(get(item, "outputExprId")));
    Object expression = get(item, "expression");
    if (expression != null) { found.put("delegate", position(expression)); return found; }
    List ids = new ArrayList();
    Iterator inputs = items(get(item, "inputExprIds"));
    while (inputs.hasNext()) ids.add(id(next(inputs, ids)));
    found.put("inputs", ids);
    return found;
  }

  private static Map identifier(Object identifier) {
    Map found = new LinkedHashMap();
    found.put("namespace", Secrets.place(text(get(identifier, "namespace"))));
    found.put("name", Secrets.place(text(get(identifier, "name"))));
    Object symlinks = get(identifier, "symlinks");
    if (symlinks == null) return found;
    List others = new ArrayList();
    Iterator i = items(symlinks);
    while (i.hasNext() && others.size() < MOST) others.add(symlink(i.next()));
    found.put("symlinks", others);
    return found;
  }

  private static Map symlink(Object symlink) {
    Map found = new LinkedHashMap();
    found.put("namespace", Secrets.place(text(get(symlink, "namespace"))));
    found.put("name", Secrets.place(text(get(symlink, "name"))));
    found.put("type", String.valueOf(get(symlink, "type")));
    return found;
  }

  private Integer position(Object node) {
    if (!(node instanceof LogicalPlan) && !(node instanceof Expression)) throw new IllegalArgumentException("its delegate is no node of a plan but " + kind(node));
    for (int i = 0; i < delegates.size(); i++) if (delegates.get(i) == node) return Integer.valueOf(i);
    delegates.add(node);
    return Integer.valueOf(delegates.size() - 1);
  }

  private static Long id(Object value) {
    if (value instanceof Number) return Long.valueOf(((Number) value).longValue());
    Object inner = get(value, "exprId");
    if (!(inner instanceof Number)) throw new IllegalArgumentException("it gave no exprId but " + kind(value));
    return Long.valueOf(((Number) inner).longValue());
  }

  private static String text(Object value) {
    if (!(value instanceof String)) throw new IllegalArgumentException("it gave no name but " + kind(value));
    if (((String) value).length() > LONGEST_NAME) throw new IllegalArgumentException("it gave a name of more than " + LONGEST_NAME + " characters");
    return (String) value;
  }

  private static Object get(Object value, String name) {
    Object found = Reflection.call(value, name);
    return Reflection.unwrap(found != null ? found : Reflection.call(value, "get" + Character.toUpperCase(name.charAt(0)) + name.substring(1)));
  }

  private static Iterator items(Object answer) {
    if (answer instanceof Iterable) return ((Iterable) answer).iterator();
    if (!(answer instanceof scala.collection.Iterable)) throw new IllegalArgumentException("it gave no list but " + kind(answer));
    List found = new ArrayList();
    scala.collection.Iterator i = ((scala.collection.Iterable) answer).iterator();
    while (i.hasNext() && found.size() <= MOST) found.add(i.next());
    return found.iterator();
  }

  private static String kind(Object value) { return value == null ? "null" : value.getClass().getName(); }

  /** What went wrong, in one line and without secrets. */
  public static String why(Throwable failed) {
    Throwable cause = failed;
    while (cause instanceof java.lang.reflect.InvocationTargetException && cause.getCause() != null) cause = cause.getCause();
    String message = cause instanceof IllegalArgumentException ? cause.getMessage() : String.valueOf(cause);
    return FactWriter.shorten(Secrets.message(String.valueOf(message)), 300);
  }
}
