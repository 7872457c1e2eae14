package headwater;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.types.StructType;

/** What the catalogs know of the table that a command renames, ends, alters or fills, which the command itself only names. */
public class Altered {
  /** Commands after which the catalog has no table of that name. */
  private static final Set ENDING = new HashSet(Arrays.asList(new Object[] {
    "DropTableCommand", "AlterTableRenameCommand", "DropTable", "RenameTable"}));
  /** Commands before which no catalog has the table. */
  private static final Set MAKING = new HashSet(Arrays.asList(new Object[] {
    "CreateDataSourceTableCommand", "CreateTable", "CreateTableCommand", "CreateTableLike", "CreateTableLikeCommand", "ReplaceTable"}));
  private static final Set KNOWN = new HashSet(Arrays.asList(new Object[] {
    "AlterTableAddColumnsCommand", "AlterTableChangeColumnCommand", "LoadDataCommand", "TruncateTableCommand"}));

  /** Whether a command has to be read as soon as it starts: at its end the catalog has forgotten the table. */
  public static boolean isEnded(Object command) { return ENDING.contains(Reflection.simpleName(command)); }

  /** Whether a command is best read when it has ended: only then a catalog or a log knows the columns of its table. */
  public static boolean isMade(Object command) {
    return MAKING.contains(Reflection.simpleName(command)) || Reflection.simpleName(command).equals("ConvertToDeltaCommand") || Reflection.simpleName(command).equals("CreateDeltaTableCommand") && Reflection.unwrap(Reflection.call(command, "query")) == null;
  }

  /** The columns that a command gives to the table that it makes; null where it gives none, and Spark or a catalog finds them. */
  public static StructType declared(Object command) {
    Object columns = Reflection.call(command, "tableSchema");
    if (!(columns instanceof StructType)) columns = Reflection.call(Reflection.call(command, "table"), "schema");
    return columns instanceof StructType && ((StructType) columns).fields().length > 0 ? (StructType) columns : null;
  }

  /** The table that a command is about, as a catalog has it, or had before the command; null when there is none. */
  public static Object changed(Object command, Object catalog) {
    String name = Reflection.simpleName(command);
    boolean ended = ENDING.contains(name);
    if (!ended && !KNOWN.contains(name) && !isMade(command)) return null;
    Object found = present(command, catalog);
    return found == null && ended ? Leaving.table() : found;
  }

  private static Object present(Object command, Object tables) {
    Object child = Reflection.call(command, "child");
    if (child != null) return inCatalog(Reflection.call(child, "catalog"), Reflection.call(child, "identifier"), tables);
    Object identifier = identifier(command);
    return identifier == null ? null : known(tables, identifier);
  }

  /** The name of the table of the session's catalog that a command is about. */
  public static Object identifier(Object command) {
    String[] fields = new String[] {"tableName", "oldName", "targetTable", "table", "tableDesc", "tableIdentifier", "name"};
    for (int i = 0; i < fields.length; i++) {
      Object found = Reflection.call(command, fields[i]);
      if (found != null) return Reflection.simpleName(found).equals("CatalogTable") ? Reflection.call(found, "identifier") : found;
    }
    return null;
  }

  /** Of Iceberg's catalogs the one below the cache: a table that is put there just after it was dropped would be in the job's way. */
  private static Object inCatalog(Object catalog, Object identifier, Object tables) {
    if (!(identifier instanceof Identifier)) return null;
    Identifier name = (Identifier) identifier;
    if (Tables.isOfSession(catalog)) {
      scala.Option database = name.namespace().length == 1 ? new scala.Some(name.namespace()[0]) : scala.Option.empty();
      return known(tables, new TableIdentifier(name.name(), database));
    }
    return Reflection.has(catalog, "icebergCatalog") ? Tables.inIceberg(catalog, name) : Reflection.call(catalog, "loadTable", name);
  }

  /** The table of a rename that is over already, by its new name. */
  public static Object renamed(Object command, Object catalog) {
    return Reflection.simpleName(command).equals("AlterTableRenameCommand") ? known(catalog, Reflection.call(command, "newName")) : null;
  }

  /** A table or view of the session's catalog; a temporary view is none. */
  public static Object known(Object catalog, Object identifier) {
    if (identifier == null || Boolean.TRUE.equals(Reflection.call(catalog, "isTempView", identifier))) return null;
    return Reflection.call(catalog, "getTableMetadata", identifier);
  }

  /** Where LOAD DATA takes its files from, with scheme and host (LoadDataCommand.makeQualified). */
  public static String loaded(Object command) {
    if (!Reflection.simpleName(command).equals("LoadDataCommand")) return null;
    Path path = new Path((String) Reflection.call(command, "path"));
    boolean local = Boolean.TRUE.equals(Reflection.call(command, "isLocal"));
    Configuration conf = SparkHadoopUtil.get().conf();
    String folder = local ? System.getProperty("user.dir") : "/user/" + System.getProperty("user.name");
    return path.makeQualified(local ? java.net.URI.create("file:///") : FileSystem.getDefaultUri(conf), new Path(folder)).toString();
  }
}
