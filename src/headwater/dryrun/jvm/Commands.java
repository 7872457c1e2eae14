package headwater.dryrun;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.internal.SQLConf;

/** Which commands are run in a dry run: those that change files, the session or its catalog, all of which are its own. */
public class Commands {
  private static final String[] COMMANDS = new String[] {
    "org.apache.spark.sql.catalyst.plans.logical.", "org.apache.spark.sql.execution.", "org.apache.spark.sql.hive.execution.", "org.apache.spark.sql.delta.", "org.apache.spark.sql.hudi."};
  /** Tables and providers whose data are files. */
  private static final String[] OF_FILES = new String[] {
    "org.apache.spark.sql.execution.datasources.v2.parquet.", "org.apache.spark.sql.execution.datasources.v2.orc.",
    "org.apache.spark.sql.execution.datasources.v2.csv.", "org.apache.spark.sql.execution.datasources.v2.json.",
    "org.apache.spark.sql.execution.datasources.v2.text.", "org.apache.spark.sql.execution.datasources.v2.avro.",
    "org.apache.spark.sql.connector.catalog.V1Table", "org.apache.spark.sql.delta.", "org.apache.hudi.", "org.apache.iceberg.spark.source."};
  private static final String[] CATALOGS = new String[] {
    "org.apache.spark.sql.execution.datasources.v2.V2SessionCatalog", "org.apache.spark.sql.delta.catalog.",
    "org.apache.spark.sql.catalyst.analysis.FakeSystemCatalog", "org.apache.spark.sql.catalyst.analysis.FakeLocalCatalog"}; // of variables
  /** Beginnings of commands that change the session alone, or nothing, whatever catalog they name. */
  private static final String[] READING = new String[] {"SetCatalogAndNamespace", "Show", "Describe", "RefreshTable"};
  private static final java.util.List REFUSED = Collections.synchronizedList(new ArrayList());

  /** The commands that were not run since this was last called, each as its name and what it would have changed. */
  public static java.util.List refused() {
    synchronized (REFUSED) {
      java.util.List found = new ArrayList(REFUSED);
      REFUSED.clear();
      return found;
    }
  }

  public static boolean isHarmless(LogicalPlan command) {
    String foreign = foreign(command);
    if (foreign != null) refuse(command, foreign);
    return foreign == null;
  }

  static void refuse(LogicalPlan command, String foreign) { REFUSED.add(command.getClass().getSimpleName() + " " + foreign); }

  /** A procedure of a catalog runs while its call is analyzed; one that is not run has no rows. */
  static LogicalPlan withoutProcedure(LogicalPlan plan) {
    String name = plan.getClass().getSimpleName();
    Object called = name.equals("Call") ? call(call(plan, "procedure"), "nameParts") : name.equals("CallStatement") ? call(plan, "name") : null; // of Iceberg with Spark 3
    String foreign = called instanceof scala.collection.Seq ? foreignName((scala.collection.Seq) called) : null;
    if (foreign == null) return plan;
    refuse(plan, foreign);
    return InventedRows.relation(plan, 0);
  }

  /** What a command would change that is not of the dry run; null when it changes nothing else. */
  private static String foreign(LogicalPlan command) {
    String name = command.getClass().getName();
    if (!begins(name, COMMANDS)) return name;
    if (begins(command.getClass().getSimpleName(), READING)) return null;
    if (command.getClass().getSimpleName().equals("SaveIntoDataSourceCommand")) return unlessKnown(call(command, "dataSource"), OF_FILES);
    Object table = call(call(command, "table"), "table");
    if (table != null && name.startsWith(COMMANDS[0]) && unlessKnown(table, OF_FILES) != null) return unlessKnown(table, OF_FILES);
    String found = foreignCatalog(call(command, "name")); // of CREATE TABLE AS, which has no children once it is analyzed
    Object target = call(command, "table");
    if (found == null) found = foreignCatalog(target); // of an INSERT, whose only child is its query
    if (found == null && target instanceof scala.collection.Seq) found = foreignName((scala.collection.Seq) target);
    scala.collection.Iterator parts = ((scala.Product) command).productIterator(); // of Iceberg's CREATE VIEW, which has no children either
    while (found == null && parts.hasNext()) found = ofResolved(parts.next());
    scala.collection.Iterator children = command.children().iterator();
    while (found == null && children.hasNext()) found = foreignCatalog(children.next());
    return found;
  }

  static String foreignCatalog(Object identifier) {
    Object scanned = call(identifier, "relation"); // of a DELETE of all rows
    if (scanned instanceof LogicalPlan) identifier = scanned;
    Object catalog = identifier instanceof LogicalPlan ? valueOf(call(identifier, "catalog")) : null; // of a view it is a mere name
    Object called = valueOf(call(identifier, "identifier"));
    if (called != null && called.getClass().getName().equals("org.apache.iceberg.spark.PathIdentifier")) return null; // a folder
    return catalog == null || isOfFolder(catalog) ? null : unlessKnown(catalog, CATALOGS);
  }

  private static String ofResolved(Object part) {
    return part instanceof LogicalPlan && part.getClass().getSimpleName().startsWith("Resolved") ? foreignCatalog(part) : null;
  }

  /** The value in an Option, null in an empty one; any other object is its own value. */
  static Object valueOf(Object found) {
    if (!(found instanceof scala.Option)) return found;
    return ((scala.Option) found).isEmpty() ? null : ((scala.Option) found).get();
  }

  /** The catalog of a table that a command has by its name only, as those of Iceberg's extensions do. */
  private static String foreignName(scala.collection.Seq parts) {
    CatalogManager catalogs = (CatalogManager) call(call(SparkSession.active(), "sessionState"), "catalogManager");
    String first = String.valueOf(parts.head());
    Object catalog = parts.length() > 1 && catalogs.isCatalogRegistered(first) ? catalogs.catalog(first) : catalogs.currentCatalog();
    return isOfFolder(catalog) ? null : unlessKnown(catalog, CATALOGS);
  }

  /** Whether an Iceberg catalog is a folder of tables, not a service. */
  private static boolean isOfFolder(Object catalog) {
    if (!catalog.getClass().getName().startsWith("org.apache.iceberg.spark.Spark")) return false;
    return "hadoop".equals(SQLConf.get().getConfString("spark.sql.catalog." + call(catalog, "name") + ".type", ""));
  }

  private static String unlessKnown(Object part, String[] known) {
    String name = part.getClass().getName();
    return begins(name, known) ? null : name;
  }

  private static boolean begins(String name, String[] known) {
    for (int i = 0; i < known.length; i++) if (name.startsWith(known[i])) return true;
    return false;
  }

  static Object call(Object target, String method) {
    if (target == null) return null;
    try {
      Method found = target.getClass().getMethod(method, new Class[0]);
      found.setAccessible(true);
      return found.invoke(target, new Object[0]);
    } catch (Throwable none) { return null; }
  }
}
