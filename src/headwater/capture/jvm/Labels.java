package headwater;

import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import com.fasterxml.jackson.core.JsonGenerator;

/** What the properties of a table say of its dataset: openlineage.dataset.name, .namespace and .facets.&lt;name&gt;. */
public class Labels {
  private static final String PREFIX = "openlineage.dataset.";
  private static final String FACETS = "facets.";
  private static final int LONGEST = 65536;
  private static final int MOST = 100;

  /** The field "openlineage" of a table with such properties: {"name", "namespace", "facets": {name: JSON text}}. */
  public static void write(JsonGenerator out, Object properties) throws IOException {
    Map found = found(properties);
    if (found.isEmpty()) return;
    out.writeObjectFieldStart("openlineage");
    Object name = found.remove("name");
    Object namespace = found.remove("namespace");
    if (name != null) out.writeStringField("name", Secrets.place((String) name));
    if (namespace != null) out.writeStringField("namespace", Secrets.place((String) namespace));
    out.writeObjectFieldStart("facets");
    Iterator i = found.entrySet().iterator();
    for (int n = 0; n < MOST && i.hasNext(); n++) {
      Map.Entry entry = (Map.Entry) i.next();
      String key = (String) entry.getKey();
      if (key.startsWith(FACETS)) out.writeStringField(key.substring(FACETS.length()), JsonSecrets.masked((String) entry.getValue()));
    }
    out.writeEndObject();
    out.writeEndObject();
  }

  private static Map found(Object properties) {
    Map found = new LinkedHashMap();
    if (properties instanceof Map) {
      Iterator i = ((Map) properties).entrySet().iterator();
      while (i.hasNext()) { Map.Entry entry = (Map.Entry) i.next(); keep(found, entry.getKey(), entry.getValue()); }
    } else if (properties instanceof scala.collection.Map) {
      scala.collection.Iterator i = ((scala.collection.Map) properties).iterator();
      while (i.hasNext()) { scala.Product entry = (scala.Product) i.next(); keep(found, entry.productElement(0), entry.productElement(1)); }
    }
    return found;
  }

  private static void keep(Map found, Object key, Object value) {
    String name = String.valueOf(key);
    if (!name.startsWith(PREFIX) || !(value instanceof String)) return;
    String text = (String) value;
    found.put(name.substring(PREFIX.length()), text.length() <= LONGEST ? text : text.substring(0, LONGEST));
  }
}
