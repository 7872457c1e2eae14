package headwater;

import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.SaveIntoDataSourceCommand;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Writes an analyzed plan as one table of nodes, each after all that it refers to.
 *
 * A node is [class, children, references, values]; an operator has a fifth element, 1. Children and references
 * are positions in the table, so a subtree that occurs twice is written once and the reader needs no recursion.
 * What TreeNode.toJSON loses is here: the relation behind a leaf, tuples, nested sequences, common expression ids.
 */
public class PlanWriter {
  /** How the SQL of a statement begins that makes a table of a query; comments may go before. */
  private static final Pattern CREATES = Pattern.compile("(?is)(?:\\s+|--[^\\n]*\\n|/\\*(?:[^*/]++|\\*(?!/)|/\\*.*?\\*/|/)*+\\*/)*+(?:CREATE|REPLACE)\\b");

  /** Fields that repeat a child or are machinery of the write, not of the statement. */
  private static final Set SKIPPED = new HashSet(Arrays.asList(new Object[] {
    "analyzedQuery", "commandLogicalPlan", "commandPhysicalPlan", "groupFilterCondition", "write", "rowIdAttrs", "originConstraints", "originStats", "session", "sparkSession", "metrics",
    "isStreaming", "evalContext", "nullable", "metadata", "isDistinct", "resultIds", "_resolved", "udfDeterministic",
    "func", "broadcastVars", "encoder", "hint", "resolvedHint", "writeOptions", "stats", "schema", "evalMode", "timeZoneId", "inputEncoders", "kv", "data", "v1Relation"}));
  /** Expressions whose parts cannot be known from the children alone. */
  private static final Set SPLIT_EXPRESSIONS = new HashSet(Arrays.asList(new Object[] {
    "WindowSpecDefinition", "OuterReference", "LambdaFunction", "InSubquery", "UpdateFields", "DeltaMergeAction", "ResolvedFieldName", "QualifiedColType",
    "MergeRows$Keep", "MergeRows$Split", "MergeRows$Discard", "MergeRows$Update", "MergeRows$Insert", "MergeRows$Delete"}));
  private static final Object IMMEDIATE = new scala.Some("EXECUTE IMMEDIATE");
  private static final String SPARKS = "org.apache.spark.sql.catalyst.plans.logical.";
  /** Operators of Spark's own whose output follows from their fields and children; of all others it is written. */
  private static final Set PLAIN = new HashSet(Arrays.asList(new Object[] {
    "Project", "Filter", "Aggregate", "Sort", "Join", "SubqueryAlias", "Window", "Union", "Distinct", "Deduplicate", "GlobalLimit", "LocalLimit",
    "View", "WithCTE", "CTERelationDef", "Intersect", "Except", "Generate", "LateralJoin", "Repartition", "RepartitionByExpression", "ResolvedHint",
    "Sample", "Offset", "CollectMetrics", "PipeOperator"}));

  /** All operators of a plan that describe themselves may take as long as so many of them. */
  private static final int LONGEST_ANSWERS = 2;
  /** How many nodes are written between two looks at the clock. */
  private static final int NODES_BETWEEN_LOOKS = 256;
  private static final ObjectMapper PLAIN_VALUES = new ObjectMapper();

  private final IdentityHashMap seen = new IdentityHashMap();
  /** Nodes whose references were put on the stack: once is enough, and some nodes make new ones each time they are asked. */
  private final IdentityHashMap expanded = new IdentityHashMap();
  /** What operators told by OpenLineage's interfaces: {delegates, values}. */
  private final IdentityHashMap told = new IdentityHashMap();
  private final Map attributes = new HashMap();
  private final Map literals = new HashMap();
  private final Map constants = new HashMap();
  private final List references = new ArrayList();
  private final StringWriter text = new StringWriter();
  private final JsonGenerator out;
  private final FactWriter facts;
  private final Object session;
  /** Those that a streaming query's writer was given; null of other executions. */
  private final Object options;
  private final Limits limits;
  private long deadline;
  private long asking;
  private boolean coarse = false;
  private int count = 0;
  private int nextLook = NODES_BETWEEN_LOOKS;

