package headwater;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * A program that is started when this JVM ends before the agent has let go of it: killed, or ended by os._exit, Python
 * says nothing, and the JVM, whose input closes then, is the only one that knows.
 */
public class LastWords extends Thread {
  private String[] command = null;
  private String text = null;
  private String statusFile = "";

  /**
   * The program, and what it reads; null for none. With the name of a file it is started only where that has the status
   * of an exit, as one byte, which is not 0; the status takes the place of {status} in the text.
   */
  public synchronized void set(String[] command, String text, String statusFile) {
    if (this.command == null && command != null && this.text == null) Runtime.getRuntime().addShutdownHook(this);
    this.command = command;
    this.text = text == null ? "" : text;
    this.statusFile = statusFile;
  }

  public void run() {
    String[] words;
    String said;
    String status;
    synchronized (this) { words = command; said = text; status = statusFile; }
    if (words == null) return;
    try {
      if (!status.isEmpty()) {
        byte[] found = Files.readAllBytes(Paths.get(status));
        new File(status).delete();
        if (found.length != 1 || found[0] == 0) return;
        said = said.replace("{status}", String.valueOf(found[0] & 0xff));
      }
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
