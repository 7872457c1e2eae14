package headwater;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * What only a table's connector knows: where a table is or will be, and which version of it is meant.
 *
 * The connectors' classes are asked by reflection: none of them has to be there, and their versions differ.
 */
public class Tables {
  private static final int MOST_WRAPPERS = 8;
  /** How the name of a commit's file in Delta's log begins: with the version that it made. */
  private static final Pattern COMMIT = Pattern.compile("(\\d{1,20})\\.");
  private static final String GENERATED = "delta.generationExpression";

  /** {place, version}: where a catalog has the table of a name, or will put it, and what it is now. It may ask a metastore. */
  public static Object[] found(Object session, Object catalog, Identifier identifier) {
    if (isOfSession(catalog)) return inSessionCatalog(session, catalog, identifier);
    return Reflection.has(catalog, "icebergCatalog") ? inIcebergCatalog(catalog, identifier) : new Object[2];
  }

  /** Whether a catalog has the tables of Spark's own catalog: Iceberg's SparkCatalog by that name has its own. */
  public static boolean isOfSession(Object catalog) {
    return "spark_catalog".equals(Reflection.call(catalog, "name")) && !"org.apache.iceberg.spark.SparkCatalog".equals(catalog.getClass().getName());
  }

  private static Object[] inSessionCatalog(Object session, Object catalog, Identifier identifier) {
    Object tables = Reflection.call(Reflection.call(session, "sessionState"), "catalog");
    String[] namespace = identifier.namespace();
    scala.Option database = namespace.length == 1 ? new scala.Some(namespace[0]) : scala.Option.empty();
    TableIdentifier name = new TableIdentifier(identifier.name(), database);
    Object known = Reflection.call(tables, "getTableMetadata", name);
    Object place = Reflection.unwrap(Reflection.call(Reflection.call(known, "storage"), "locationUri"));
    boolean delta = "delta".equals(Reflection.unwrap(Reflection.call(known, "provider")));
    Object version = delta ? Reflection.call(deltaSnapshot(session, catalog, String.valueOf(place)), "version") : null;
    return new Object[] {place != null ? place : Reflection.call(tables, "defaultTablePath", name), version};
  }

  /** Asked below the cache of tables: what we look up must not be what the job reads later. */
  private static Object[] inIcebergCatalog(Object catalog, Identifier identifier) {
    try {
      Object inner = uncached(catalog);
      Object name = icebergName(inner, identifier);
      Object known = Reflection.call(inner, "loadTable", name);
      if (known == null) return new Object[] {inherited(inner, "defaultWarehouseLocation", name.getClass()).invoke(inner, new Object[] {name}), null};
      return new Object[] {Reflection.call(known, "location"), Reflection.call(Reflection.call(known, "currentSnapshot"), "snapshotId")};
    } catch (Throwable unlike) { return new Object[2]; }
  }

  /** The table of an Iceberg catalog, asked for below the cache; null when there is none. */
  public static Object inIceberg(Object catalog, Identifier identifier) {
    try {
      Object inner = uncached(catalog);
      return Reflection.call(inner, "loadTable", icebergName(inner, identifier));
    } catch (Throwable unlike) { return null; }
  }

  /** The columns of an Iceberg table in Spark's types; null of none. */
  public static Object schemaOfIceberg(Object catalog, Object table) {
    try {
      Object schema = Reflection.call(table, "schema");
      Class utility = catalog.getClass().getClassLoader().loadClass("org.apache.iceberg.spark.SparkSchemaUtil");
      return utility.getMethod("convert", new Class[] {schema.getClass()}).invoke(null, new Object[] {schema});
    } catch (Throwable unlike) { return null; }
  }

  private static Object uncached(Object catalog) {
    Object inner = Reflection.call(catalog, "icebergCatalog");
    for (int i = 0; i < MOST_WRAPPERS && Reflection.field(inner, "catalog") != null; i++) inner = Reflection.field(inner, "catalog");
    return inner;
  }

