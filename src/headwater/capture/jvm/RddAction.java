package headwater;

import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import org.apache.hadoop.fs.Path;
import org.apache.spark.rdd.RDD;

/**
 * An RDD that is saved, or whose rows a function takes, for which Spark posts no SQL execution: a plan of two operators,
 * the RDD's rows and what becomes of them.
 *
 * Its dependencies are followed when it begins, since a checkpoint cuts them off.
 */
public class RddAction {
  public final String name;
  private final RDD rdd;
  private final Object[] origins;
  private final String path;
  private final String[] columns;

  /** ``changed`` where a function comes between the RDD and what is saved; ``path`` is null where there is none. */
  public RddAction(String name, RDD rdd, boolean changed, String path, String columns) {
    this.name = name;
    this.rdd = rdd;
    this.origins = origins(rdd, changed);
    this.path = path;
    this.columns = columns(columns.isEmpty() ? new String[0] : columns.split(","), changed ? null : Origins.json(rdd.id()));
  }

  /** Lines of JSON have the columns of the DataFrame for who reads them as such, after those they have as text. */
  private static String[] columns(String[] own, String[] json) {
    List found = new ArrayList(Arrays.asList(own));
    for (int i = 0; json != null && i < json.length; i++) found.add(json[i]);
    return (String[]) found.toArray(new String[0]);
  }

  /** Null where the dependencies cannot be followed, as of files that are not there. */
  private static Object[] origins(RDD rdd, boolean changed) {
    try {
      Object[] found = Origins.of(rdd);
      if (changed) found[0] = Integer.valueOf(-1);
      return found;
    } catch (Throwable failed) { return null; }
  }

  /** The plan as PlanWriter writes those of executions. */
  public String plan() throws IOException {
    StringWriter text = new StringWriter();
    JsonGenerator out = new JsonFactory().createGenerator(text);
    out.writeStartObject();
    out.writeArrayFieldStart("nodes");
    for (int i = 0; i < columns.length; i++) writeColumn(out, i);
    writeRows(out);
    writeAction(out);
    out.writeEndArray();
    out.writeObjectFieldStart("session");
    out.writeEndObject();
    out.writeArrayFieldStart("output");
    out.writeEndArray();
    out.writeEndObject();
    out.close();
    return text.toString();
  }

  private void writeColumn(JsonGenerator out, int place) throws IOException {
    begin(out, "AttributeReference", -1);
    out.writeStartObject();
    out.writeEndObject();
    out.writeStartObject();
    out.writeNumberField("id", -2 - place);
    out.writeStringField("name", columns[place]);
    out.writeEndObject();
    out.writeEndArray();
  }

  private void writeRows(JsonGenerator out) throws IOException {
    begin(out, "LogicalRDD", -1);
    out.writeStartObject();
    out.writeArrayFieldStart("output");
    for (int i = 0; i < columns.length; i++) out.writeNumber(i);
    out.writeEndArray();
    out.writeEndObject();
    out.writeStartObject();
    out.writeObjectFieldStart("rdd");
    out.writeStringField("class", Reflection.className(rdd));
    if (origins != null) Origins.write(out, origins);
    out.writeEndObject();
    out.writeEndObject();
    out.writeNumber(1);
    out.writeEndArray();
  }

  private void writeAction(JsonGenerator out) throws IOException {
    begin(out, name, columns.length);
    out.writeStartObject();
    out.writeEndObject();
    out.writeStartObject();
    if (path != null) out.writeStringField("path", Secrets.place(qualified()));
    out.writeEndObject();
    out.writeNumber(1);
    out.writeEndArray();
  }

  /** Begins a node with its class and its child, if that is none below zero. */
  private static void begin(JsonGenerator out, String name, int child) throws IOException {
    out.writeStartArray();
    out.writeString(name);
    out.writeStartArray();
    if (child >= 0) out.writeNumber(child);
    out.writeEndArray();
  }

  /** The path as Hadoop resolves it: a relative one lies in the working folder of the file system. */
  private String qualified() {
    try {
      Path found = new Path(path);
      return found.getFileSystem(rdd.sparkContext().hadoopConfiguration()).makeQualified(found).toString();
    } catch (Throwable unknown) { return path; }
  }
}