  public PlanWriter(Object queryExecution, Limits limits) throws IOException {
    this.out = new JsonFactory().createGenerator(text);
    this.session = Reflection.call(queryExecution, "sparkSession");
    this.options = Tables.options(queryExecution);
    this.facts = new FactWriter(out, seen, Reflection.call(session, "sessionState"), Reflection.optimized(queryExecution));
    this.limits = limits;
    this.deadline = System.nanoTime() + limits.milliseconds * 1000000L;
    this.asking = LONGEST_ANSWERS * limits.answer;
  }

  /** The plan of a QueryExecution or StreamExecution as JSON: {"nodes": [...], "session": {...}}; with "cut": reason, and coarse, when a limit ended it. */
  public static String write(Object queryExecution, Object plan, String[] place, Limits limits) throws IOException {
    PlanWriter writer = new PlanWriter(queryExecution, limits);
    String cut = writer.writeTable((TreeNode) plan);
    if (cut != null) {
      writer = new PlanWriter(queryExecution, limits.coarse());
      if (!writer.writeCoarseTable((TreeNode) plan)) throw new IllegalStateException(cut);
      writer.out.writeStringField("cut", cut);
    }
    writer.writeSession(plan, place);
    writer.out.close();
    return writer.text.toString();
  }

  private String writeTable(TreeNode root) throws IOException {
    out.writeStartObject();
    out.writeArrayFieldStart("nodes");
    String cut = writeNodes(root);
    endNodes();
    return cut;
  }

  /** A carriage return before each node and after the last, which JSON passes over: who reads a large table can take it node by node. */
  private void beginNode() throws IOException { out.writeRaw('\r'); out.writeStartArray(); }

  private void endNodes() throws IOException { out.writeRaw('\r'); out.writeEndArray(); }

  private boolean writeCoarseTable(TreeNode root) throws IOException {
    coarse = true;
    out.writeStartObject();
    out.writeArrayFieldStart("nodes");
    boolean done = writeCoarse(root);
    endNodes();
    return done;
  }

  /** The relations of a plan, an operator "Cut" that stands for all between, and the command; false at a limit. */
  private boolean writeCoarse(TreeNode root) throws IOException {
    TreeNode top = root;
    while (Reflection.simpleName(top).equals("WithCTE")) top = (TreeNode) Reflection.call(top, "plan");
    boolean command = top instanceof org.apache.spark.sql.catalyst.plans.logical.Command || Reflection.simpleName(top).equals("WriteToStream");
    List leaves = leaves(root);
    for (int i = 0; i < leaves.size(); i++) if (writeNodes((TreeNode) leaves.get(i)) != null) return false;
    references.clear();
    if (command) collect(top); else references.add(top);
    Object[] queries = references.toArray();
    for (int i = 0; i < queries.length; i++)
      if (queries[i] instanceof LogicalPlan && !seen.containsKey(queries[i]) && !((TreeNode) queries[i]).children().isEmpty() && !writeCut((TreeNode) queries[i], leaves)) return false;
    return !command || writeNodes(top) == null;
  }

  /** What a plan reads, its subqueries too; a reference to a definition within the plan reads nothing. */
  private static List leaves(TreeNode root) {
    List found = new ArrayList();
    IdentityHashMap visited = new IdentityHashMap();
    ArrayDeque open = new ArrayDeque();
    open.push(root);
    while (!open.isEmpty()) {
      Object node = open.pop();
      if (!(node instanceof LogicalPlan) || visited.put(node, node) != null) continue;
      boolean command = node instanceof org.apache.spark.sql.catalyst.plans.logical.Command;
      String name = Reflection.simpleName(node);
      if (!command && ((TreeNode) node).children().isEmpty() && !name.endsWith("Ref") && !name.equals("OneRowRelation")) found.add(node);
      pushAll(((TreeNode) node).children(), open);
      pushAll(Reflection.call(node, "subqueries"), open);
      if (!command) continue;
      Object[] inner = new Object[] {Reflection.call(node, "query"), Reflection.call(node, "plan"), Reflection.call(node, "source")};
      for (int i = 0; i < inner.length; i++) if (inner[i] != null) open.push(inner[i]);
    }
    return found;
  }

