package headwater;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.DataType;

/**
 * Writes an analyzed plan as one table of nodes, each after all that it refers to.
 *
 * A node is [class, children, references, values]; an operator has a fifth element, 1. Children and references
 * are positions in the table, so a subtree that occurs twice is written once and the reader needs no recursion.
 * What TreeNode.toJSON loses is here: the relation behind a leaf, tuples, nested sequences, common expression ids.
 */
public class PlanWriter {
  private static final int LONGEST_TEXT = 32768;
  /** Option keys that say where data is; every other value may be a secret and stays in the JVM. */
  private static final Set PLACES = new HashSet(Arrays.asList(new Object[] {
    "path", "paths", "url", "dbtable", "table", "topic", "subscribe", "kafka.bootstrap.servers", "checkpointlocation"}));
  /** Fields that repeat a child or are machinery of the write, not of the statement. */
  private static final Set SKIPPED = new HashSet(Arrays.asList(new Object[] {
    "analyzedQuery", "groupFilterCondition", "write", "rowIdAttrs", "originConstraints", "originStats", "session", "sparkSession", "metrics",
    "isStreaming", "evalContext", "nullable", "metadata", "isDistinct", "resultIds", "_resolved", "udfDeterministic", "func", "broadcastVars", "encoder", "hint", "resolvedHint", "writeOptions", "stats", "schema", "evalMode", "timeZoneId", "inputEncoders"}));
  /** Expressions whose parts the children alone do not tell apart. */
  private static final Set SPLIT_EXPRESSIONS = new HashSet(Arrays.asList(new Object[] {
    "WindowSpecDefinition", "OuterReference", "LambdaFunction", "InSubquery", "UpdateFields",
    "MergeRows$Keep", "MergeRows$Split", "MergeRows$Discard", "MergeRows$Update", "MergeRows$Insert", "MergeRows$Delete"}));
  /** Operators whose output follows from their fields and children; of all others it is written. */
  private static final Set PLAIN = new HashSet(Arrays.asList(new Object[] {
    "Project", "Filter", "Aggregate", "Sort", "Join", "SubqueryAlias", "Window", "Union", "Distinct", "Deduplicate", "GlobalLimit", "LocalLimit",
    "View", "WithCTE", "CTERelationDef", "Intersect", "Except", "Generate", "LateralJoin", "Repartition", "RepartitionByExpression", "ResolvedHint",
    "Sample", "Offset", "CollectMetrics"}));
  private static final Map NAMES = new ConcurrentHashMap();
  private static final Map METHODS = new ConcurrentHashMap();
  private static final Object MISSING = new Object();

  private final IdentityHashMap seen = new IdentityHashMap();
  private final Map attributes = new HashMap();
  private final List references = new ArrayList();
  private final StringWriter text = new StringWriter();
  private final JsonGenerator out;
  private final Object catalog;
  private final int mostNodes;
  private final long deadline;
  private final int longestSql;
  private int count = 0;

  /** Limits: nodes written, milliseconds taken; longestSql is the length of expression texts, 0 for none. */
  public PlanWriter(Object queryExecution, int mostNodes, long milliseconds, int longestSql) throws IOException {
    this.out = new JsonFactory().createGenerator(text);
    this.catalog = call(call(call(queryExecution, "sparkSession"), "sessionState"), "catalog");
    this.mostNodes = mostNodes;
    this.deadline = System.nanoTime() + milliseconds * 1000000L;
    this.longestSql = longestSql;
  }

  /** The plan as JSON: {"nodes": [...], "session": {...}}, with "cut": reason when a limit ended it. */
  public static String write(Object queryExecution, Object plan, int mostNodes, long milliseconds, int longestSql) throws IOException {
    PlanWriter writer = new PlanWriter(queryExecution, mostNodes, milliseconds, longestSql);
    writer.writeTable((TreeNode) plan);
    writer.writeSession(queryExecution, plan);
    writer.out.close();
    return writer.text.toString();
  }

  private void writeTable(TreeNode root) throws IOException {
    out.writeStartObject();
    out.writeArrayFieldStart("nodes");
    String cut = writeNodes(root);
    out.writeEndArray();
    if (cut != null) out.writeStringField("cut", cut);
  }

