package headwater;

import java.io.Writer;

/** The facets of a builder of OpenLineage's client as JSON, written by the ObjectMapper that comes with that client. */
public class Facets extends ClassValue {
  private static final Facets MAPPERS = new Facets();
  private static final int LONGEST = 262144;

  /** The JSON text of what a facets builder (OpenLineage$DatasetFacetsBuilder) builds: {name: facet}. */
  public static String text(Object builder) throws Exception {
    Object built = builder.getClass().getMethod("build", new Class[0]).invoke(builder, new Object[0]);
    Object mapper = MAPPERS.get(built.getClass());
    BoundedWriter writer = new BoundedWriter(LONGEST);
    mapper.getClass().getMethod("writeValue", new Class[] {Writer.class, Object.class}).invoke(mapper, new Object[] {writer, built});
    return JsonSecrets.masked(writer.toString());
  }

  /** The mapper that OpenLineageClientUtils makes, which stands beside OpenLineage in every copy of the client. */
  protected Object computeValue(Class facets) {
    String name = facets.getName();
    int end = name.lastIndexOf("OpenLineage$");
    try {
      if (end < 0) throw new IllegalArgumentException("facets of a class of its own, " + name);
      Class client = facets.getClassLoader().loadClass(name.substring(0, end) + "OpenLineageClientUtils");
      return client.getMethod("newObjectMapper", new Class[0]).invoke(null, new Object[0]);
    } catch (IllegalArgumentException known) { throw known; } catch (Exception missing) { throw new IllegalArgumentException("no mapper for " + name + " (" + missing + ")"); }
  }
}
