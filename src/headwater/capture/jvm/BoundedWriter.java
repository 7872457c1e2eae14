package headwater;

import java.io.IOException;
import java.io.Writer;

/** Text up to a length; what is longer fails. */
public class BoundedWriter extends Writer {
  private final StringBuilder text = new StringBuilder();
  private final int longest;

  public BoundedWriter(int longest) { this.longest = longest; }

  public void write(char[] characters, int from, int length) throws IOException {
    if (text.length() + length > longest) throw new IOException("more than " + longest + " characters");
    text.append(characters, from, length);
  }

  public void flush() { }

  public void close() { }

  public String toString() { return text.toString(); }
}
