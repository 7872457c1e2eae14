package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** What decides on the names of columns beside the query: the table that rows are added to, and the format of files. */
public class Targets {
  private static final int MOST_FOLDERS = 1000;
  /** What may overwrite some rows only, by options of a writer (those of Delta) or the mode of the session. */
  private static final Set OVERWRITING = new HashSet(Arrays.asList(new Object[] {
    "InsertIntoHadoopFsRelationCommand", "OverwriteByExpression", "ReplaceTableAsSelect", "SaveIntoDataSourceCommand"}));
  private static final String[] PARTIAL = new String[] {"replaceOn", "replaceUsing", "replaceWhere"};

  /** The columns of the table that a command adds rows to by name; null where it makes the table anew, or goes by position. */
  public static StructType columns(Object session, Object command, Object catalog) {
    String name = Reflection.simpleName(command);
    Object schema = null;
    if (name.equals("SaveIntoDataSourceCommand")) schema = isMadeAnew(command) ? null : ofDelta(Tables.deltaSnapshot(session, Reflection.call(command, "dataSource"), Reflection.call(command, "options")));
    else if (name.equals("WriteToStream")) schema = ofSink(session, command);
    else if (name.equals("InsertIntoHiveTable")) schema = Reflection.call(Reflection.call(command, "table"), "schema");
    else if (name.equals("SaveAsV1TableCommand") || name.endsWith("TableAsSelectCommand")) schema = isAppend(command) ? Reflection.call(Altered.known(catalog, Altered.identifier(command)), "schema") : null;
    return schema instanceof StructType && ((StructType) schema).fields().length > 0 ? (StructType) schema : null;
  }

  /** The table that saveAsTable adds rows to, where it is there: it need not lie where a new one of that name would. */
  public static Object present(Object command, Object catalog) {
    String name = Reflection.simpleName(command);
    boolean saves = name.equals("SaveAsV1TableCommand") || name.endsWith("TableAsSelectCommand");
    return saves && isAppend(command) ? Altered.known(catalog, Altered.identifier(command)) : null;
  }

  private static boolean isAppend(Object command) { return "Append".equals(String.valueOf(Reflection.call(command, "mode"))); }

  private static boolean isMadeAnew(Object command) {
    return !isAppend(command) && "true".equalsIgnoreCase(option(Reflection.call(command, "options"), "overwriteSchema"));
  }

  /** Whether a command is of those that may overwrite some rows only. */
  public static boolean overwrites(Object command) { return OVERWRITING.contains(Reflection.simpleName(command)); }

  /** Whether a command overwrites those partitions that it has rows for, by its own option or the session's setting. */
  public static boolean isDynamic(Object command, Object conf) {
    String mode = writerOption(command, "partitionOverwriteMode");
    if (mode == null) mode = String.valueOf(Reflection.call(conf, "getConfString", "spark.sql.sources.partitionOverwriteMode"));
    return "dynamic".equalsIgnoreCase(mode);
  }

  /** Whether a command overwrites the rows of a predicate or of a key that an option has. */
  public static boolean isPartial(Object command) {
    for (int i = 0; i < PARTIAL.length; i++) if (writerOption(command, PARTIAL[i]) != null) return true;
    return false;
  }

  private static String writerOption(Object command, String key) {
    String found = option(Reflection.call(command, "options"), key);
    return found != null ? found : option(Reflection.call(command, "writeOptions"), key);
  }

  private static Object ofDelta(Object snapshot) { return Reflection.call(Reflection.call(snapshot, "metadata"), "schema"); }

  private static Object ofSink(Object session, Object command) {
    Object sink = Reflection.call(command, "sink");
    if (Reflection.simpleName(sink).equals("DeltaSink")) return ofDelta(Tables.deltaSnapshot(session, sink, String.valueOf(Reflection.field(sink, "path"))));
    if (Reflection.simpleName(sink).contains("Kafka")) return null; // the columns of a topic that is read, of which a writer need not have all
    Object table = Reflection.unwrap(Reflection.call(command, "catalogTable"));
    return Reflection.call(table != null ? table : sink, "schema");
  }

  /** Whether files of a format keep the names of columns; a header, which keeps them too, is looked at by whoever asks. */
  public static boolean hasNames(String format) {
    return !(format.startsWith("CSV") || format.startsWith("Text") || format.startsWith("LibSVM"));
  }

  /** The value of an option of a reader or writer, whatever the case of its name; null without. */
  public static String option(Object options, String key) {
    if (options instanceof CaseInsensitiveStringMap) return ((CaseInsensitiveStringMap) options).get(key);
    if (options instanceof scala.collection.Map) {
      scala.collection.Iterator i = ((scala.collection.Map) options).iterator();
      while (i.hasNext()) {
        scala.Product entry = (scala.Product) i.next();
        if (key.equalsIgnoreCase(String.valueOf(entry.productElement(0)))) return String.valueOf(entry.productElement(1));
      }
    }
    return null;
  }

  /** The folders that are read: of a search through all below a root those that have files, which may each have a writer of its own. */
  public static List folders(Object index, Object options) {
    List found = new ArrayList();
    Object leaves = "true".equalsIgnoreCase(option(options, "recursiveFileLookup")) ? Reflection.call(index, "leafDirToChildrenFiles") : null;
    if (leaves instanceof scala.collection.Map && ((scala.collection.Map) leaves).size() <= MOST_FOLDERS) add(((scala.collection.Map) leaves).keysIterator(), found);
    Collections.sort(found);
    Object roots = Reflection.call(index, "rootPaths");
    if (found.isEmpty() && roots instanceof scala.collection.Iterable) add(((scala.collection.Iterable) roots).iterator(), found);
    return found;
  }

  private static void add(scala.collection.Iterator values, List found) {
    while (values.hasNext()) found.add(values.next());
  }
}