  private static void pushAll(Object plans, ArrayDeque open) {
    if (!(plans instanceof scala.collection.Iterable)) return;
    scala.collection.Iterator i = ((scala.collection.Iterable) plans).iterator();
    while (i.hasNext()) open.push(i.next());
  }

  private boolean writeCut(TreeNode query, List leaves) throws IOException {
    Object output = Reflection.call(query, "output");
    scala.collection.Iterator i = ((scala.collection.Iterable) output).iterator();
    while (i.hasNext()) if (writeNodes((TreeNode) i.next()) != null) return false;
    seen.put(query, Integer.valueOf(count++));
    beginNode();
    out.writeString("Cut");
    out.writeStartArray();
    for (int n = 0; n < leaves.size(); n++) out.writeNumber(((Integer) seen.get(leaves.get(n))).intValue());
    out.writeEndArray();
    out.writeStartObject(); out.writeFieldName("output"); writePositions(output); out.writeEndObject();
    out.writeStartObject(); out.writeEndObject();
    out.writeNumber(1);
    out.writeEndArray();
    return true;
  }

  private String writeNodes(TreeNode root) throws IOException {
    ArrayDeque stack = new ArrayDeque();
    stack.push(root);
    while (!stack.isEmpty()) {
      TreeNode node = (TreeNode) stack.peek();
      if (seen.containsKey(node)) { stack.pop(); continue; }
      if (isKnownAttribute(node)) { stack.pop(); continue; }
      if (isConstant(node)) { stack.pop(); writeConstant(node); continue; }
      if (expanded.put(node, Boolean.TRUE) == null && pushMissing(node, stack)) continue;
      if (node instanceof LogicalPlan && pushTold(node, stack)) continue;
      stack.pop();
      writeNode(node);
      if (count > limits.nodes) return "plan of more than " + limits.nodes + " nodes";
      if (count >= nextLook && isLate()) return "reading the plan took too long";
    }
    return null;
  }

  /** The clock is read once for some hundred nodes; constants count too, so no exact multiple can be asked for. */
  private boolean isLate() {
    nextLook = count + NODES_BETWEEN_LOOKS;
    return System.nanoTime() > deadline;
  }

  private boolean isKnownAttribute(TreeNode node) {
    if (!(node instanceof AttributeReference)) return false;
    AttributeReference attribute = (AttributeReference) node;
    Integer position = (Integer) attributes.get(key(attribute));
    if (position == null) { attributes.put(key(attribute), Integer.valueOf(count)); return false; }
    seen.put(node, position);
    return true;
  }

  private static String key(AttributeReference attribute) { return attribute.exprId().id() + " " + attribute.name(); }

  private static boolean isConstant(Object node) {
    return node instanceof Literal || node instanceof Cast && ((Cast) node).child() instanceof Literal;
  }

  /** What lineage asks of a literal: the value of an INT or a BOOLEAN, a text's number; nothing of others, and of a cast. */
  private Object constant(Object node) {
    Object value = node instanceof Literal ? ((Literal) node).value() : null;
    Object known = value != null && ((Literal) node).dataType().equals(DataTypes.StringType) ? (Object) ("literal " + literal(value)) : "";
    if (value instanceof Integer || value instanceof Boolean) known = value;
    return isParameter(node) ? Collections.singletonList(known) : known;
  }

