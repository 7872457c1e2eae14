package headwater;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import com.fasterxml.jackson.core.JsonGenerator;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.types.StructType;

/**
 * A procedure of a catalog that a program has called: its name, and the tables that its arguments name.
 *
 * Spark 4 runs a procedure while it analyzes CALL, and no execution is posted; before, Iceberg has a command for it.
 */
public class Procedures {
  /** Arguments that name a table or a place; every other one but the number of a snapshot stays in the JVM. */
  private static final Set TABLES = new HashSet(Arrays.asList(new Object[] {"table", "source_table"}));
  /** Formats of files that stand for a database before a path. */
  private static final Set FORMATS = new HashSet(Arrays.asList(new Object[] {"parquet", "orc", "avro"}));
  private static final String SUFFIX = "Procedure";

  public static boolean isCall(Object plan) { return Reflection.simpleName(plan).equals("Call"); }

  /** Writes {"name": [parts], "catalog": facts, "table": facts, "source_table": facts, "snapshot_id": text}. */
  public static void write(JsonGenerator out, FactWriter facts, Object session, Object call) throws IOException {
    Object state = Reflection.call(session, "sessionState");
    List name = new ArrayList();
    Object catalog = catalog(state, call, name);
    out.writeObjectFieldStart("call");
    out.writeFieldName("name"); out.writeStartArray();
    for (int i = 0; i < name.size(); i++) out.writeString((String) name.get(i));
    out.writeEndArray();
    out.writeFieldName("catalog"); facts.writeValue(catalog, 0);
    Object[] parameters = parameters(catalog, call, name);
    scala.collection.Iterator arguments = ((scala.collection.Iterable) Reflection.call(call, "args")).iterator();
    for (int i = 0; arguments.hasNext(); i++) writeArgument(out, facts, state, catalog, arguments.next(), i < parameters.length ? parameters[i] : null);
    out.writeEndObject();
  }

  /** The catalog of a procedure; its name goes into ``name``. */
  private static Object catalog(Object state, Object call, List name) {
    Object procedure = Reflection.call(call, "procedure");
    Object parts = Reflection.call(procedure, "nameParts");
    Object catalogs = Reflection.call(state, "catalogManager");
    if (!(parts instanceof scala.collection.Iterable)) {
      name.add(named(Reflection.simpleName(procedure)));
      return Reflection.field(procedure, "tableCatalog");
    }
    scala.collection.Iterator i = ((scala.collection.Iterable) parts).iterator();
    while (i.hasNext()) name.add(i.next());
    boolean known = name.size() > 1 && Boolean.TRUE.equals(Reflection.call(catalogs, "isCatalogRegistered", name.get(0)));
    return loaded(catalogs, known ? name.remove(0) : Reflection.call(Reflection.call(catalogs, "currentCatalog"), "name"));
  }

  /** A catalog as the call has loaded it: on a thread without a session the manager has Spark's own for the session's. */
  private static Object loaded(Object catalogs, Object name) {
    Object known = Reflection.field(catalogs, "catalogs");
    Object found = known instanceof scala.collection.Map ? Reflection.unwrap(((scala.collection.Map) known).get(name)) : null;
    return found != null ? found : Reflection.call(catalogs, "catalog", name);
  }

  /** AddFilesProcedure is add_files: the command of Spark 3.5 has the procedure and not its name. */
  private static String named(String type) {
    String words = type.endsWith(SUFFIX) ? type.substring(0, type.length() - SUFFIX.length()) : type;
    return words.replaceAll("(?<=[a-z])(?=[A-Z])", "_").toLowerCase();
  }

  /** The parameters in order, which arguments without a name go by; none where only binding would name them. */
  private static Object[] parameters(Object catalog, Object call, List name) {
    Object procedure = Reflection.call(call, "procedure");
    if (Reflection.has(procedure, "nameParts")) {
      procedure = Reflection.call(catalog, "loadProcedure", identifier(name));
    }
    Object found = Reflection.call(procedure, "parameters");
    return found instanceof Object[] ? (Object[]) found : new Object[0];
  }

