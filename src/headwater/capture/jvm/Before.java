package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.execution.QueryExecution;

/**
 * What can only be asked before a statement runs: whether there is already what it makes if there is none, and what is
 * in a database that it drops with all that is in it.
 *
 * Asked on the job's own thread, of such statements alone: one look more, at what the statement itself looks at next.
 */
public class Before {
  private static final int MOST = 1000;
  /** What makes something with rows, or a view; tables without rows are those of Altered. */
  private static final Set MAKING = new HashSet(Arrays.asList(new Object[] {
    "CreateDataSourceTableAsSelectCommand", "CreateDeltaTableCommand", "CreateHiveTableAsSelectCommand", "CreateIcebergView",
    "CreateTableAsSelect", "CreateViewCommand", "InsertIntoHadoopFsRelationCommand", "SaveAsV1TableCommand", "SaveIntoDataSourceCommand"}));
  /** What replaces a table, or makes it where there is none. */
  private static final Set REPLACING = new HashSet(Arrays.asList(new Object[] {
    "CreateDataSourceTableAsSelectCommand", "CreateHiveTableAsSelectCommand", "ReplaceTableAsSelect", "SaveAsV1TableCommand"}));
  private static final Object NEW = new Object();
  /** By execution: TRUE where there is nothing to make or to drop, NEW where there is nothing to replace, else the tables that it drops. */
  private static final Map FOUND = Collections.synchronizedMap(new LinkedHashMap());

  /** Called where the start of an execution is posted. */
  public static void ask(Long id, QueryExecution execution) {
    if (execution == null || FOUND.size() >= MOST) return;
    boolean makes = MAKING.contains(Reflection.simpleName(execution.logical())) || Altered.isMade(execution.logical());
    boolean drops = Reflection.simpleName(execution.logical()).equals("DropIcebergView");
    boolean replaces = REPLACING.contains(Reflection.simpleName(execution.logical()));
    boolean fills = Boolean.TRUE.equals(Reflection.call(execution.logical(), "ifPartitionNotExists"));
    if (!makes && !drops && !replaces && !fills && !Boolean.TRUE.equals(Reflection.call(execution.logical(), "cascade"))) return;
    Object found = null;
    try {
      Object command = Reflection.analyzed(execution);
      Object state = Reflection.call(execution.sparkSession(), "sessionState");
      if (drops) found = isView(command) ? null : Boolean.TRUE;
      else if (fills) found = hasPartition((SessionCatalog) Reflection.call(state, "catalog"), command) ? Boolean.TRUE : null;
      else if (replaces && isReplacing(command)) found = isThere(execution.sparkSession(), state, command) || wasThere(state, command) ? null : NEW;
      else if (!makes) found = within(state, command);
      else if (onlyIfMissing(command) && isThere(execution.sparkSession(), state, command)) found = Boolean.TRUE;
    } catch (Throwable refused) { }
    if (found != null) FOUND.put(id, found);
  }

  /** Whether an execution does nothing, for there is already what it would make, or no view that it would drop. */
  public static boolean isDone(Long id) { return Boolean.TRUE.equals(FOUND.get(id)); }

  /** Whether an execution makes the table that it would replace. */
  public static boolean isNew(Long id) { return FOUND.get(id) == NEW; }

  /** The tables and views of the database that an execution drops; null of others. */
  public static List dropped(Long id) { return id != null && FOUND.get(id) instanceof List ? (List) FOUND.get(id) : null; }

  public static void forget(Long id) { FOUND.remove(id); }

  /** INSERT … PARTITION (…) IF NOT EXISTS: whether the table has the partition, of which every value is given. */
  private static boolean hasPartition(SessionCatalog catalog, Object command) {
    Object table = Reflection.call(command, "table");
    Object values = Reflection.call(command, "partition");
    if (table == null) { table = Reflection.unwrap(Reflection.call(command, "catalogTable")); values = Reflection.call(command, "staticPartitions"); }
    Object name = Reflection.call(table, "identifier");
    if (!(name instanceof TableIdentifier) || !(values instanceof scala.collection.Map)) return false;
    scala.collection.immutable.Map wanted = scala.collection.immutable.Map$.MODULE$.empty();
    scala.collection.Iterator i = ((scala.collection.Map) values).iterator();
    while (i.hasNext()) {
      scala.Product entry = (scala.Product) i.next();
      wanted = (scala.collection.immutable.Map) wanted.updated(entry.productElement(0), Reflection.unwrap(entry.productElement(1)));
    }
    return catalog.listPartitionNames((TableIdentifier) name, new scala.Some(wanted)).nonEmpty();
  }