  /** Whether a literal stands where Spark has put the value of a parameter into the text of EXECUTE IMMEDIATE: places are those behind. */
  private static boolean isParameter(Object node) {
    Origin origin = ((TreeNode) (node instanceof Cast ? ((Cast) node).child() : node)).origin();
    if (!IMMEDIATE.equals(origin.objectType()) || origin.startIndex().isEmpty()) return false;
    int place = ((Integer) origin.startIndex().get()).intValue();
    Object values = Reflection.call(Reflection.call(Reflection.call(origin, "positionMapper"), "get"), "substitutions");
    if (!(values instanceof scala.collection.Iterable)) return false;
    for (scala.collection.Iterator all = ((scala.collection.Iterable) values).iterator(); all.hasNext();) {
      Object value = all.next();
      int start = number(value, "start"), length = String.valueOf(Reflection.call(value, "replacement")).length();
      for (scala.collection.Iterator others = ((scala.collection.Iterable) values).iterator(); others.hasNext();) { // in the order of their names
        Object other = others.next();
        if (number(other, "start") < number(value, "start")) start += String.valueOf(Reflection.call(other, "replacement")).length() - number(other, "end") + number(other, "start");
      }
      if (place >= start && place < start + length) return true;
    }
    return false;
  }

  private static int number(Object value, String method) {
    Object found = Reflection.call(value, method);
    return found instanceof Integer ? ((Integer) found).intValue() : -1;
  }

  /** Equal constants are one node: in a wide projection every second one would be a literal. */
  private void writeConstant(Object node) throws IOException {
    Object key = constant(node);
    Integer position = (Integer) constants.get(key);
    if (position == null) {
      position = Integer.valueOf(count++);
      constants.put(key, position);
      Object value = key instanceof List ? ((List) key).get(0) : key;
      beginNode();
      out.writeString("Literal");
      out.writeStartArray(); out.writeEndArray();
      out.writeStartObject(); out.writeEndObject();
      out.writeStartObject();
      if (value instanceof String) { if (!value.equals("")) out.writeNumberField("literal", literal(((Literal) node).value())); }
      else { out.writeFieldName("value"); facts.writeValue(value, 0); }
      if (key instanceof List) out.writeBooleanField("parameter", true);
      out.writeEndObject();
      out.writeEndArray();
    }
    seen.put(node, position);
  }