  private static void writeArgument(JsonGenerator out, FactWriter facts, Object state, Object catalog, Object argument, Object parameter) throws IOException {
    Object key = Reflection.call(argument, "key");
    String name = String.valueOf(key != null ? key : Reflection.call(parameter, "name"));
    Object value = key != null ? Reflection.call(argument, "value") : argument;
    if (!(value instanceof Literal) || ((Literal) value).value() == null) return;
    if (name.equals("snapshot_id")) facts.writeText(name, ((Literal) value).value());
    if (!TABLES.contains(name)) return;
    List parts = parts(state, ((Literal) value).value().toString());
    out.writeObjectFieldStart(name);
    if (name.equals("table")) writeTarget(out, facts, catalog, parts); else writeSource(out, facts, state, parts);
    out.writeEndObject();
  }

  /** Janino calls no static method of an interface. */
  private static Identifier identifier(List parts) {
    String[] namespace = (String[]) parts.subList(0, parts.size() - 1).toArray(new String[0]);
    try { return (Identifier) Identifier.class.getMethod("of", new Class[] {String[].class, String.class}).invoke(null, new Object[] {namespace, parts.get(parts.size() - 1)}); }
    catch (Exception never) { throw new IllegalStateException(never); }
  }

  private static List parts(Object state, String text) {
    List found = new ArrayList();
    Object parsed = Reflection.call(Reflection.call(state, "sqlParser"), "parseMultipartIdentifier", text);
    if (!(parsed instanceof scala.collection.Iterable)) return found;
    scala.collection.Iterator i = ((scala.collection.Iterable) parsed).iterator();
    while (i.hasNext()) found.add(i.next());
    return found;
  }

  /** The table that a procedure changes, as its catalog has it now; the catalog may stand before its name. */
  private static void writeTarget(JsonGenerator out, FactWriter facts, Object catalog, List parts) throws IOException {
    if (parts.size() > 1 && parts.get(0).equals(Reflection.call(catalog, "name"))) parts = parts.subList(1, parts.size());
    if (parts.isEmpty()) return;
    Identifier identifier = identifier(parts);
    out.writeFieldName("identifier"); facts.writeValue(identifier, 0);
    Object table = Tables.inIceberg(catalog, identifier);
    facts.writePlace("location", Reflection.call(table, "location"));
    facts.writeText("version", Reflection.call(Reflection.call(table, "currentSnapshot"), "snapshotId"));
    writeColumns(out, facts, Tables.schemaOfIceberg(catalog, table));
  }

  /** A table of the session's catalog, or files by ``format.`path```. */
  private static void writeSource(JsonGenerator out, FactWriter facts, Object state, List parts) throws IOException {
    if (parts.size() < 2) { if (!parts.isEmpty()) writeKnown(out, facts, state, new TableIdentifier((String) parts.get(0))); return; }
    String last = (String) parts.get(parts.size() - 1);
    TableIdentifier name = new TableIdentifier(last, new scala.Some(parts.get(parts.size() - 2)));
    boolean known = last.indexOf('/') < 0 && Reflection.call(Reflection.call(state, "catalog"), "getTableMetadata", name) != null;
    if (last.indexOf('/') >= 0 || !known && FORMATS.contains(parts.get(0))) facts.writePlace("path", facts.place(last));
    else writeKnown(out, facts, state, name);
  }

  private static void writeKnown(JsonGenerator out, FactWriter facts, Object state, TableIdentifier name) throws IOException {
    Object table = Reflection.call(Reflection.call(state, "catalog"), "getTableMetadata", name);
    if (table == null) return;
    out.writeFieldName("catalogTable"); facts.writeValue(table, 0);
    writeColumns(out, facts, Reflection.call(table, "schema"));
  }

  private static void writeColumns(JsonGenerator out, FactWriter facts, Object schema) throws IOException {
    if (!(schema instanceof StructType)) return;
    out.writeFieldName("columns"); facts.writeItems(((StructType) schema).iterator(), 0);
  }
}
