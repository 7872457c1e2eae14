package headwater;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import com.fasterxml.jackson.core.JsonGenerator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Writes values that are no nodes: texts, numbers, sequences, and what is worth knowing of tables, paths and relations. */
public class FactWriter {
  private static final int LONGEST_TEXT = 32768;
  private static final int DEEPEST = 6;
  private static final int MOST_DROPPED = 1000;
  /** Option keys that say where data is; every other value may be a secret and stays in the JVM. */
  private static final Set PLACES = new HashSet(Arrays.asList(new Object[] {
    "path", "paths", "url", "dbtable", "table", "topic", "subscribe", "subscribepattern", "assign", "kafka.bootstrap.servers", "checkpointlocation", "header", "host", "endpoint", "database", "collection"}));

  private final JsonGenerator out;
  private final Map positions;
  private final Object state;
  private final Object catalog;
  private final Object conf;
  private final long optimized;

  /** Writes to ``out``; ``positions`` has the place of each node in the table, ``state`` is the session's, ``optimized`` when Spark began to optimize the query. */
  public FactWriter(JsonGenerator out, Map positions, Object state, long optimized) {
    this.out = out;
    this.positions = positions;
    this.state = state;
    this.catalog = Reflection.call(state, "catalog");
    this.conf = Reflection.call(state, "conf");
    this.optimized = optimized;
  }

  /** Any value: as itself where JSON has it, as facts where it is an object worth knowing, else by its class. */
  public void writeValue(Object value, int depth) throws IOException {
    if (value == null || depth > DEEPEST) out.writeNull();
    else if (value instanceof String) out.writeString(shorten((String) value, LONGEST_TEXT));
    else if (value instanceof Boolean) out.writeBoolean(((Boolean) value).booleanValue());
    else if (value instanceof Integer || value instanceof Long || value instanceof Short) out.writeNumber(((Number) value).longValue());
    else if (positions.containsKey(value)) { out.writeStartObject(); out.writeNumberField("$", ((Integer) positions.get(value)).intValue()); out.writeEndObject(); }
    else if (value instanceof ExprId) out.writeNumber(((ExprId) value).id());
    else if (value instanceof DataType) out.writeString(shorten(((DataType) value).catalogString(), LONGEST_TEXT));
    else if (value instanceof scala.Option) writeValue(((scala.Option) value).isDefined() ? ((scala.Option) value).get() : null, depth);
    else if (value instanceof scala.collection.Map) writeOptions((scala.collection.Map) value);
    else if (value instanceof CaseInsensitiveStringMap) writeOptions((CaseInsensitiveStringMap) value);
    else if (value instanceof scala.collection.Iterable) writeItems(((scala.collection.Iterable) value).iterator(), depth);
    else if (Reflection.isTuple(value)) writeItems(((scala.Product) value).productIterator(), depth);
    else if (value instanceof Enum) out.writeString(((Enum) value).name());
    else writeObject(value, depth);
  }

  public void writeItems(scala.collection.Iterator items, int depth) throws IOException {
    out.writeStartArray();
    while (items.hasNext()) writeValue(items.next(), depth + 1);
    out.writeEndArray();
  }

  private void writeOptions(scala.collection.Map options) throws IOException {
    out.writeStartObject();
    scala.collection.Iterator i = options.iterator();
    while (i.hasNext()) {
      scala.Product entry = (scala.Product) i.next();
      writeOption(String.valueOf(entry.productElement(0)), entry.productElement(1));
    }
    out.writeEndObject();
  }

  private void writeOptions(CaseInsensitiveStringMap options) throws IOException {
    out.writeStartObject();
    java.util.Iterator i = options.entrySet().iterator();
    while (i.hasNext()) {
      Map.Entry entry = (Map.Entry) i.next();
      writeOption((String) entry.getKey(), entry.getValue());
    }
    out.writeEndObject();
  }

  private void writeOption(String key, Object value) throws IOException {
    if (PLACES.contains(key.toLowerCase())) out.writeStringField(key, Secrets.place(String.valueOf(value)));
    else out.writeNullField(key);
  }

