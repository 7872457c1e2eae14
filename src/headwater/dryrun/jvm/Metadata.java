package headwater.dryrun;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/** Reads of Spark's own that a plan cannot be analyzed without: the files that show a schema, the log of a table. */
public class Metadata {
  /** The method that reads some rows of a file for its schema. */
  private static final String INFERRING = "getOrInferFileFormatSchema";
  private static final String DELTA = "org.apache.spark.sql.delta.";
  /** Classes of Delta that read the log of a table, the state that it makes, and the files that are in it. */
  private static final String[] OF_LOG = new String[] {"Snapshot", "StateCache", "DataSkipping", "DeltaLog", "Checkpoint"};

  public static boolean isRead(LogicalPlan node) {
    boolean data = node instanceof LogicalRelation && !isOfLog((LogicalRelation) node);
    StackTraceElement[] frames = new Throwable().getStackTrace();
    if (node.getClass().getSimpleName().equals("ExternalRDD") && isCalledFrom(".DataFrameReader.") && !isCalledFrom("inferFrom")) return true;
    for (int i = 0; i < frames.length; i++) {
      if (frames[i].getMethodName().equals(INFERRING) || isOfModel(frames[i])) return true;
      if (!data && frames[i].getClassName().startsWith(DELTA) && isOfLog(frames[i].getClassName())) return true;
    }
    return false;
  }

  /** Whether a method whose class or name has this in it is being executed by this thread. */
  public static boolean isCalledFrom(String name) {
    StackTraceElement[] frames = new Throwable().getStackTrace();
    for (int i = 0; i < frames.length; i++) if ((frames[i].getClassName() + "." + frames[i].getMethodName()).contains(name)) return true;
    return false;
  }

  /** A model is read from its files, which are no data. */
  private static boolean isOfModel(StackTraceElement frame) {
    return frame.getMethodName().equals("load") && frame.getClassName().startsWith("org.apache.spark.ml.");
  }

  private static boolean isOfLog(LogicalRelation relation) {
    if (!(relation.relation() instanceof HadoopFsRelation)) return false;
    return ((HadoopFsRelation) relation.relation()).location().getClass().getSimpleName().equals("DeltaLogFileIndex");
  }

  private static boolean isOfLog(String type) {
    for (int i = 0; i < OF_LOG.length; i++) if (type.contains(OF_LOG[i])) return true;
    return false;
  }
}