  private String writeNodes(TreeNode root) throws IOException {
    ArrayDeque stack = new ArrayDeque();
    stack.push(root);
    while (!stack.isEmpty()) {
      TreeNode node = (TreeNode) stack.peek();
      if (seen.containsKey(node)) { stack.pop(); continue; }
      if (isKnownAttribute(node)) { stack.pop(); continue; }
      if (pushMissing(node, stack)) continue;
      stack.pop();
      writeNode(node);
      if (count > mostNodes) return "plan of more than " + mostNodes + " nodes";
      if ((count & 1023) == 0 && System.nanoTime() > deadline) return "reading the plan took too long";
    }
    return null;
  }

  private boolean isKnownAttribute(TreeNode node) {
    if (!(node instanceof AttributeReference)) return false;
    AttributeReference attribute = (AttributeReference) node;
    String key = attribute.exprId().id() + " " + attribute.name();
    Integer position = (Integer) attributes.get(key);
    if (position == null) { attributes.put(key, Integer.valueOf(count)); return false; }
    seen.put(node, position);
    return true;
  }

  private boolean pushMissing(TreeNode node, ArrayDeque stack) {
    references.clear();
    collect(node);
    boolean missing = false;
    for (int i = references.size() - 1; i >= 0; i--) {
      Object reference = references.get(i);
      if (!seen.containsKey(reference)) { stack.push(reference); missing = true; }
    }
    return missing;
  }

  /** Definitions of a WithCTE come before the plan that reads them: their field is collected first. */
  private void collect(TreeNode node) {
    if (simpleName(node).equals("WithCTE")) collectValue(call(node, "cteDefs"));
    collectValue(node.children());
    if (node instanceof scala.Product) {
      scala.Product product = (scala.Product) node;
      String[] names = fieldNames(node);
      for (int i = 0; i < product.productArity(); i++)
        if (isWritten(node, names[i], product.productElement(i))) collectValue(product.productElement(i));
    }
    if (node instanceof LogicalPlan) collectValue(extraOutput(node));
  }

  /** The columns of an operator that has no field for them; null when it has, or when they follow. */
  private static Object extraOutput(TreeNode node) {
    if (PLAIN.contains(simpleName(node)) || node instanceof org.apache.spark.sql.catalyst.plans.logical.Command) return null;
    String[] names = node instanceof scala.Product ? fieldNames(node) : new String[0];
    return Arrays.asList((Object[]) names).contains("output") ? null : call(node, "output");
  }

  private void collectValue(Object value) {
    if (value instanceof TreeNode) { if (isTree(value)) references.add(value); }
    else if (value instanceof scala.Option) { if (((scala.Option) value).isDefined()) collectValue(((scala.Option) value).get()); }
    else if (isSequence(value)) {
      scala.collection.Iterator i = ((scala.collection.Iterable) value).iterator();
      while (i.hasNext()) collectValue(i.next());
    } else if (isTuple(value)) {
      scala.Product product = (scala.Product) value;
      for (int i = 0; i < product.productArity(); i++) collectValue(product.productElement(i));
    }
  }

  /** A struct type is a sequence of its fields to Scala, and a value to us. */
  private static boolean isSequence(Object value) {
    return value instanceof scala.collection.Iterable && !(value instanceof scala.collection.Map) && !(value instanceof DataType);
  }

  private static boolean isTree(Object value) { return value instanceof LogicalPlan || value instanceof Expression; }

  private static boolean isTuple(Object value) { return value instanceof scala.Product && value.getClass().getName().startsWith("scala.Tuple"); }

  /** An expression's children say it all, except for the classes above and the plan of a subquery. */
  private boolean isWritten(TreeNode node, String name, Object value) {
    if (SKIPPED.contains(name)) return false;
    if (node instanceof LogicalPlan || !(node instanceof Expression)) return true;
    if (node instanceof RuntimeReplaceable) return false;
    if (value instanceof LogicalPlan) return true;
    if (name.equals("dataType") || name.equals("exprId")) return node instanceof AttributeReference && name.equals("dataType");
    boolean tree = value instanceof TreeNode || isSequence(value) || value instanceof scala.Option && ((scala.Option) value).isDefined() && ((scala.Option) value).get() instanceof TreeNode;
    return !tree || SPLIT_EXPRESSIONS.contains(simpleName(node));
  }

  private void writeNode(TreeNode node) throws IOException {
    seen.put(node, Integer.valueOf(count++));
    out.writeStartArray();
    out.writeString(className(node));
    writePositions(node.children());
    List values = new ArrayList();
    writeReferences(node, values);
    writeValues(node, values);
    if (node instanceof LogicalPlan) out.writeNumber(1);
    out.writeEndArray();
  }