  private void writeObject(Object value, int depth) throws IOException {
    String name = Reflection.simpleName(value);
    if (name.equals("TableIdentifier") || name.equals("AliasIdentifier") || name.equals("FunctionIdentifier")) writeIdentifier(value);
    else if (name.equals("Path") || name.equals("URI")) out.writeString(Secrets.place(value.toString()));
    else if (name.endsWith("$")) out.writeString(name.substring(0, name.length() - 1));
    else if (name.equals("CommonExpressionId")) out.writeNumber(((Number) Reflection.call(value, "id")).longValue());
    else {
      out.writeStartObject();
      out.writeStringField("class", Reflection.className(value));
      writeFacts(value, name);
      out.writeEndObject();
    }
  }

  private void writeIdentifier(Object identifier) throws IOException {
    out.writeStartArray();
    String[] parts = new String[] {"catalog", "database", "table", "identifier", "funcName", "name"};
    Set written = new HashSet();
    for (int i = 0; i < parts.length; i++) {
      Object part = Reflection.unwrap(Reflection.call(identifier, parts[i]));
      if (part instanceof String && !(i > 2 && !written.isEmpty() && written.contains(part))) { out.writeString((String) part); written.add(part); }
    }
    out.writeEndArray();
  }

  private void writeFacts(Object value, String name) throws IOException {
    if (name.equals("CatalogTable")) writeCatalogTable(value);
    else if (name.equals("CatalogStorageFormat")) writeStorage(value);
    else if (Reflection.has(value, "location") && Reflection.has(value, "fileFormat")) writeFiles(value);
    else if (Reflection.has(value, "jdbcOptions")) { writeJdbc(Reflection.call(value, "jdbcOptions")); writePredicates(value); }
    else if (name.equals("DataSource")) writeDataSource(value);
    else if (name.equals("KafkaRelation")) { out.writeFieldName("options"); writeValue(Reflection.field(value, "sourceOptions"), 0); }
    else if (name.endsWith("Sink")) writeStreamSink(value, name);
    else if (value instanceof org.apache.spark.sql.connector.catalog.Table) writeTableV2(value);
    else if (value instanceof org.apache.spark.sql.connector.catalog.CatalogPlugin) writeCatalog(value, name);
    else if (value instanceof Identifier) writeIdentifierV2(value);
    else if (name.equals("CDCReader$DeltaCDFRelation")) writeChanges(value);
    else if (Reflection.has(value, "dataPath") && Reflection.has(value, "timeTravelOpt")) writeCloned(value);
    else if (name.equals("StructField") || name.equals("QualifiedColType")) writeColumn(value);
    else if (name.equals("DropField")) writeText("name", Reflection.call(value, "name"));
    else if (value instanceof org.apache.spark.rdd.RDD) Origins.write(out, (org.apache.spark.rdd.RDD) value);
    else if (name.equals("TableSpec") || name.equals("UnresolvedTableSpec")) writeTableSpec(value);
  }

  /** The folder that a statement writes to: Spark gives the location as a URI, with letters escaped. */
  private void writeStorage(Object storage) throws IOException {
    Object location = Reflection.unwrap(Reflection.call(storage, "locationUri"));
    writePlace("location", location instanceof URI ? folder((URI) location) : location);
    writeText("serde", Reflection.unwrap(Reflection.call(storage, "serde")));
    writeText("header", Targets.option(Reflection.call(storage, "properties"), "header"));
  }

  /** A column, or a field within one: its path and name, and its type. */
  private void writeColumn(Object column) throws IOException {
    Object name = Reflection.call(column, "name");
    out.writeFieldName("name"); writeValue(name, 0);
    out.writeFieldName("type"); writeValue(Reflection.call(column, "dataType"), 0);
  }

  /** What the catalogs know of the table that a command changes, under "changed" with its columns, or under "renamed". */
  public void writeChanged(Object session, Object command) throws IOException {
    Object table = Altered.changed(command, catalog);
    Object renamed = table == null ? Altered.renamed(command, catalog) : null;
    if (renamed != null) { out.writeFieldName("renamed"); writeValue(renamed, 0); table = renamed; }
    else if (Reflection.has(table, "currentSnapshot")) writeIceberg(table);
    else if (table != null) { out.writeFieldName("changed"); writeValue(table, 0); }
    StructType columns = Altered.isMade(command) ? Altered.declared(command) : null;
    Object schema = Tables.schema(session, command, table);
    if (schema == null) schema = Reflection.call(table, "schema");
    if (columns == null && schema instanceof StructType) columns = (StructType) schema;
    if (columns != null) { out.writeFieldName("columns"); writeItems(columns.iterator(), 0); }
    String files = Altered.loaded(command);
    if (files != null) writePlace("files", files);
    writeText("current", Tables.current(session, command));
    writeDropped(Before.dropped(Leaving.reading()));
    if (Reflection.simpleName(command).equals("TruncateTableCommand")) writePartition(Reflection.unwrap(Reflection.call(command, "partitionSpec")));
  }

