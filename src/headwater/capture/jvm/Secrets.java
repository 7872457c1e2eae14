package headwater;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Takes passwords and keys out of URLs, paths and SQL before anything leaves the JVM.
 *
 * Of a JDBC URL only the properties stay that say where the data is: an unknown one costs nothing, a password never shows.
 */
public class Secrets {
  public static final String MASK = "***";
  private static final String NAMES = "(?:password|passwd|pwd|passphrase|secret|token|credential|(?:access|api|account|private)[_.-]?key)";
  /** A property and its value, which ends where the next property begins: passwords may hold the characters between. Lengths are bounded as below. */
  private static final Pattern PROPERTY = Pattern.compile("([?;&,:(\\s])\\s{0,8}([A-Za-z_][A-Za-z0-9_.]{0,128})\\s{0,8}=(\\{[^}]{0,1024}\\}|(?:(?![?;&,()]{1,8}\\s{0,8}[A-Za-z_(][A-Za-z0-9_.]{0,64}\\s{0,8}=)(?!\\)\\s{0,8}[()/]|\\)\\s{0,8}$).)*+)", Pattern.DOTALL);
  private static final Pattern PLACE = Pattern.compile("database(name)?|db|schema|server(name)?|port(number)?|instance(name)?|host|dbs_port|service_name|sid|address|address_list|description|connect_data|protocol", Pattern.CASE_INSENSITIVE);
  private static final Pattern USER_OF_HOST = Pattern.compile("(//|,)[^/,@?;=]*@");
  private static final Pattern USER = Pattern.compile("//(?:[^?;]*@)?+([^?;]*+)");
  private static final Pattern USER_WITHOUT_SLASHES = Pattern.compile("^(jdbc:(?:\\w+:){1,2})[^?;]*@");
  private static final Pattern USER_AND_PASSWORD = Pattern.compile("//[^/@:]{0,256}:[^@]{0,512}@");
  private static final Pattern NAMED = Pattern.compile(NAMES, Pattern.CASE_INSENSITIVE);
  /** Lengths are bounded, so that a long text costs no more than its length. */
  private static final Pattern IN_SQL = Pattern.compile("(" + NAMES + "[\\w.]{0,64}['\"`]?\\s{0,64}(?:=>|[=,\\s])\\s{0,64})('(?:[^'\\\\]++|\\\\[\\s\\S]|'')*+(?:'|\\z)|\"(?:[^\"\\\\]++|\\\\[\\s\\S])*+(?:\"|\\z))", Pattern.CASE_INSENSITIVE);
  private static final Pattern URL_IN_SQL = Pattern.compile("jdbc:[^'\"\\s]+", Pattern.CASE_INSENSITIVE);
  private static final Pattern USER_IN_TEXT = Pattern.compile("//[^\\s/@:'\"]{0,256}:[^\\s'\"]{0,512}@|(?<=\\bhttps?:)//[^\\s/@]{0,512}@", Pattern.CASE_INSENSITIVE);
  private static final Pattern VALUE_IN_TEXT = Pattern.compile("((?:" + NAMES + "[\\w.-]{0,64}|[?&][\\w-]{0,64}sig(?:nature)?)['\"`]?\\s{0,8}(?:=>|[=:])\\s{0,8}|\\b(?:bearer|basic)\\s{1,8}(?=[\\w.~+/=-]{16}))(?!'?\\*\\*\\*)('[^']*(?:'|\\z)|\"[^\"]*(?:\"|\\z)|[^\\s&;]+)", Pattern.CASE_INSENSITIVE);

  /** A JDBC URL with its host, port and database, without user, password and other properties. */
  public static String url(String url) {
    Matcher found = PROPERTY.matcher(url);
    StringBuffer kept = new StringBuffer();
    while (found.find()) {
      boolean place = PLACE.matcher(found.group(2)).matches();
      found.appendReplacement(kept, Matcher.quoteReplacement(place ? found.group() : found.group(1)));
    }
    found.appendTail(kept);
    String text = USER_OF_HOST.matcher(kept.toString()).replaceAll("$1");
    text = USER.matcher(text).replaceAll("//$1");
    return USER_WITHOUT_SLASHES.matcher(text).replaceAll("$1@");
  }

  /** Where data is, a path or a URL, without user and password. */
  public static String place(String text) { return text.regionMatches(true, 0, "jdbc:", 0, 5) ? url(text) : path(text); }

  /** A path without the user and password before its host; the part before "@" may be a container, which stays. */
  public static String path(String path) { return USER_AND_PASSWORD.matcher(path).replaceAll("//"); }

  /** SQL or a message in which options that are named like secrets, and JDBC URLs, have no secret values. */
  public static String text(String sql) {
    if (sql == null) return null;
    Matcher found = URL_IN_SQL.matcher(IN_SQL.matcher(sql).replaceAll("$1'" + MASK + "'"));
    StringBuffer kept = new StringBuffer();
    while (found.find()) found.appendReplacement(kept, Matcher.quoteReplacement(url(found.group())));
    found.appendTail(kept);
    return kept.toString();
  }

  /** A message, or a text of others, without the users and passwords of URLs and without values of what is named like a secret, quoted or not. */
  public static String message(String message) {
    if (message == null) return null;
    String known = message.regionMatches(true, 0, "jdbc:", 0, 5) ? url(message) : text(message);
    return VALUE_IN_TEXT.matcher(USER_IN_TEXT.matcher(known).replaceAll("//")).replaceAll("$1" + MASK);
  }

  /** Whether a key or an option is named like a secret. */
  public static boolean isNamed(String name) { return NAMED.matcher(name).find(); }
}
