package headwater.dryrun;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.Dependency;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LeafNode;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ReturnAnswer;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.SparkStrategy;
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

  /** Operators that run functions of the job, which may do anything, also with rows of the program's own. */
  private static final String[] FUNCTIONS = new String[] {"Python", "Pandas", "MapInArrow", "MapPartitions", "MapElements", "InArrow", "MapGroups", "CoGroup"};

  /** Whether the rows of a plan depend on data that the program does not hold itself. */
  public static boolean reads(LogicalPlan plan) {
    scala.collection.Iterator leaves = plan.collectLeaves().iterator();
    while (leaves.hasNext()) if (isData((LogicalPlan) leaves.next())) return true;
    return false;
  }

  public List apply(LogicalPlan plan) {
    LogicalPlan command = plan instanceof ReturnAnswer ? ((ReturnAnswer) plan).child() : plan;
    if (command instanceof Command && !Commands.isHarmless(command)) return ((List) Nil$.MODULE$).$colon$colon(planLater(empty(command)));
    LogicalPlan empty = (LogicalPlan) plan.transformDown(new Emptying());
    return empty == plan ? (List) Nil$.MODULE$ : ((List) Nil$.MODULE$).$colon$colon(planLater(empty));
  }

  /** Puts an empty relation in the place of each relation. */
  private static class Emptying extends AbstractPartialFunction {
    public boolean isDefinedAt(Object node) { return node instanceof LeafNode ? NoRows.isData((LogicalPlan) node) : NoRows.runsFunctions((LogicalPlan) node); }

    public Object applyOrElse(Object node, Function1 otherwise) {
      if (isDefinedAt(node)) return NoRows.empty((LogicalPlan) node);
      return otherwise.apply(node);
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

  static LocalRelation empty(LogicalPlan leaf) {
    try {
      Constructor constructor = LocalRelation.class.getConstructors()[0];
      Object[] values = new Object[constructor.getParameterTypes().length];
      Object[] first = new Object[] {leaf.output(), Nil$.MODULE$, Boolean.valueOf(leaf.isStreaming())};
      for (int i = 0; i < values.length; i++) values[i] = i < first.length ? first[i] : scala.None$.MODULE$;
      return (LocalRelation) constructor.newInstance(values);
    } catch (Exception unlike) { throw new IllegalStateException("This Spark has another LocalRelation than is known", unlike); }
  }
}
