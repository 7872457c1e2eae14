package headwater;

import java.io.File;
import java.nio.charset.StandardCharsets;

/**
 * A program that is started when this JVM ends before the agent has let go of it: killed, or ended by os._exit, Python
 * says nothing, and the JVM, whose input closes then, is the only one that knows.
 */
public class LastWords extends Thread {
  private String[] command = null;
  private String text = null;

  /** The program, and what it reads; null for none. */
  public synchronized void set(String[] command, String text) {
    if (this.command == null && command != null && this.text == null) Runtime.getRuntime().addShutdownHook(this);
    this.command = command;
    this.text = text == null ? "" : text;
  }

  public void run() {
    String[] words;
    String said;
    synchronized (this) { words = command; said = text; }
    if (words == null) return;
    try {
      ProcessBuilder builder = new ProcessBuilder(words);
      File nowhere = new File("/dev/null");
      builder.redirectOutput(nowhere);
      builder.redirectError(nowhere);
      java.io.OutputStream input = builder.start().getOutputStream();
      input.write(said.getBytes(StandardCharsets.UTF_8));
      input.close();
    } catch (Throwable nothing) { }
  }
}
