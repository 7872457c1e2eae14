package headwater.dryrun;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.Dependency;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LeafNode;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ReturnAnswer;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand;
import scala.Function1;
import scala.collection.immutable.List;
import scala.collection.immutable.Nil$;
import scala.runtime.AbstractPartialFunction;

/**
 * The first of Spark's strategies in a dry run: relations are without rows, all else is planned as ever.
 *
 * An aggregate without keys has its row, as over an empty table: {@code count()} is 0.
 */
public class NoRows extends SparkStrategy {
  /** Leaves that hold no data of others: rows of the program, and what Spark has planned already. */
  private static final Set OWN = new HashSet(Arrays.asList(new Object[] {
    "CommandResult", "CTERelationRef", "InMemoryRelation", "LocalRelation", "LogicalQueryStage", "OneRowRelation", "Range"}));

  private static final int FIT_ROWS = 3;
  private static final String LOOP = "ForStatementExec";
  /** What is made in one turn of a loop may be used in the next. */
  private static final int LOOP_ROWS = 2;

  /** Operators that run functions of the job, which may do anything, also with rows of the program's own. */
  private static final String[] FUNCTIONS = new String[] {"Python", "Pandas", "MapInArrow", "MapPartitions", "MapElements", "InArrow", "MapGroups", "CoGroup"};

  /** Whether the rows of a plan depend on data that the program does not hold itself. */
  public static boolean reads(LogicalPlan plan) {
    scala.collection.Iterator leaves = plan.collectLeaves().iterator();
    while (leaves.hasNext()) {
      LogicalPlan leaf = (LogicalPlan) leaves.next();
      Object cached = Commands.call(Commands.call(leaf, "cacheBuilder"), "logicalPlan");
      if (isData(leaf) || cached != null && reads((LogicalPlan) cached)) return true;
    }
    scala.collection.Iterator subqueries = plan.subqueriesAll().iterator();
    while (subqueries.hasNext()) if (reads((LogicalPlan) subqueries.next())) return true;
    return false;
  }

  /** What decides the rows of a plan: data, a command, which may say what the catalog has; or neither: empty. */
  public static String source(LogicalPlan plan) {
    if (reads(plan)) return "data";
    scala.collection.Iterator leaves = plan.collectLeaves().iterator();
    while (leaves.hasNext()) {
      LogicalPlan leaf = (LogicalPlan) leaves.next();
      if (leaf.getClass().getSimpleName().equals("CommandResult") && !leaf.output().isEmpty()) return "command";
    }
    return "";
  }

  public List apply(LogicalPlan plan) {
    LogicalPlan root = plan instanceof ReturnAnswer ? ((ReturnAnswer) plan).child() : plan;
    if (root instanceof Command && !Commands.isHarmless(root)) return planned(InventedRows.relation(root, 0));
    if (root.getClass().getSimpleName().equals("DeleteFromTable")) return (List) Nil$.MODULE$; // a change of the table's metadata
    LogicalPlan written = StreamWrites.harmless(root);
    if (written != root) return planned(written);
    LogicalPlan filled = needsRow(root);
    LogicalPlan changed = (LogicalPlan) plan.transformDown(new Emptying(filled != null && reads(filled) ? filled : null));
    return changed == plan ? (List) Nil$.MODULE$ : planned(changed);
  }

  private List planned(LogicalPlan plan) { return ((List) Nil$.MODULE$).$colon$colon(planLater(plan)); }

  /**
   * The query of which one row is invented: that of files, for Spark makes no partition and infers no schema without,
   * of a variable, which would be null, and of a loop of a script.
   */
  private static LogicalPlan needsRow(LogicalPlan root) {
    if (root instanceof InsertIntoHadoopFsRelationCommand || root.getClass().getSimpleName().equals("SetVariable")) {
      LogicalPlan query = (LogicalPlan) root.children().head();
      return query.getClass().getSimpleName().equals("WriteFiles") ? (LogicalPlan) query.children().head() : query;
    }
    return Metadata.isCalledFrom(LOOP) && !(root instanceof Command) ? root : null;
  }

  /** Puts another relation in the place of each relation, and of a query with a row. */
  private static class Emptying extends AbstractPartialFunction {
    private final LogicalPlan filled;

    Emptying(LogicalPlan filled) { this.filled = filled; }

    public boolean isDefinedAt(Object node) {
      if (node == filled) return true;
      return node instanceof LeafNode ? NoRows.isData((LogicalPlan) node) : NoRows.runsFunctions((LogicalPlan) node);
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
      if (node == filled) return InventedRows.relation((LogicalPlan) node, Metadata.isCalledFrom(LOOP) ? LOOP_ROWS : 1);
      return isDefinedAt(node) ? NoRows.replacement((LogicalPlan) node) : otherwise.apply(node);
    }
  }

  static boolean runsFunctions(LogicalPlan node) {
    String name = node.getClass().getSimpleName();
    for (int i = 0; i < FUNCTIONS.length; i++) if (name.contains(FUNCTIONS[i])) return !Metadata.isRead(node);
    return false;
  }

  static boolean isData(LogicalPlan leaf) {
    String name = leaf.getClass().getSimpleName();
    if (leaf instanceof Command || OWN.contains(name) || name.startsWith("Resolved") || leaf.output().isEmpty()) return false;
    if (leaf instanceof LogicalRDD && isOfProgram(((LogicalRDD) leaf).rdd())) return false;
    return !Metadata.isRead(leaf);
  }

  /** Whether the rows of an RDD are values that the program made it of. */
  private static boolean isOfProgram(RDD rdd) {
    String name = rdd.getClass().getSimpleName();
    if (name.equals("ParallelCollectionRDD")) return true;
    if (!name.equals("MapPartitionsRDD") || rdd.dependencies().isEmpty()) return false;
    return isOfProgram(((Dependency) rdd.dependencies().head()).rdd());
  }

  /** No rows; some for MLlib, which fits no model without; for RDDs a partition, as unions leave out those without. */
  private static LogicalPlan replacement(LogicalPlan node) {
    if (Metadata.isCalledFrom("org.apache.spark.ml.")) return InventedRows.relation(node, FIT_ROWS);
    boolean leaves = Metadata.isCalledFrom("javaToPython") && !node.isStreaming();
    return leaves ? (LogicalPlan) new Filter(Literal.FalseLiteral(), InventedRows.relation(node, 1)) : InventedRows.relation(node, 0);
  }
}