  private int position(Object node) {
    Integer found = (Integer) seen.get(node);
    if (found == null && node instanceof AttributeReference) found = (Integer) attributes.get(key((AttributeReference) node));
    if (found == null && isConstant(node)) found = (Integer) constants.get(constant(node));
    if (found == null) throw new IllegalStateException("no place was written for " + Reflection.simpleName(node));
    return found.intValue();
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

  /** Asks an operator that tells of itself, when all that it refers to is written; the nodes that it names come before it too. */
  private boolean pushTold(TreeNode node, ArrayDeque stack) {
    if (told.containsKey(node)) return false;
    Object[] answer = ask(node);
    if (answer == null) return false;
    List delegates = (List) answer[0];
    if (coarse && !delegates.isEmpty()) return false;
    told.put(node, answer);
    boolean missing = false;
    for (int i = 0; i < delegates.size(); i++) {
      Object delegate = delegates.get(i);
      if (seen.containsKey(delegate)) continue;
      if (leadsBack(delegate)) delegates.set(i, null);
      else { stack.push(delegate); missing = true; }
    }
    return missing;
  }

  private Object[] ask(TreeNode node) {
    Object described = node;
    Object options = null;
    if (node instanceof LogicalRelation) described = Reflection.call(node, "relation");
    else if (node instanceof SaveIntoDataSourceCommand) { described = Reflection.call(node, "dataSource"); options = Reflection.call(node, "options"); }
    if (described == null) return null;
    long begun = System.nanoTime();
    Object[] answer = InterfaceCall.ask(described, session, options, Math.min(asking, limits.answer));
    long taken = System.nanoTime() - begun;
    asking -= taken / 1000000L;
    deadline += taken;
    return answer;
  }

  /** Whether a node is one of those that wait for it to be written, or has one within: no tree of Spark's own does. */
  private boolean leadsBack(Object delegate) {
    IdentityHashMap visited = new IdentityHashMap();
    ArrayDeque open = new ArrayDeque();
    open.push(delegate);
    while (!open.isEmpty()) {
      TreeNode node = (TreeNode) open.pop();
      if (seen.containsKey(node) || visited.put(node, node) != null) continue;
      if (expanded.containsKey(node) || visited.size() > limits.nodes) return true;
      references.clear();
      collect(node);
      open.addAll(references);
    }
    return false;
  }

  /** Definitions of a WithCTE come before the plan that reads them: their field is collected first. */
  private void collect(TreeNode node) {
    if (Reflection.simpleName(node).equals("WithCTE")) collectValue(Reflection.call(node, "cteDefs"));
    collectValue(node.children());
    if (node instanceof scala.Product) {
      scala.Product product = (scala.Product) node;
      String[] names = Reflection.fieldNames(node);
      for (int i = 0; i < product.productArity(); i++)
        if (isWritten(node, names[i], product.productElement(i))) collectValue(product.productElement(i));
    }
    if (node instanceof LogicalPlan) collectValue(extraOutput(node));
  }

  /** The columns of an operator that has no field for them; null when it has, or when they follow. */
  private static Object extraOutput(TreeNode node) {
    if (isPlain(node) || node instanceof Command) return null;
    String[] names = node instanceof scala.Product ? Reflection.fieldNames(node) : new String[0];
    return Arrays.asList((Object[]) names).contains("output") ? null : Reflection.call(node, "output");
  }

  /** By the full name: others may call an operator of theirs the same. */
  private static boolean isPlain(TreeNode node) {
    String name = Reflection.simpleName(node);
    return PLAIN.contains(name) && node.getClass().getName().equals(SPARKS + name);
  }

  private void collectValue(Object value) {
    if (value instanceof TreeNode) { if (isTree(value)) references.add(value); }
    else if (value instanceof scala.Option) { if (((scala.Option) value).isDefined()) collectValue(((scala.Option) value).get()); }
    else if (isSequence(value)) {
      scala.collection.Iterator i = ((scala.collection.Iterable) value).iterator();
      while (i.hasNext()) collectValue(i.next());
    } else if (Reflection.isTuple(value)) {
      scala.Product product = (scala.Product) value;
      for (int i = 0; i < product.productArity(); i++) collectValue(product.productElement(i));
    }
  }

  /** A struct type is a sequence of its fields to Scala, and a value to us. */
  private static boolean isSequence(Object value) {
    return value instanceof scala.collection.Iterable && !(value instanceof scala.collection.Map) && !(value instanceof DataType);
  }

  private static boolean isTree(Object value) { return value instanceof LogicalPlan || value instanceof Expression; }

  /** An expression's children say it all, except for the classes above and the plan of a subquery. */
  private boolean isWritten(TreeNode node, String name, Object value) {
    if (Procedures.isCall(node) || SKIPPED.contains(name) || name.equals("path") && value instanceof String) return false;
    if (node instanceof LogicalPlan || !(node instanceof Expression)) return true;
    if (node instanceof RuntimeReplaceable) return false;
    if (value instanceof LogicalPlan) return true;
    if (name.equals("dataType") || name.equals("exprId")) return (node instanceof AttributeReference || Reflection.simpleName(node).equals("QualifiedColType")) && name.equals("dataType");
    boolean tree = value instanceof TreeNode || isSequence(value) || value instanceof scala.Option && ((scala.Option) value).isDefined() && ((scala.Option) value).get() instanceof TreeNode;
    return !tree || SPLIT_EXPRESSIONS.contains(Reflection.simpleName(node));
  }

  private void writeNode(TreeNode node) throws IOException {
    seen.put(node, Integer.valueOf(count++));
    beginNode();
    out.writeString(Reflection.className(node));
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
      String[] names = Reflection.fieldNames(node);
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
    if (told.containsKey(node)) writeDelegates((List) ((Object[]) told.get(node))[0]);
    out.writeEndObject();
  }

  private void writeDelegates(List delegates) throws IOException {
    if (delegates.isEmpty()) return;
    out.writeArrayFieldStart("openlineage");
    for (int i = 0; i < delegates.size(); i++) if (delegates.get(i) == null) out.writeNull(); else out.writeNumber(position(delegates.get(i)));
    out.writeEndArray();
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
    if (value instanceof TreeNode) out.writeNumber(position(value));
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
      out.writeFieldName((String) values.get(i));
      facts.writeValue(values.get(i + 1), 0);
    }
    if (node instanceof Expression) writeExpression((Expression) node);
    else if (Reflection.simpleName(node).equals("ResolvedIdentifier")) facts.writeNamed(session, node);
    else if (Reflection.simpleName(node).equals("SaveIntoDataSourceCommand")) facts.writeSink(session, node);
    else if (isOfProgram(node)) out.writeBooleanField("program", true);
    else if (Procedures.isCall(node)) Procedures.write(out, facts, session, node);
    else if (node instanceof Command) facts.writeChanged(session, node);
    if (node instanceof LogicalPlan) facts.writeTarget(session, node);
    if (told.containsKey(node)) { out.writeFieldName("openlineage"); PLAIN_VALUES.writeValue(out, ((Object[]) told.get(node))[1]); }
    out.writeEndObject();
  }