  private static Object icebergName(Object catalog, Identifier identifier) throws Exception {
    String[] namespace = identifier.namespace();
    String[] parts = new String[namespace.length + 1];
    System.arraycopy(namespace, 0, parts, 0, namespace.length);
    parts[namespace.length] = identifier.name();
    Class type = catalog.getClass().getClassLoader().loadClass("org.apache.iceberg.catalog.TableIdentifier");
    return type.getMethod("of", new Class[] {String[].class}).invoke(null, new Object[] {parts});
  }

  /** True for Iceberg's tables about a table: its snapshots, its files. */
  public static boolean isMetadata(Object table) {
    for (Class type = table == null ? null : table.getClass(); type != null; type = type.getSuperclass())
      if (type.getName().equals("org.apache.iceberg.BaseMetadataTable")) return true;
    return false;
  }

  private static Method inherited(Object value, String name, Class argument) throws NoSuchMethodException {
    for (Class type = value.getClass(); type != null; type = type.getSuperclass()) {
      try {
        Method method = type.getDeclaredMethod(name, new Class[] {argument});
        method.setAccessible(true);
        return method;
      } catch (NoSuchMethodException higher) { }
    }
    throw new NoSuchMethodException(name);
  }

  /** The version of a table that a plan was made for, as its connector counts: a snapshot id, a number; null without versions. */
  public static Object version(Object table) {
    Object snapshot = Reflection.call(table, "initialSnapshot");
    if (snapshot != null) return Reflection.call(snapshot, "version");
    Object fixed = Reflection.call(table, "snapshotId");
    if (fixed != null) return fixed;
    Object iceberg = Reflection.call(table, "table");
    if (!Reflection.has(iceberg, "currentSnapshot")) return Reflection.call(table, "version");
    Object ofBranch = snapshot(iceberg, Reflection.call(table, "branch"));
    return Reflection.call(ofBranch != null ? ofBranch : Reflection.call(iceberg, "currentSnapshot"), "snapshotId");
  }

  /**
   * The version of a relation of the v1 API that a query reads which Spark began to optimize at a time in milliseconds.
   *
   * Delta's index of files holds the snapshot of its analysis, which a frame that is kept can be older than: unless a
   * version was asked for, Delta reads what is committed when the query is optimized (TahoeLogFileIndex.getSnapshotToScan).
   */
  public static Object versionOfFiles(Object index, long optimized) {
    Object snapshot = Reflection.call(index, "snapshotAtAnalysis");
    if (snapshot == null) return Reflection.call(Reflection.call(index, "snapshot"), "version");
    Object analyzed = Reflection.call(snapshot, "version");
    if (!(analyzed instanceof Long) || !Boolean.FALSE.equals(Reflection.call(index, "isTimeTravelQuery"))) return analyzed;
    Object last = Reflection.call(Reflection.call(index, "deltaLog"), "unsafeVolatileSnapshot");
    return Long.valueOf(Math.max(((Long) analyzed).longValue(), committed(last, optimized)));
  }

  /** The last version of a Delta table whose commit was there at a time in milliseconds, by the files that a snapshot of it was made from; -1 where these do not say. */
  private static long committed(Object snapshot, long time) {
    Object commits = Reflection.call(Reflection.call(snapshot, "logSegment"), "deltas");
    long version = -1;
    if (!(commits instanceof scala.collection.Iterable)) return version;
    for (scala.collection.Iterator files = ((scala.collection.Iterable) commits).iterator(); files.hasNext();) {
      FileStatus file = (FileStatus) files.next();
      Matcher number = COMMIT.matcher(file.getPath().getName());
      if (file.getModificationTime() <= time && number.lookingAt()) version = Math.max(version, Long.parseLong(number.group(1)));
    }
    return version;
  }

  /** The last snapshot that this JVM has of the Delta table at the path among a write's options; null for other sources, and where there is no table yet. */
  public static Object deltaSnapshot(Object session, Object source, Object options) {
    if (!Reflection.simpleName(source).equals("DeltaDataSource")) return null;
    return deltaSnapshot(session, source, (String) Reflection.unwrap(((scala.collection.Map) options).get("path")));
  }

