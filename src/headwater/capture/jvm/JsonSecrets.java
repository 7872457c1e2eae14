package headwater;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * Takes passwords and keys out of facets, which are JSON of others, value by value: what is left is JSON of the same shape.
 *
 * Texts and numbers under a key that is named like a secret are masked, however deep, and so is the value of a pair
 * {"name": "password", "value": ...}; all other texts are masked as messages are. Below "fields" or "columns" keys are
 * names of columns: a column may be called "token".
 */
public class JsonSecrets {
  private static final ObjectMapper MAPPER = new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  private static final String[] NAMED = new String[] {"name", "key"};

  /** A JSON text without secrets; a text that is no JSON is masked as a message. */
  public static String masked(String text) {
    try { return MAPPER.writeValueAsString(value(MAPPER.readValue(text, Object.class), false, false)); } catch (Throwable noJson) { return Secrets.message(text); }
  }

  private static Object value(Object value, boolean secret, boolean ofColumns) {
    if (value instanceof Map) return object((Map) value, secret, ofColumns);
    if (value instanceof List) {
      List items = new ArrayList();
      Iterator i = ((List) value).iterator();
      while (i.hasNext()) items.add(value(i.next(), secret, false));
      return items;
    }
    if (secret && (value instanceof String || value instanceof Number)) return Secrets.MASK;
    return value instanceof String ? Secrets.message((String) value) : value;
  }

  private static Map object(Map object, boolean secret, boolean ofColumns) {
    boolean pair = false;
    for (int i = 0; i < NAMED.length; i++) pair |= object.get(NAMED[i]) instanceof String && Secrets.isNamed((String) object.get(NAMED[i]));
    Map found = new LinkedHashMap();
    Iterator i = object.entrySet().iterator();
    while (i.hasNext()) {
      Map.Entry entry = (Map.Entry) i.next();
      String key = (String) entry.getKey();
      boolean named = secret || !ofColumns && Secrets.isNamed(key) || pair && key.equals("value");
      found.put(ofColumns ? key : Secrets.message(key), isType(key) && entry.getValue() instanceof String && !named ? entry.getValue() : value(entry.getValue(), named, isOfColumns(key)));
    }
    return found;
  }

  private static boolean isOfColumns(String key) { return key.toLowerCase().matches(".*(?:field|column).*"); }

  /** Types name fields too, in a form in which messages have secrets: struct<token:string>. */
  private static boolean isType(String key) { return key.toLowerCase().endsWith("type"); }
}