  /** Rows that a program handed to createDataFrame; those of VALUES know the SQL that they stand in. */
  private static boolean isOfProgram(TreeNode node) {
    if (!Reflection.simpleName(node).equals("LocalRelation")) return false;
    Object rows = Reflection.call(node, "data");
    return rows instanceof scala.collection.Iterable && ((scala.collection.Iterable) rows).nonEmpty() && sqlText(node) == null;
  }

  private void writeExpression(Expression node) throws IOException {
    String name = Reflection.simpleName(node);
    if (node instanceof NamedExpression && (node instanceof AttributeReference || name.equals("Alias") || name.equals("NamedLambdaVariable"))) {
      out.writeNumberField("id", ((NamedExpression) node).exprId().id());
      if (name.equals("Alias")) { out.writeStringField("type", typeName(node)); writeSql(node); }
      else if (node instanceof AttributeReference && ((AttributeReference) node).metadata().contains("__metadata_col")) out.writeBooleanField("metadataColumn", true);
    } else if (node instanceof Cast) {
      DataType from = ((Cast) node).child().dataType();
      boolean same = DataType.equalsIgnoreNullability(from, node.dataType());
      out.writeBooleanField("same", same);
      if (!same && (from instanceof StructType || from instanceof ArrayType || from instanceof MapType)) { out.writeFieldName("leaves"); writeLeaves(from, node.dataType()); }
    } else if (node instanceof AggregateExpression) {
      if (((AggregateExpression) node).isDistinct()) out.writeBooleanField("isDistinct", true);
    } else if (node instanceof CreateNamedStruct) {
      String[] names = ((StructType) node.dataType()).fieldNames();
      out.writeArrayFieldStart("names");
      for (int i = 0; i < names.length; i++) out.writeString(names[i]);
      out.writeEndArray();
    } else if (!name.toLowerCase().equals(node.prettyName()) && !name.endsWith("Reference")) {
      out.writeStringField("function", node.prettyName());
    }
  }

  /** A number for the text of a literal, the same for the same text: the text itself is nobody's business. */
  private int literal(Object value) {
    Integer known = (Integer) literals.get(value);
    if (known == null) { known = Integer.valueOf(literals.size()); literals.put(value, known); }
    return known.intValue();
  }