  /** The last snapshot of the Delta table at a path; ``delta`` is any object of Delta's. */
  public static Object deltaSnapshot(Object session, Object delta, String path) {
    try {
      Class logs = delta.getClass().getClassLoader().loadClass("org.apache.spark.sql.delta.DeltaLog");
      Class sessions = delta.getClass().getClassLoader().loadClass("org.apache.spark.sql.SparkSession");
      Object log = logs.getMethod("forTable", new Class[] {sessions, String.class}).invoke(null, new Object[] {session, path});
      Object snapshot = Reflection.call(log, "unsafeVolatileSnapshot");
      return isVersion(Reflection.call(snapshot, "version")) ? snapshot : null;
    } catch (Throwable unlike) { return null; }
  }

  /**
   * The version that a table has after a command, and the one before it: {"5", "4"}, {"0", ""}; null where it is not in memory.
   * Of Iceberg's tables the report of the commit comes third.
   *
   * Called when the command has ended, on the thread of the listener: it reads fields, and no file.
   */
  public static String[] written(Object command) {
    Object table = Reflection.has(command, "sourceTable") ? Reflection.call(command, "sourceTable") : target(command);
    Object log = Reflection.call(table, "deltaLog");
    if (log != null) return ofDelta(Reflection.call(log, "unsafeVolatileSnapshot"));
    return ofIceberg(Reflection.call(table, "table"), Reflection.call(table, "branch"));
  }

  /** What written() gives, for a command that only knows the name or the path of its table; it asks the catalog. */
  public static String[] created(Object session, Object command) {
    Object source = Reflection.call(command, "dataSource");
    if (source != null) return ofDelta(deltaSnapshot(session, source, Reflection.call(command, "options")));
    if (Reflection.has(command, "existingTableOpt")) return ofDelta(clone(session, command));
    Object name = Reflection.call(command, "name");
    Object catalog = Reflection.call(name, "catalog");
    Object identifier = Reflection.call(name, "identifier");
    if (!(identifier instanceof Identifier)) return null;
    try {
      if (Reflection.has(catalog, "icebergCatalog") && !isOfSession(catalog)) {
        Object inner = uncached(catalog);
        return ofIceberg(Reflection.call(inner, "loadTable", icebergName(inner, (Identifier) identifier)), null);
      }
      if (!"delta".equals(Reflection.unwrap(Reflection.call(Reflection.call(command, "tableSpec"), "provider")))) return null;
      String path = ((Identifier) identifier).name();
      Object place = path.startsWith("/") ? path : found(session, catalog, (Identifier) identifier)[0];
      return ofDelta(deltaSnapshot(session, catalog, String.valueOf(place)));
    } catch (Throwable unlike) { return null; }
  }

  /** The last snapshot that this JVM has of the table that Delta's CLONE makes. */
  private static Object clone(Object session, Object command) {
    Object table = Reflection.call(command, "table");
    Object place = Reflection.unwrap(Reflection.call(Reflection.call(table, "storage"), "locationUri"));
    if (place == null) place = Reflection.call(Reflection.call(Reflection.call(session, "sessionState"), "catalog"), "defaultTablePath", Reflection.call(table, "identifier"));
    return deltaSnapshot(session, command, String.valueOf(place));
  }

  /** The version that the table of Delta's CLONE or RESTORE has now; null of other commands, and where there is none yet. */
  public static Object current(Object session, Object command) {
    String name = Reflection.simpleName(command);
    String[] found = null;
    if (name.equals("RestoreTableCommand")) found = written(command);
    else if (name.equals("CreateDeltaTableCommand")) found = created(session, command);
    return found == null ? null : found[0];
  }

  /** The columns that a table has when Delta's CONVERT or RESTORE has ended; null of other commands. */
  public static Object schema(Object session, Object command, Object table) {
    String name = Reflection.simpleName(command);
    if (name.equals("RestoreTableCommand")) return Reflection.call(Reflection.call(command, "sourceTable"), "schema");
    if (!name.equals("ConvertToDeltaCommand")) return null;
    Object place = Reflection.unwrap(Reflection.call(Reflection.call(table, "storage"), "locationUri"));
    if (place == null) place = Reflection.unwrap(Reflection.call(command, "deltaPath"));
    if (place == null) place = Reflection.call(Reflection.call(command, "tableIdentifier"), "table");
    return Reflection.call(Reflection.call(deltaSnapshot(session, command, String.valueOf(place)), "metadata"), "schema");
  }

