package headwater;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.DropTablePreEvent;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalog;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogEvent;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogEventListener;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogWithListener;
import org.apache.spark.sql.catalyst.catalog.RenameTablePreEvent;

/**
 * Keeps the metadata of a table of the session's catalog that is about to be dropped or renamed, until its statement is read.
 *
 * Spark tells of that on the job's own thread, before it happens: one look into the catalog, beside those that the statement takes.
 */
public class Leaving implements ExternalCatalogEventListener {
  private static final int MOST = 1000;
  private static final String EXECUTION = "spark.sql.execution.id";
  private static final Map TABLES = Collections.synchronizedMap(new LinkedHashMap());
  /** Tables that were dropped outside any execution, by database and name, until they are made again. */
  private static final Map DROPPED = Collections.synchronizedMap(new LinkedHashMap());
  private static final Map WATCHED = Collections.synchronizedMap(new WeakHashMap());
  private static final ThreadLocal READ = new ThreadLocal();

  private final ExternalCatalog catalog;

  private Leaving(ExternalCatalog catalog) { this.catalog = catalog; }

  /** Watch the catalog of a session. One that nobody has used yet is left alone: to ask for it may start a metastore. */
  public static void watch(Object session) {
    Object catalog = Reflection.field(Reflection.call(session, "sharedState"), "externalCatalog");
    if (!(catalog instanceof ExternalCatalogWithListener) || WATCHED.put(catalog, Boolean.TRUE) != null) return;
    ((ExternalCatalogWithListener) catalog).addListener(new Leaving(((ExternalCatalogWithListener) catalog).unwrapped()));
  }

  public void onEvent(ExternalCatalogEvent event) {
    try {
      if (event instanceof DropTablePreEvent) keep(((DropTablePreEvent) event).database(), ((DropTablePreEvent) event).name());
      else if (event instanceof RenameTablePreEvent) keep(((RenameTablePreEvent) event).database(), ((RenameTablePreEvent) event).name());
    } catch (Throwable never) { }
  }

  private void keep(String database, String name) {
    String execution = SparkContext.getOrCreate().getLocalProperty(EXECUTION);
    if (execution == null && DROPPED.size() < MOST) DROPPED.put(database + "." + name, Boolean.TRUE);
    if (execution == null || TABLES.size() >= MOST) return;
    TABLES.put(Long.valueOf(execution), catalog.getTable(database, name));
  }

  /** Whether a table was dropped outside any execution; it is forgotten. */
  public static boolean dropped(TableIdentifier table, String currentDatabase) {
    String database = table.database().isDefined() ? (String) table.database().get() : currentDatabase;
    return DROPPED.remove(database + "." + table.table()) != null;
  }

  /** Says which execution the current thread reads. */
  public static void read(Long execution) { READ.set(execution); }

  /** The execution that the current thread reads; null when that is not said. */
  public static Long reading() { return (Long) READ.get(); }

  /** The table that the execution being read drops or renames, as it was before; null when that is not known. */
  public static Object table() { return READ.get() == null ? null : TABLES.get(READ.get()); }

  public static void forget(Long execution) { TABLES.remove(execution); }
}