  private void writeReferences(TreeNode node, List values) throws IOException {
    out.writeStartObject();
    if (node instanceof scala.Product) {
      scala.Product product = (scala.Product) node;
      String[] names = fieldNames(node);
      for (int i = 0; i < product.productArity(); i++) {
        Object value = product.productElement(i);
        if (value == null || !isWritten(node, names[i], value)) continue;
        Boolean tree = onlyTrees(value);
        if (tree == null) continue;
        if (tree.booleanValue()) { out.writeFieldName(names[i]); writePositions(value); }
        else { values.add(names[i]); values.add(value); }
      }
    }
    Object output = node instanceof LogicalPlan ? extraOutput(node) : null;
    if (output != null) { out.writeFieldName("output"); writePositions(output); }
    out.writeEndObject();
  }

  /** TRUE for a tree and for sequences of nothing else, null for what is empty, FALSE for the rest. */
  private static Boolean onlyTrees(Object value) {
    if (value instanceof TreeNode) return Boolean.valueOf(isTree(value));
    if (value instanceof scala.Option) return ((scala.Option) value).isDefined() ? onlyTrees(((scala.Option) value).get()) : null;
    if (!isSequence(value)) return Boolean.FALSE;
    scala.collection.Iterator i = ((scala.collection.Iterable) value).iterator();
    if (!i.hasNext()) return null;
    while (i.hasNext()) {
      Boolean inner = onlyTrees(i.next());
      if (inner != null && !inner.booleanValue()) return Boolean.FALSE;
    }
    return Boolean.TRUE;
  }

  private void writePositions(Object value) throws IOException {
    if (value instanceof TreeNode) out.writeNumber(((Integer) seen.get(value)).intValue());
    else if (value instanceof scala.Option) writePositions(((scala.Option) value).get());
    else {
      out.writeStartArray();
      scala.collection.Iterator i = ((scala.collection.Iterable) value).iterator();
      while (i.hasNext()) {
        Object item = i.next();
        if (item instanceof scala.Option && !((scala.Option) item).isDefined()) out.writeNull();
        else writePositions(item);
      }
      out.writeEndArray();
    }
  }

  private void writeValues(TreeNode node, List values) throws IOException {
    out.writeStartObject();
    for (int i = 0; i < values.size(); i += 2) {
      if (node instanceof Literal && values.get(i).equals("value")) continue;
      out.writeFieldName((String) values.get(i));
      writeValue(values.get(i + 1), 0);
    }
    if (node instanceof Expression) writeExpression((Expression) node);
    out.writeEndObject();
  }

  private void writeExpression(Expression node) throws IOException {
    String name = simpleName(node);
    if (node instanceof NamedExpression && (node instanceof AttributeReference || name.equals("Alias"))) {
      out.writeNumberField("id", ((NamedExpression) node).exprId().id());
      if (name.equals("Alias")) { out.writeStringField("type", typeName(node)); writeSql(node); }
      else if (((AttributeReference) node).metadata().contains("__metadata_col")) out.writeBooleanField("metadataColumn", true);
    } else if (node instanceof Cast) {
      out.writeBooleanField("same", DataType.equalsIgnoreNullability(((Cast) node).child().dataType(), node.dataType()));
    } else if (node instanceof Literal) {
      Object value = ((Literal) node).value();
      if (value instanceof Integer || value instanceof Boolean) { out.writeFieldName("value"); writeValue(value, 0); }
    } else if (node instanceof CreateNamedStruct) {
      out.writeFieldName("names"); writeValue(call(node, "names"), 0);
    } else if (!name.toLowerCase().equals(node.prettyName()) && !name.endsWith("Reference")) {
      out.writeStringField("function", node.prettyName());
    }
  }

  private void writeSql(Expression node) throws IOException {
    if (longestSql <= 0) return;
    try { out.writeStringField("sql", shorten(((Expression) call(node, "child")).sql(), longestSql)); }
    catch (Throwable unprintable) { }
  }

  private static String typeName(Expression node) {
    try { return node.dataType().catalogString(); } catch (Throwable unresolved) { return ""; }
  }

