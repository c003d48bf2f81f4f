package io.mallometer.interposer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** What to do, literally: commands and settings that can be copied from a log line. */
final class Remedy {

  /** From this JDK on, loading native code prints a warning unless it was allowed. */
  private static final int NATIVE_ACCESS_WARNING_SINCE = 24;

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
    return LaunchCommand.ofThisProcess().preloading(library, preloaded(), warns());
  }

  static String allowNativeAccess() {
    return again(List.of(LaunchCommand.ALLOW_NATIVE_ACCESS));
  }

  /** Where the library itself could be unpacked, JNA's native part can be, too. */
  static String unpackJna() {
    try {
      return unpackJnaTo(String.valueOf(BundledLibrary.extract().getParent()));
    } catch (IOException e) {
      return unpackJnaTo("DIR")
          + ", where DIR is a directory that can be written to and is not mounted noexec ("
          + e.getMessage()
          + ")";
    }
  }

  private static String unpackJnaTo(String directory) {
    String option = "-Djna.tmpdir=" + directory;
    return again(warns() ? List.of(option, LaunchCommand.ALLOW_NATIVE_ACCESS) : List.of(option));
  }

  /** The library is preloaded already and stays so. */
  private static String again(List<String> options) {
    return LaunchCommand.ofThisProcess().withOptions(preloaded(), options);
  }

  private static boolean warns() {
    return Runtime.version().feature() >= NATIVE_ACCESS_WARNING_SINCE;
  }

  private static String preloaded() {
    return System.getenv().getOrDefault("LD_PRELOAD", "");
  }

  static String permit() {
    return "Grant java.security.AllPermission to the jars of mallometer and JNA in the policy,"
        + " or start without a security manager";
  }

  static String addJna() {
    return "Add the dependency net.java.dev.jna:jna, version 5.12 or newer";
  }

  /** A runtime that jlink made may lack modules. */
  static String addModule() {
    return "Add --add-modules java.logging,java.management to the command line,"
        + " or to jlink's if that made the runtime";
  }

  static String container() {
    return "Run it in a Linux x86-64 container with glibc:"
        + " docker run --platform linux/amd64 ... eclipse-temurin:25-jre";
  }

  static String enable(String setting) {
    return "Start without " + setting;
  }

  static String count() {
    return "Call mallometer_enable(), or start again";
  }

  static String include() {
    return "Start without MALLOMETER_ONLY, or name java in it";
  }
}