  /** Tables of a database; how many more there are of them than a statement is told with. */
  private void writeDropped(List tables) throws IOException {
    if (tables == null) return;
    out.writeArrayFieldStart("dropped");
    for (int i = 0; i < tables.size() && i < MOST_DROPPED; i++) writeValue(tables.get(i), 0);
    out.writeEndArray();
    if (tables.size() > MOST_DROPPED) out.writeNumberField("droppedMore", tables.size() - MOST_DROPPED);
  }

  /** The values of a partition: they are a part of the statement's text. */
  private void writePartition(Object values) throws IOException {
    if (!(values instanceof scala.collection.Map)) return;
    out.writeObjectFieldStart("emptied");
    scala.collection.Iterator i = ((scala.collection.Map) values).iterator();
    while (i.hasNext()) { scala.Product entry = (scala.Product) i.next(); writeText(String.valueOf(entry.productElement(0)), entry.productElement(1)); }
    out.writeEndObject();
  }

  private void writeIceberg(Object table) throws IOException {
    out.writeObjectFieldStart("changed");
    writePlace("location", Reflection.call(table, "location"));
    out.writeEndObject();
  }

  /** What a stream reads by the v1 API. */
  private void writeDataSource(Object source) throws IOException {
    writeText("format", Reflection.call(source, "className"));
    writeKnownTable(source, "catalogTable");
    Object path = Reflection.unwrap(Reflection.call(Reflection.field(source, "caseInsensitiveOptions"), "get", "path"));
    writePlace("path", qualified(path, Reflection.call(source, "sparkSession")));
    Object options = Reflection.call(source, "options");
    if (options != null) { out.writeFieldName("options"); writeValue(options, 0); }
    Object partitions = Reflection.call(Reflection.call(source, "sourceInfo"), "partitionColumns");
    if (partitions != null) { out.writeFieldName("partitions"); writeValue(partitions, 0); }
  }

  /** What a stream writes to by the v1 API; one in memory goes by its identity, which the table that shows it has too. */
  private void writeStreamSink(Object sink, String name) throws IOException {
    writeKnownTable(sink, "catalogTable");
    writePlace("path", qualified(Reflection.field(sink, "path"), Reflection.field(sink, "sparkSession")));
    Object format = Reflection.field(sink, "fileFormat");
    if (format != null) {
      writeText("format", Reflection.simpleName(format));
      writeText("header", Targets.option(Reflection.field(sink, "options"), "header"));
      out.writeFieldName("partitions"); writeValue(Reflection.field(sink, "partitionColumnNames"), 0);
    }
    if (name.equals("MemorySink")) out.writeNumberField("memory", System.identityHashCode(sink));
  }

  /** The table of the session's catalog that something stands for, if any. */
  private void writeKnownTable(Object value, String method) throws IOException {
    Object table = Reflection.unwrap(Reflection.call(value, method));
    if (table != null) { out.writeFieldName("catalogTable"); writeValue(table, 0); }
  }

  /** A path as Hadoop names it: a stream, and who reads its files, keep the one that the user gave, without a scheme or relative. */
  private static Object qualified(Object path, Object session) {
    return path == null ? null : onDefault(new Path(String.valueOf(path)), Reflection.call(session, "sessionState"));
  }

  /** A path on the session's default file system, from its working directory on; as it is where it has a scheme. */
  private static Path onDefault(Path given, Object state) {
    if (given.toUri().getScheme() != null) return given;
    try {
      return given.getFileSystem((Configuration) Reflection.call(state, "newHadoopConf")).makeQualified(given);
    } catch (Throwable unreachable) { return given; }
  }

  /** The path of a URI; one of LOCAL DIRECTORY may be relative, "file:out", which Hadoop makes no path of. */
  private Object folder(URI location) {
    if (!location.isOpaque()) return onDefault(new Path(location), state);
    if (!"file".equals(location.getScheme())) return location;
    try {
      Path here = FileSystem.getLocal((Configuration) Reflection.call(state, "newHadoopConf")).getWorkingDirectory();
      return new Path(here, location.getSchemeSpecificPart());
    } catch (Throwable unreachable) { return location; }
  }