  /** Of a table that is not there Delta has a snapshot too, by the version -1. */
  private static boolean isVersion(Object version) { return version instanceof Long && ((Long) version).longValue() >= 0; }

  private static String[] ofDelta(Object snapshot) {
    Object version = Reflection.call(snapshot, "version");
    if (!isVersion(version)) return null;
    long number = ((Long) version).longValue();
    return new String[] {String.valueOf(number), number == 0 ? "" : String.valueOf(number - 1)};
  }

  /** A branch has snapshots of its own; one that is staged (write-audit-publish) is on no branch yet. */
  private static String[] ofIceberg(Object table, Object branch) {
    Object snapshot = snapshot(table, branch);
    if (snapshot == null || branch == null && isStaged(table, snapshot)) return null;
    Object parent = Reflection.call(snapshot, "parentId");
    return new String[] {String.valueOf(Reflection.call(snapshot, "snapshotId")), parent == null ? "" : String.valueOf(parent), IcebergReports.commit(snapshot)};
  }

  private static Object snapshot(Object table, Object branch) {
    return branch == null ? Reflection.call(table, "currentSnapshot") : Reflection.call(table, "snapshot", branch);
  }

  /** Whether the last write to a table that takes staged writes has left its current snapshot as it was. */
  private static boolean isStaged(Object table, Object current) {
    Object properties = Reflection.call(table, "properties");
    if (!(properties instanceof Map) || !"true".equals(((Map) properties).get("write.wap.enabled"))) return false;
    Object last = null;
    java.util.Iterator i = ((Iterable) Reflection.call(table, "snapshots")).iterator();
    while (i.hasNext()) last = i.next();
    return !current.equals(last);
  }

  /** Those that a streaming query's writer was given. One with a continuous trigger keeps none: of Kafka its writer has topic and broker; null of others. */
  public static Object options(Object query) {
    Object options = Reflection.field(query, "extraOptions");
    if (options instanceof scala.collection.Map) return options;
    Object write = Reflection.call(Reflection.field(query, "logicalPlan"), "write");
    Object producer = Reflection.field(write, "producerParams");
    if (!(producer instanceof Map)) return null;
    Map found = new LinkedHashMap();
    found.put("kafka.bootstrap.servers", String.valueOf(((Map) producer).get("bootstrap.servers")));
    Object topic = Reflection.unwrap(Reflection.field(write, "topic"));
    if (topic != null) found.put("topic", topic);
    return new CaseInsensitiveStringMap(found);
  }

  /** The table that a command changes: of a relation of the v2 API, or the index of files of Delta's v1 relation. */
  private static Object target(Object command) {
    String[] names = new String[] {"originalTable", "table", "target"};
    for (int i = 0; i < names.length; i++) {
      Object node = Reflection.call(command, names[i]);
      while (node instanceof TreeNode && !((TreeNode) node).children().isEmpty()) node = ((TreeNode) node).children().head();
      if (!(node instanceof TreeNode)) continue;
      Object files = Reflection.call(Reflection.call(node, "relation"), "location");
      Object table = files != null ? files : Reflection.call(node, "table");
      if (table != null) return Reflection.call(table, "operation") != null ? Reflection.call(table, "table") : table;
    }
    return null;
  }

  /** The generated columns of a Delta table and the SQL of each; the schema that a plan shows is without them. */
  public static Map generated(Object snapshot) {
    Map found = new LinkedHashMap();
    Object schema = Reflection.call(Reflection.call(snapshot, "metadata"), "schema");
    StructField[] fields = schema instanceof StructType ? ((StructType) schema).fields() : new StructField[0];
    for (int i = 0; i < fields.length; i++)
      if (fields[i].metadata().contains(GENERATED)) found.put(fields[i].name(), fields[i].metadata().getString(GENERATED));
    return found;
  }
}
