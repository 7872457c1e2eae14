package headwater;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Which methods of OpenLineage's interfaces for Spark extensions a class has.
 *
 * The interfaces are known by the last part of their name below any package with "openlineage" in it: the Scala traits
 * (io.openlineage.spark.builtin.scala.v1), the Java interfaces (io.openlineage.spark.extension.v1,
 * io.openlineage.spark.shade.extension.v1) and copies that a connector moved to a package of its own.
 */
public class Interfaces extends ClassValue {
  private static final Interfaces KNOWN = new Interfaces();
  private static final Method[] NONE = new Method[0];
  private static final Pattern NAME = Pattern.compile(
    "(?:.*\\.)?openlineage\\..*\\b(?:InputLineageNode|OutputLineageNode|ColumnLevelLineageNode|LineageRelation|LineageRelationProvider|LineageDatasetProvider)");
  private static final Map ANSWER_OF = new HashMap();

  static {
    String[] names = new String[] {
      "getInputs", "inputs", "getOutputs", "outputs", "columnLevelLineageInputs", "fieldsRead", "getColumnLevelLineageInputs", "fieldsRead",
      "columnLevelLineageOutputs", "fieldsWritten", "getColumnLevelLineageOutputs", "fieldsWritten", "columnLevelLineageDependencies", "dependencies",
      "getColumnLevelLineageDependencies", "dependencies", "getLineageDatasetIdentifier", "relation", "getLineageDataset", "relation"};
    for (int i = 0; i < names.length; i += 2) ANSWER_OF.put(names[i], names[i + 1]);
  }

  /** The methods that answer with lineage, of the interfaces themselves; of nearly every class there are none. */
  public static Method[] of(Class type) { return (Method[]) KNOWN.get(type); }

  /** What a method answers: inputs, outputs, fieldsRead, fieldsWritten, dependencies, relation. */
  public static String answer(Method method) { return (String) ANSWER_OF.get(method.getName()); }

  /** Once for each class, and forgotten with it. */
  protected Object computeValue(Class type) {
    List found = new ArrayList();
    for (Class one = type; one != null; one = one.getSuperclass()) collect(one, found);
    return found.isEmpty() ? NONE : (Method[]) found.toArray(NONE);
  }

  private static void collect(Class type, List found) {
    if (type.isInterface() && NAME.matcher(type.getName()).matches()) {
      Method[] methods = type.getMethods();
      for (int i = 0; i < methods.length; i++) if (answer(methods[i]) != null && !methods[i].isBridge() && !found.contains(methods[i])) found.add(methods[i]);
    }
    Class[] parents = type.getInterfaces();
    for (int i = 0; i < parents.length; i++) collect(parents[i], found);
  }
}