  /** A path as the session's default file system has it. */
  public Object place(String path) { return onDefault(new Path(path), state); }

  /** The location of a table that is not made yet: a relative one is below its database (SessionCatalog.makeQualifiedTablePath). */
  private Object located(Object location, Object identifier) {
    if (!(location instanceof URI) || ((URI) location).isOpaque() || ((URI) location).getScheme() != null) return location;
    try {
      Path given = new Path((URI) location);
      if (given.isAbsolute()) return onDefault(given, state).toUri();
      return new Path(new Path((URI) Reflection.call(catalog, "defaultTablePath", identifier)).getParent(), given).toUri();
    } catch (Throwable unknown) { return location; }
  }

  private void writeCatalogTable(Object table) throws IOException {
    Object identifier = Reflection.call(table, "identifier");
    out.writeFieldName("identifier"); writeIdentifier(identifier);
    writeText("kind", Reflection.call(Reflection.call(table, "tableType"), "name"));
    writeText("provider", Reflection.unwrap(Reflection.call(table, "provider")));
    Object location = Reflection.unwrap(Reflection.call(Reflection.call(table, "storage"), "locationUri"));
    if (location == null && "MANAGED".equals(Reflection.call(Reflection.call(table, "tableType"), "name"))) location = Reflection.call(catalog, "defaultTablePath", identifier);
    writePlace("location", located(location, identifier));
    writeText("serde", Reflection.unwrap(Reflection.call(Reflection.call(table, "storage"), "serde")));
    out.writeFieldName("partitions"); writeValue(Reflection.call(table, "partitionColumnNames"), 0);
    Object options = Reflection.call(Reflection.call(table, "storage"), "properties");
    writeText("header", Targets.option(options, "header"));
    if (options instanceof scala.collection.Map && ((scala.collection.Map) options).contains("url")) { out.writeFieldName("options"); writeOptions((scala.collection.Map) options); }
  }

  /** A catalog by its name and by where it keeps its tables, which is the only way to name a table not yet made. */
  private void writeCatalog(Object catalog, String name) throws IOException {
    writeText("name", Reflection.call(catalog, "name"));
    if (name.equals("JDBCTableCatalog")) { writePlace("url", Reflection.call(Reflection.field(catalog, "options"), "url")); return; }
    String settings = "spark.sql.catalog." + Reflection.call(catalog, "name") + ".";
    writePlace("warehouse", Reflection.call(conf, "getConfString", settings + "warehouse"));
    writePlace("uri", Reflection.call(conf, "getConfString", settings + "uri"));
    writeText("type", Reflection.call(conf, "getConfString", settings + "type"));
    writeText("implementation", Reflection.call(conf, "getConfString", settings + "catalog-impl"));
  }

  /** The place of a table that a command names before it is there; where it is there, its version too. */
  public void writeNamed(Object session, Object resolved) throws IOException {
    Object identifier = Reflection.call(resolved, "identifier");
    if (!(identifier instanceof Identifier)) return;
    Object[] found = Tables.found(session, Reflection.call(resolved, "catalog"), (Identifier) identifier);
    writePlace("location", found[0]);
    writeText("version", found[1]);
  }

  /** What Delta works out itself for each row written: {column: SQL}. */
  private void writeGenerated(Object snapshot) throws IOException {
    Map generated = Tables.generated(snapshot);
    if (generated.isEmpty()) return;
    out.writeObjectFieldStart("generated");
    java.util.Iterator i = generated.entrySet().iterator();
    while (i.hasNext()) { Map.Entry entry = (Map.Entry) i.next(); writeText((String) entry.getKey(), entry.getValue()); }
    out.writeEndObject();
  }

  /** Delta's change data feed, which is read from a table's log. */
  private void writeChanges(Object relation) throws IOException {
    writeKnownTable(relation, "catalogTableOpt");
    Object snapshot = Reflection.call(Reflection.call(relation, "snapshotWithSchemaMode"), "snapshot");
    Object path = Reflection.call(Reflection.call(snapshot, "deltaLog"), "dataPath");
    if (path != null) { out.writeArrayFieldStart("paths"); out.writeString(Secrets.place(path.toString())); out.writeEndArray(); }
    out.writeBooleanField("changes", true);
  }

