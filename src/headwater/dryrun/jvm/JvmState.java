package headwater.dryrun;

import java.util.Properties;
import java.util.TimeZone;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.util.Utils$;

/** What a job leaves in its JVM beside its SparkContext, for the job that has the same JVM after it. */
public class JvmState {
  private static final String DELTA_LOG = "org.apache.spark.sql.delta.DeltaLog";

  /** As they were before the first job. */
  private static Properties properties;

  public static void save(Properties before) { properties = before; }

  public static void reset() {
    scala.Option context = SparkContext$.MODULE$.getActive();
    if (context.isDefined()) ((SparkContext) context.get()).stop();
    System.setProperties((Properties) properties.clone());
    Utils$.MODULE$.clearLocalRootDirs();
    TimeZone.setDefault(null);
    MissingTables.clear();
    Overlay.clear();
    Commands.refused();
    try {
      Thread.currentThread().getContextClassLoader().loadClass(DELTA_LOG).getMethod("clearCache", new Class[0]).invoke(null, new Object[0]);
    } catch (Exception none) { } // without Delta
  }
}
