package headwater;

/** How much of a plan is read, and how long that may take: nodes, milliseconds, characters of an expression's SQL (0 for none), milliseconds of an answer of a connector. */
public class Limits {
  public final int nodes;
  public final long milliseconds;
  public final int sql;
  public final long answer;

  public Limits(int nodes, long milliseconds, int sql, long answer) {
    this.nodes = nodes;
    this.milliseconds = milliseconds;
    this.sql = sql;
    this.answer = answer;
  }

  /** For the inputs and outputs alone of a plan above these limits. */
  public Limits coarse() { return new Limits(Math.max(nodes, 100000), Math.max(milliseconds, 2000), sql, answer); }
}