  private static boolean isReplacing(Object command) {
    return Boolean.TRUE.equals(Reflection.call(command, "orCreate")) || "Overwrite".equals(String.valueOf(Reflection.call(command, "mode")));
  }

  /** Before Spark 4.1 saveAsTable has dropped the table by the time that its execution starts. */
  private static boolean wasThere(Object state, Object command) {
    Object name = Altered.identifier(command);
    return name instanceof TableIdentifier && Leaving.dropped((TableIdentifier) name, (String) Reflection.call(Reflection.call(state, "catalog"), "getCurrentDatabase"));
  }

  private static boolean onlyIfMissing(Object command) {
    String[] flags = new String[] {"ignoreIfExists", "ifNotExists", "allowExisting"};
    for (int i = 0; i < flags.length; i++) if (Boolean.TRUE.equals(Reflection.call(command, flags[i]))) return true;
    return "Ignore".equals(String.valueOf(Reflection.call(command, "mode")));
  }

  private static boolean isThere(Object session, Object state, Object command) throws Exception {
    Object path = Reflection.call(command, "outputPath");
    if (path instanceof Path) return ((Path) path).getFileSystem((Configuration) Reflection.call(state, "newHadoopConf")).exists((Path) path);
    Object source = Reflection.call(command, "dataSource");
    if (source != null) return Tables.deltaSnapshot(session, source, Reflection.call(command, "options")) != null;
    Object resolved = Reflection.has(command, "child") ? Reflection.call(command, "child") : Reflection.call(command, "name");
    Object catalog = Reflection.call(resolved, "catalog");
    Object identifier = Reflection.call(resolved, "identifier");
    if (identifier instanceof Identifier) return Boolean.TRUE.equals(Reflection.call(catalog, "tableExists", identifier)) || isView(command);
    Object name = Altered.identifier(command);
    return name instanceof TableIdentifier && Boolean.TRUE.equals(Reflection.call(Reflection.call(state, "catalog"), "tableExists", name));
  }

  private static boolean isView(Object command) {
    Object resolved = Reflection.call(command, "child");
    return Boolean.TRUE.equals(Reflection.call(Reflection.call(resolved, "catalog"), "viewExists", Reflection.call(resolved, "identifier")));
  }

  /** Spark 4 drops databases of the session's catalog by the v2 API. Iceberg's catalogs drop none that is not empty, whatever the statement says. */
  private static List within(Object state, Object command) throws Exception {
    Object tables = Reflection.call(state, "catalog");
    if (Reflection.simpleName(command).equals("DropDatabaseCommand"))
      return inSession((SessionCatalog) tables, (String) Reflection.call(command, "databaseName"));
    if (!Reflection.simpleName(command).equals("DropNamespace")) return null;
    Object resolved = Reflection.call(command, "namespace");
    Object catalog = Reflection.call(resolved, "catalog");
    if (!(catalog instanceof TableCatalog) || Reflection.has(catalog, "icebergCatalog")) return null;
    List names = listed((scala.collection.Seq) Reflection.call(resolved, "namespace"));
    if ("spark_catalog".equals(((TableCatalog) catalog).name())) return inSession((SessionCatalog) tables, (String) names.get(0));
    return Arrays.asList((Object[]) ((TableCatalog) catalog).listTables((String[]) names.toArray(new String[names.size()])));
  }

  private static List inSession(SessionCatalog catalog, String database) throws Exception {
    return listed(catalog.getTablesByName(catalog.listTables(database, "*", false)));
  }

  private static List listed(scala.collection.Seq sequence) {
    List found = new ArrayList();
    scala.collection.Iterator i = sequence.iterator();
    while (i.hasNext()) found.add(i.next());
    return found;
  }
}