  private void writeValue(Object value, int depth) throws IOException {
    if (value == null || depth > 6) out.writeNull();
    else if (value instanceof String) out.writeString(shorten((String) value, LONGEST_TEXT));
    else if (value instanceof Boolean) out.writeBoolean(((Boolean) value).booleanValue());
    else if (value instanceof Integer || value instanceof Long || value instanceof Short) out.writeNumber(((Number) value).longValue());
    else if (value instanceof TreeNode && seen.containsKey(value)) { out.writeStartObject(); out.writeNumberField("$", ((Integer) seen.get(value)).intValue()); out.writeEndObject(); }
    else if (value instanceof ExprId) out.writeNumber(((ExprId) value).id());
    else if (value instanceof DataType) out.writeString(shorten(((DataType) value).catalogString(), LONGEST_TEXT));
    else if (value instanceof scala.Option) writeValue(((scala.Option) value).isDefined() ? ((scala.Option) value).get() : null, depth);
    else if (value instanceof scala.collection.Map) writeOptions((scala.collection.Map) value);
    else if (value instanceof scala.collection.Iterable) writeItems(((scala.collection.Iterable) value).iterator(), depth);
    else if (isTuple(value)) writeItems(((scala.Product) value).productIterator(), depth);
    else if (value instanceof Enum) out.writeString(((Enum) value).name());
    else writeObject(value, depth);
  }

  private void writeItems(scala.collection.Iterator items, int depth) throws IOException {
    out.writeStartArray();
    while (items.hasNext()) writeValue(items.next(), depth + 1);
    out.writeEndArray();
  }

  private void writeOptions(scala.collection.Map options) throws IOException {
    out.writeStartObject();
    scala.collection.Iterator i = options.iterator();
    while (i.hasNext()) {
      scala.Product entry = (scala.Product) i.next();
      String key = String.valueOf(entry.productElement(0));
      if (PLACES.contains(key.toLowerCase())) out.writeStringField(key, String.valueOf(entry.productElement(1)));
      else out.writeNullField(key);
    }
    out.writeEndObject();
  }

  private void writeObject(Object value, int depth) throws IOException {
    String name = simpleName(value);
    if (name.equals("TableIdentifier") || name.equals("AliasIdentifier") || name.equals("FunctionIdentifier")) writeIdentifier(value);
    else if (name.equals("Path") || name.equals("URI")) out.writeString(value.toString());
    else if (name.endsWith("$")) out.writeString(name.substring(0, name.length() - 1));
    else if (name.equals("CommonExpressionId")) out.writeNumber(((Number) call(value, "id")).longValue());
    else {
      out.writeStartObject();
      out.writeStringField("class", className(value));
      writeFacts(value, name);
      out.writeEndObject();
    }
  }

  private void writeIdentifier(Object identifier) throws IOException {
    out.writeStartArray();
    String[] parts = new String[] {"catalog", "database", "table", "identifier", "funcName", "name"};
    Set written = new HashSet();
    for (int i = 0; i < parts.length; i++) {
      Object part = unwrap(call(identifier, parts[i]));
      if (part instanceof String && !(i > 2 && !written.isEmpty() && written.contains(part))) { out.writeString((String) part); written.add(part); }
    }
    out.writeEndArray();
  }

  private void writeFacts(Object value, String name) throws IOException {
    if (name.equals("CatalogTable")) writeCatalogTable(value);
    else if (name.equals("CatalogStorageFormat")) writeText("location", unwrap(call(value, "locationUri")));
    else if (has(value, "location") && has(value, "fileFormat")) writeFiles(value);
    else if (has(value, "jdbcOptions")) writeJdbc(call(value, "jdbcOptions"));
    else if (value instanceof org.apache.spark.sql.connector.catalog.Table) writeTableV2(value);
    else if (value instanceof org.apache.spark.sql.connector.catalog.CatalogPlugin) writeText("name", call(value, "name"));
    else if (value instanceof org.apache.spark.sql.connector.catalog.Identifier) writeIdentifierV2(value);
    else if (name.equals("DropField")) writeText("name", call(value, "name"));
    else if (value instanceof org.apache.spark.rdd.RDD) out.writeNumberField("rdd", ((org.apache.spark.rdd.RDD) value).id());
    else if (name.equals("TableSpec") || name.equals("UnresolvedTableSpec")) { writeText("provider", unwrap(call(value, "provider"))); writeText("location", unwrap(call(value, "location"))); }
  }

  private void writeCatalogTable(Object table) throws IOException {
    Object identifier = call(table, "identifier");
    out.writeFieldName("identifier"); writeIdentifier(identifier);
    writeText("kind", call(call(table, "tableType"), "name"));
    writeText("provider", unwrap(call(table, "provider")));
    Object location = unwrap(call(call(table, "storage"), "locationUri"));
    if (location == null && "MANAGED".equals(call(call(table, "tableType"), "name"))) location = call(catalog, "defaultTablePath", identifier);
    writeText("location", location);
    out.writeFieldName("partitions"); writeValue(call(table, "partitionColumnNames"), 0);
  }