  /** The table that Delta's CLONE copies: a Delta, Parquet or Iceberg table. */
  private void writeCloned(Object source) throws IOException {
    writeKnownTable(source, "catalogTable");
    writePlace("path", Reflection.call(source, "dataPath"));
    writeText("version", Reflection.call(Reflection.unwrap(Reflection.call(source, "snapshot")), "version"));
    writeColumns("columns", Reflection.call(source, "schema"));
  }

  /** The names of columns and their types. */
  private void writeColumns(String name, Object schema) throws IOException {
    if (!(schema instanceof StructType)) return;
    StructField[] fields = ((StructType) schema).fields();
    out.writeArrayFieldStart(name);
    for (int i = 0; i < fields.length; i++) { out.writeStartArray(); out.writeString(fields[i].name()); out.writeString(shorten(fields[i].dataType().catalogString(), LONGEST_TEXT)); out.writeEndArray(); }
    out.writeEndArray();
  }

  /** The columns of the table that a command adds rows to by the names of its query. */
  public void writeTarget(Object session, Object command) throws IOException {
    Object present = Targets.present(command, catalog);
    if (present != null) { out.writeFieldName("present"); writeValue(present, 0); }
    writeColumns("target", Targets.columns(session, command, catalog));
    if (!Targets.overwrites(command)) return;
    out.writeBooleanField("dynamicPartitions", Targets.isDynamic(command, conf));
    if (Targets.isPartial(command)) out.writeBooleanField("partial", true);
  }

  /** What a v1 source knows of the table at the path it writes to. */
  public void writeSink(Object session, Object command) throws IOException {
    Object source = Reflection.call(command, "dataSource");
    Object options = Reflection.call(command, "options");
    String path = Targets.option(options, "path");
    if (path == null) return;
    out.writeObjectFieldStart("sink");
    writePlace("path", qualified(path, session));
    Object snapshot = Reflection.simpleName(source).equals("DeltaDataSource") ? Tables.deltaSnapshot(session, source, options) : null;
    if (snapshot != null) {
      writeText("version", Reflection.call(snapshot, "version"));
      writeGenerated(snapshot);
      Object partitions = Reflection.call(Reflection.call(snapshot, "metadata"), "partitionColumns");
      if (partitions != null) { out.writeFieldName("partitions"); writeValue(partitions, 0); }
    }
    out.writeEndObject();
  }

  private void writeFiles(Object relation) throws IOException {
    Object location = Reflection.call(relation, "location");
    Object options = Reflection.call(relation, "options");
    writePlaces("paths", Targets.folders(location, options), Reflection.call(relation, "sparkSession"));
    String format = Reflection.simpleName(Reflection.call(relation, "fileFormat"));
    writeText("format", format);
    Object schema = Reflection.call(relation, "dataSchema");
    writePositions(format, options, schema);
    if (format.startsWith("CSV")) writeHeader(Headers.of(location, options, Reflection.call(relation, "sparkSession")));
    writeCorrupt(options, schema);
    writeText("version", Tables.versionOfFiles(location, optimized));
  }

  /** The columns of a file in their order, where the format does not keep their names. */
  private void writePositions(String format, Object options, Object schema) throws IOException {
    if (Targets.hasNames(format) || !(schema instanceof StructType)) return;
    writeText("header", Targets.option(options, "header"));
    out.writeArrayFieldStart("positions");
    String[] names = ((StructType) schema).fieldNames();
    for (int i = 0; i < names.length; i++) out.writeString(names[i]);
    out.writeEndArray();
  }

  /** The names that the files themselves have for those columns. */
  private void writeHeader(String[] names) throws IOException {
    if (names.length == 0) return;
    out.writeArrayFieldStart("names");
    for (int i = 0; i < names.length; i++) out.writeString(names[i]);
    out.writeEndArray();
  }

  private void writePlaces(String name, List places, Object session) throws IOException {
    out.writeArrayFieldStart(name);
    for (int i = 0; i < places.size(); i++) out.writeString(Secrets.place(String.valueOf(qualified(places.get(i), session))));
    out.writeEndArray();
  }

  /** The column in which a reader puts the whole of a row that it cannot parse, where its schema has one. */
  private void writeCorrupt(Object options, Object schema) throws IOException {
    Object name = Targets.option(options, "columnNameOfCorruptRecord");
    if (name == null) name = Reflection.call(conf, "getConfString", "spark.sql.columnNameOfCorruptRecord");
    if (name != null && schema instanceof StructType && Arrays.asList((Object[]) ((StructType) schema).fieldNames()).contains(name)) writeText("corrupt", name);
  }

