package headwater.dryrun;

import org.apache.spark.sql.SparkSessionExtensions;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/** Named by {@code spark.sql.extensions}, so that each session has the strategy. */
public class Extensions extends AbstractFunction1 {
  public Object apply(Object extensions) {
    ((SparkSessionExtensions) extensions).injectPlannerStrategy(new NewStrategy());
    ((SparkSessionExtensions) extensions).injectHintResolutionRule(new NewRule()); // hints come before names are resolved
    return BoxedUnit.UNIT;
  }

  private static class NewStrategy extends AbstractFunction1 {
    public Object apply(Object session) { return new NoRows(); }
  }

  private static class NewRule extends AbstractFunction1 {
    public Object apply(Object session) { return new MissingTables(session); }
  }
}
