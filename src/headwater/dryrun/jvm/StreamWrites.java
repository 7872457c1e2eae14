package headwater.dryrun;

import java.lang.reflect.Field;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.Product;

/** The writes of a stream's batches, which are no commands: a batch without rows is committed as well. */
public class StreamWrites {
  private static final String WRITE = "org.apache.spark.sql.execution.datasources.v2.WriteToDataSourceV2";
  private static final String ICEBERG = "org.apache.iceberg.";

  /** The same write into nothing where it would change a table of a catalog that is not of the dry run. */
  static LogicalPlan harmless(LogicalPlan plan) {
    if (!plan.getClass().getName().equals(WRITE)) return plan;
    Object write = Commands.call(plan, "batchWrite"), own = Commands.call(write, "writeSupport");
    String foreign = own == null ? null : foreign(Commands.valueOf(Commands.call(plan, "relation")), own);
    if (foreign == null) return plan;
    Commands.refuse(plan, foreign);
    try {
      Object none = Class.forName("org.apache.spark.sql.execution.datasources.noop.NoopBatchWrite$").getField("MODULE$").get(null);
      return (LogicalPlan) MissingTables.copy((Product) plan, plan.getClass(), 1, none);
    } catch (Exception unlike) { throw new IllegalStateException("A stream would change " + foreign, unlike); }
  }

  private static String foreign(Object relation, Object write) {
    String name = write.getClass().getName();
    String catalog = relation == null ? null : Commands.foreignCatalog(relation);
    return catalog == null && name.startsWith(ICEBERG) && !isOfFolder(write) ? name : catalog;
  }

  /** Whether a write of Iceberg's is into a table whose metadata are files alone. */
  private static boolean isOfFolder(Object write) {
    try {
      Object operations = Commands.call(field(field(write, "this$0"), "table"), "operations");
      return operations.getClass().getName().startsWith("org.apache.iceberg.hadoop.");
    } catch (Exception unlike) { return false; }
  }

  private static Object field(Object target, String name) throws Exception {
    Class kind = target.getClass();
    while (kind != null) {
      Field[] fields = kind.getDeclaredFields();
      for (int i = 0; i < fields.length; i++) {
        if (!fields[i].getName().equals(name)) continue;
        fields[i].setAccessible(true);
        return fields[i].get(target);
      }
      kind = kind.getSuperclass();
    }
    throw new NoSuchFieldException(name);
  }
}