  /** The leaves of a type that a cast leaves as they are: true, false, or the same of the parts. */
  private void writeLeaves(DataType from, DataType to) throws IOException {
    if (DataType.equalsIgnoreNullability(from, to)) out.writeBoolean(true);
    else if (from instanceof StructType && to instanceof StructType && ((StructType) from).length() == ((StructType) to).length()) {
      StructField[] before = ((StructType) from).fields();
      StructField[] after = ((StructType) to).fields();
      out.writeStartObject();
      out.writeArrayFieldStart("names");
      for (int i = 0; i < after.length; i++) out.writeString(after[i].name());
      out.writeEndArray();
      out.writeArrayFieldStart("fields");
      for (int i = 0; i < after.length; i++) writeLeaves(before[i].dataType(), after[i].dataType());
      out.writeEndArray();
      out.writeEndObject();
    } else if (from instanceof ArrayType && to instanceof ArrayType) writeElement(((ArrayType) from).elementType(), ((ArrayType) to).elementType());
    else if (from instanceof MapType && to instanceof MapType) writeElement(((MapType) from).valueType(), ((MapType) to).valueType());
    else out.writeBoolean(false);
  }

  private void writeElement(DataType from, DataType to) throws IOException {
    out.writeStartObject();
    out.writeFieldName("element");
    writeLeaves(from, to);
    out.writeEndObject();
  }

  private void writeSql(Expression node) throws IOException {
    if (limits.sql <= 0) return;
    try { out.writeStringField("sql", FactWriter.shorten(((Expression) Reflection.call(node, "child")).sql(), limits.sql)); }
    catch (Throwable unprintable) { }
  }

  private static String typeName(Expression node) {
    try { return node.dataType().catalogString(); } catch (Throwable unresolved) { return ""; }
  }

  /** The current catalog and database of a session, which its user may change before the plan is read. */
  public static String[] place(Object queryExecution) {
    Object state = Reflection.call(Reflection.call(queryExecution, "sparkSession"), "sessionState");
    Object current = Reflection.call(Reflection.call(Reflection.call(state, "catalogManager"), "currentCatalog"), "name");
    return new String[] {(String) current, (String) Reflection.call(Reflection.call(state, "catalog"), "getCurrentDatabase")};
  }

  /** The SQL that a plan was made from: from Spark 4.2 on the command of CREATE TABLE AS lacks it, and its query has all of it. */
  private static String statement(Object plan) {
    String text = sqlText(plan);
    if (text != null) return text;
    String whole = sqlText(Reflection.call(plan, "query"));
    return whole != null && CREATES.matcher(whole).lookingAt() ? whole : null;
  }

  private static String sqlText(Object node) {
    return (String) Reflection.unwrap(Reflection.call(Reflection.call(node, "origin"), "sqlText"));
  }

  private void writeSession(Object plan, String[] place) throws IOException {
    Object state = Reflection.call(session, "sessionState");
    Object conf = Reflection.call(state, "conf");
    out.writeObjectFieldStart("session");
    facts.writeText("id", Reflection.call(session, "sessionUUID"));
    facts.writeText("catalog", place[0]);
    facts.writeText("database", place[1]);
    facts.writeText("warehouse", Reflection.call(conf, "warehousePath"));
    facts.writeText("catalogImplementation", Reflection.call(conf, "getConfString", "spark.sql.catalogImplementation"));
    // As in SparkConfUtils of the OpenLineage integration: Spark itself knows no such key, and Hive only the second.
    Object metastore = Reflection.call(conf, "getConfString", "spark.sql.hive.metastore.uris");
    facts.writeText("metastore", metastore != null ? metastore : Reflection.call(Reflection.call(state, "newHadoopConf"), "get", "hive.metastore.uris"));
    if (Boolean.TRUE.equals(Reflection.call(conf, "caseSensitiveAnalysis"))) out.writeBooleanField("caseSensitive", true);
    if (options != null) { out.writeFieldName("options"); facts.writeValue(options, 0); }
    if (limits.sql > 0) facts.writeText("sql", Secrets.text(statement(plan)));
    out.writeEndObject();
    out.writeArrayFieldStart("output");
    Object output = Reflection.call(plan, "output");
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
}
