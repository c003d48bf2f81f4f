package io.mallometer.interposer;

import java.io.IOException;
import java.nio.file.Path;

/** What to do, literally: commands and settings that can be copied from a log line. */
final class Remedy {

  /** From this JDK on, loading native code prints a warning unless it was allowed. */
  private static final int NATIVE_ACCESS_WARNING_SINCE = 24;

  private static final String ALLOW = "--enable-native-access=ALL-UNNAMED";

  private Remedy() {}

  /** Start again with the library, which is unpacked for that. */
  static String preload() {
    try {
      return command(BundledLibrary.extract());
    } catch (IOException e) {
      return "Unpack the library where it can be mapped: java -jar mallometer-agent.jar extract DIR"
          + " and start with LD_PRELOAD=DIR/libmallometer.so ("
          + e.getMessage()
          + ")";
    }
  }

  private static String command(Path library) {
    return preloadCommand(
        library,
        System.getenv("LD_PRELOAD"),
        Runtime.version().feature(),
        System.getProperty("sun.java.command", ""));
  }

  /**
   * The command that starts this program with the library.
   *
   * @param preloaded the present value of {@code LD_PRELOAD}, if any: it is kept, behind ours,
   *     because the first malloc in the list is the one that is called
   * @param jdk the feature release of the JDK
   * @param program the system property {@code sun.java.command}. Of it only the name of a jar is
   *     used: arguments may be secret
   */
  static String preloadCommand(
      Path library, @org.jspecify.annotations.Nullable String preloaded, int jdk, String program) {
    String list = preloaded == null || preloaded.isBlank() ? "" : ":" + preloaded.strip();
    String jar = program.split(" ", 2)[0];
    return "LD_PRELOAD="
        + ShellWord.quote(library + list)
        + " java "
        + (jdk >= NATIVE_ACCESS_WARNING_SINCE ? ALLOW + " " : "")
        + (jar.endsWith(".jar") ? "-jar " + ShellWord.quote(jar) : "...");
  }

  static String allowNativeAccess() {
    return "java " + ALLOW + " ...";
  }

  static String unpackJna() {
    return "java -Djna.tmpdir=DIR ... with a directory DIR that can be written and executed from";
  }

  static String addJna() {
    return "Add the dependency net.java.dev.jna:jna, version 5.12 or newer";
  }

  static String container() {
    return "Run it in a Linux x86-64 container with glibc:"
        + " docker run --platform linux/amd64 ... eclipse-temurin:25-jre";
  }

  static String enable() {
    return "Start without MALLOMETER_ENABLED=false";
  }

  static String include() {
    return "Start without MALLOMETER_ONLY, or name java in it";
  }

  static String sameVersion() {
    return preload();
  }
}