  private void writeJdbc(Object options) throws IOException {
    writePlace("url", Reflection.call(options, "url"));
    writeText("table", Reflection.call(options, "tableOrQuery"));
    Object prefix = Reflection.call(options, "prepareQuery");
    if (prefix instanceof String && !((String) prefix).isEmpty()) writeText("prefix", prefix);
  }

  /** The WHERE of each partition that a program gave by ``predicates``; those that Spark makes of ``partitionColumn`` take in every row. */
  private void writePredicates(Object relation) throws IOException {
    Object partitions = Reflection.call(relation, "parts");
    boolean made = Reflection.unwrap(Reflection.call(Reflection.call(relation, "jdbcOptions"), "partitionColumn")) != null;
    if (made || !(partitions instanceof Object[])) return;
    Set found = new java.util.LinkedHashSet();
    for (int i = 0; i < ((Object[]) partitions).length; i++) found.add(Reflection.call(((Object[]) partitions)[i], "whereClause"));
    found.remove(null);
    if (found.isEmpty()) return;
    out.writeArrayFieldStart("predicates");
    java.util.Iterator i = found.iterator();
    while (i.hasNext()) out.writeString(shorten((String) i.next(), LONGEST_TEXT));
    out.writeEndArray();
  }

  /** What a statement says of a table that it makes. */
  private void writeTableSpec(Object table) throws IOException {
    writeText("provider", Reflection.unwrap(Reflection.call(table, "provider")));
    writePlace("location", Reflection.unwrap(Reflection.call(table, "location")));
    Labels.write(out, Reflection.call(table, "properties"));
  }

  /** What a row-level command changes is wrapped in a table that says the command and knows no properties. */
  private void writeTableV2(Object given) throws IOException {
    Object operation = Reflection.call(given, "operation");
    if (operation != null) writeText("operation", Reflection.call(operation, "command"));
    Object table = operation == null ? given : Reflection.call(given, "table");
    writeText("name", Reflection.call(table, "name"));
    writeKnownTable(table, "catalogTable");
    Object properties = Reflection.call(table, "properties");
    if (Reflection.simpleName(table).equals("SparkChangelogTable")) {
      writePlace("location", Reflection.call(Reflection.field(table, "table"), "location"));
      out.writeBooleanField("changes", true);
    } else if (properties instanceof Map) {
      writePlace("location", ((Map) properties).get("location"));
      writeText("provider", ((Map) properties).get("provider"));
      writeText("format", ((Map) properties).get("format"));
      Labels.write(out, properties);
      if (Tables.isMetadata(Reflection.call(table, "table"))) out.writeBooleanField("metadata", true);
    }
    writeText("version", Tables.version(table));
    writeGenerated(Reflection.call(table, "initialSnapshot"));
    if (Reflection.has(table, "paths")) writeFileTable(table);
    if (Reflection.has(table, "jdbcOptions")) writeJdbc(Reflection.call(table, "jdbcOptions"));
  }

  private void writeFileTable(Object table) throws IOException {
    List paths = new ArrayList();
    scala.collection.Iterator i = ((scala.collection.Iterable) Reflection.call(table, "paths")).iterator();
    while (i.hasNext()) paths.add(i.next());
    writePlaces("paths", paths, Reflection.call(table, "sparkSession"));
    String format = Reflection.simpleName(table);
    writeText("format", format);
    writePositions(format, Reflection.call(table, "options"), Reflection.call(table, "dataSchema"));
  }

  private void writeIdentifierV2(Object identifier) throws IOException {
    out.writeArrayFieldStart("parts");
    String[] namespace = (String[]) Reflection.call(identifier, "namespace");
    for (int i = 0; namespace != null && i < namespace.length; i++) out.writeString(namespace[i]);
    out.writeString(String.valueOf(Reflection.call(identifier, "name")));
    out.writeEndArray();
  }

  /** A field of text, left out when there is none. */
  public void writeText(String name, Object value) throws IOException {
    if (value != null) out.writeStringField(name, shorten(String.valueOf(value), LONGEST_TEXT));
  }

  /** Where data is, without user and password. */
  public void writePlace(String name, Object value) throws IOException {
    if (value != null) writeText(name, Secrets.place(value.toString()));
  }

  public static String shorten(String text, int length) { return text.length() <= length ? text : text.substring(0, length); }
}
