package headwater.dryrun;

import java.lang.reflect.Constructor;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.catalog.CatalogDatabase;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Product;
import scala.Some;

/** Makes tables, before a plan that names them is resolved, that the catalog lacks and whose schema is known; and keeps procedures of others from being run. */
public class MissingTables extends Rule {
  /** By name, in lower case: the columns as DDL, and the location or null. */
  private static final Map SCHEMAS = new ConcurrentHashMap();

  private final Object session;

  public MissingTables(Object session) { this.session = session; }

  /** Called before the job begins. */
  public static void add(String name, String columns, String location) { SCHEMAS.put(name.toLowerCase(), new String[] {columns, location}); }

  /** Called after a job. */
  public static void clear() { SCHEMAS.clear(); }

  public TreeNode apply(TreeNode plan) {
    if (!SCHEMAS.isEmpty()) visit(plan);
    return Commands.withoutProcedure((LogicalPlan) plan);
  }

  private void visit(TreeNode node) {
    if (node.getClass().getSimpleName().startsWith("Unresolved")) add(Commands.call(node, "multipartIdentifier"));
    Object target = Commands.call(node, "table");
    if (target instanceof UnresolvedRelation) add(((UnresolvedRelation) target).multipartIdentifier());
    scala.collection.Iterator children = node.children().iterator();
    while (children.hasNext()) visit((TreeNode) children.next());
    if (!(node instanceof LogicalPlan)) return;
    scala.collection.Iterator subqueries = ((LogicalPlan) node).subqueries().iterator();
    while (subqueries.hasNext()) visit((TreeNode) subqueries.next());
  }

  private void add(Object parts) {
    if (!(parts instanceof scala.collection.Seq)) return;
    scala.collection.Seq names = (scala.collection.Seq) parts;
    if (names.size() > 1 && names.head().equals("spark_catalog")) names = (scala.collection.Seq) names.tail();
    SessionCatalog catalog = (SessionCatalog) Commands.call(Commands.call(session, "sessionState"), "catalog");
    String table = (String) names.last();
    String database = names.size() == 2 ? (String) names.head() : catalog.getCurrentDatabase();
    TableIdentifier name = new TableIdentifier(table, new Some(database));
    if (names.size() > 2 || names.size() == 1 && catalog.isTempView(new TableIdentifier(table))) return;
    String[] known = (String[]) SCHEMAS.get((database + "." + table).toLowerCase());
    if (known == null && database.equals("default")) known = (String[]) SCHEMAS.get(table.toLowerCase());
    if (known == null || catalog.databaseExists(database) && catalog.tableExists(name)) return;
    try {
      if (!catalog.databaseExists(database)) catalog.createDatabase(database(catalog, database), true);
      catalog.createTable(table(name, known), true, false);
    } catch (Exception unlike) { throw new IllegalStateException("The table " + name + " cannot be made in the catalog of the dry run", unlike); }
  }

  private static CatalogTable table(TableIdentifier name, String[] known) throws Exception {
    Option location = known[1] == null ? Option.apply(null) : Option.apply(URI.create(known[1]));
    Object storage = copy(CatalogStorageFormat.empty(), CatalogStorageFormat.class, 0, location);
    CatalogTableType type = known[1] == null ? CatalogTableType.MANAGED() : CatalogTableType.EXTERNAL();
    Object[] first = new Object[] {name, type, storage, columns(known[0]), new Some("parquet")};
    Constructor constructor = CatalogTable.class.getConstructors()[0];
    Object[] values = new Object[constructor.getParameterTypes().length];
    Object companion = Class.forName(CatalogTable.class.getName() + "$").getField("MODULE$").get(null);
    for (int i = 0; i < values.length; i++) values[i] = i < first.length ? first[i] : companion.getClass().getMethod("apply$default$" + (i + 1), new Class[0]).invoke(companion, new Object[0]);
    return (CatalogTable) constructor.newInstance(values);
  }

  /** A column whose type Spark does not read is a string. */
  private static StructType columns(String lines) {
    StructType found = new StructType();
    String[] several = lines.split("\n");
    for (int i = 0; i < several.length; i++) {
      StructType one;
      try { one = StructType.fromDDL(several[i]); } catch (Exception unlike) { one = StructType.fromDDL(several[i].substring(0, several[i].lastIndexOf('`') + 1) + " string"); }
      found = found.add(one.fields()[0]);
    }
    return found;
  }

  private static CatalogDatabase database(SessionCatalog catalog, String name) throws Exception {
    Object named = copy(catalog.getDatabaseMetadata("default"), CatalogDatabase.class, 0, name);
    return (CatalogDatabase) copy((Product) named, CatalogDatabase.class, 2, catalog.getDefaultDBPath(name));
  }

  /** A case class with another value in one place, whatever others this version of Spark has. */
  static Object copy(Product value, Class kind, int place, Object changed) throws Exception {
    Object[] values = new Object[value.productArity()];
    for (int i = 0; i < values.length; i++) values[i] = i == place ? changed : value.productElement(i);
    return kind.getConstructors()[0].newInstance(values);
  }
}