  private void writeFiles(Object relation) throws IOException {
    Object location = call(relation, "location");
    out.writeFieldName("paths"); writeValue(call(location, "rootPaths"), 0);
    writeText("format", simpleName(call(relation, "fileFormat")));
  }

  private void writeJdbc(Object options) throws IOException {
    writeText("url", call(options, "url"));
    writeText("table", call(options, "tableOrQuery"));
  }

  private void writeTableV2(Object table) throws IOException {
    writeText("name", call(table, "name"));
    Object properties = call(table, "properties");
    if (properties instanceof Map) {
      writeText("location", ((Map) properties).get("location"));
      writeText("provider", ((Map) properties).get("provider"));
    }
    if (has(table, "paths")) { out.writeFieldName("paths"); writeValue(call(table, "paths"), 0); }
    if (has(table, "jdbcOptions")) writeJdbc(call(table, "jdbcOptions"));
  }

  private void writeIdentifierV2(Object identifier) throws IOException {
    out.writeArrayFieldStart("parts");
    String[] namespace = (String[]) call(identifier, "namespace");
    for (int i = 0; namespace != null && i < namespace.length; i++) out.writeString(namespace[i]);
    out.writeString(String.valueOf(call(identifier, "name")));
    out.writeEndArray();
  }

  private void writeSession(Object queryExecution, Object plan) throws IOException {
    Object session = call(queryExecution, "sparkSession");
    Object state = call(session, "sessionState");
    Object conf = call(state, "conf");
    Object manager = call(state, "catalogManager");
    out.writeObjectFieldStart("session");
    writeText("catalog", call(call(manager, "currentCatalog"), "name"));
    writeText("database", call(catalog, "getCurrentDatabase"));
    writeText("warehouse", call(conf, "warehousePath"));
    writeText("catalogImplementation", call(conf, "getConfString", "spark.sql.catalogImplementation"));
    writeText("metastore", call(call(state, "newHadoopConf"), "get", "hive.metastore.uris"));
    if (longestSql > 0) writeText("sql", unwrap(call(call(plan, "origin"), "sqlText")));
    out.writeEndObject();
    out.writeArrayFieldStart("output");
    Object output = call(plan, "output");
    if (output instanceof scala.collection.Iterable) {
      scala.collection.Iterator i = ((scala.collection.Iterable) output).iterator();
      while (i.hasNext()) {
        NamedExpression attribute = (NamedExpression) i.next();
        out.writeStartArray(); out.writeNumber(attribute.exprId().id()); out.writeString(attribute.name()); out.writeString(typeName((Expression) attribute)); out.writeEndArray();
      }
    }
    out.writeEndArray();
    out.writeEndObject();
  }

  private void writeText(String name, Object value) throws IOException {
    if (value != null) out.writeStringField(name, shorten(String.valueOf(value), LONGEST_TEXT));
  }

  private static String shorten(String text, int length) { return text.length() <= length ? text : text.substring(0, length); }

  private static Object unwrap(Object value) {
    if (!(value instanceof scala.Option)) return value;
    return ((scala.Option) value).isDefined() ? ((scala.Option) value).get() : null;
  }

  public static String simpleName(Object value) {
    if (value == null) return "";
    String name = value.getClass().getName();
    return name.substring(name.lastIndexOf('.') + 1);
  }

  /** Spark's own classes go by their last component, others by their full name. */
  private static String className(Object value) {
    String name = value.getClass().getName();
    return name.startsWith("org.apache.spark.") ? simpleName(value) : name;
  }

  private static String[] fieldNames(Object node) {
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

  private static boolean has(Object value, String method) { return value != null && method(value.getClass(), method, 0) != MISSING; }

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
    Method[] methods = type.getMethods();
    for (int i = 0; i < methods.length; i++)
      if (methods[i].getName().equals(name) && methods[i].getParameterTypes().length == arity && fits(methods[i])) { found = methods[i]; break; }
    if (found != MISSING) try { ((Method) found).setAccessible(true); } catch (Throwable refused) { }
    METHODS.put(key, found);
    return found;
  }

  private static boolean fits(Method method) {
    Class[] types = method.getParameterTypes();
    return !method.isBridge() && (types.length == 0 || types[0] == int.class || types[0] == String.class || types[0].getName().endsWith("TableIdentifier"));
  }
}
