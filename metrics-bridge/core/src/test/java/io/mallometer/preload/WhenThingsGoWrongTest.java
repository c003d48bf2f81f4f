package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mallometer.ChildJvm;
import io.mallometer.ChildJvm.Result;
import io.mallometer.internal.library.load.BundledLibrary;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests each way in which the native library may be unavailable. The program must run to its end as
 * if mallometer were absent, and the status must give the reason and the remedy.
 *
 * <p>Each test starts its own JVM, because the failure remains until the process ends.
 */
@Tag("process")
@Tag("any-jdk")
class WhenThingsGoWrongTest {

  private static final String ATTACH =
      "mallometer's command line \\(attach PID\\) starts counting; to count from the start: ";

  @TempDir private Path directory;
  private Path library = Path.of("unset");

  @BeforeEach
  void extractLibrary() throws Exception {
    library = BundledLibrary.extract(directory.resolve("library"));
  }

  /**
   * Returns a copy of the library whose JNI functions have other names, so that the Java library
   * must use JNA.
   */
  private Path olderLibrary() throws Exception {
    String bytes = Files.readString(library, StandardCharsets.ISO_8859_1);
    return Files.writeString(
        Files.createTempDirectory(directory, "older").resolve("libmallometer.so"),
        bytes.replace("Java_io_mallometer_", "Jova_io_mallometer_"),
        StandardCharsets.ISO_8859_1);
  }

  @Test
  void notPreloadedLeavesNoTraceOfJnaAndTheRemedyReallyHelps() {
    Result result =
        new ChildJvm()
            .environment("XDG_CACHE_HOME", cache())
            .options("-verbose:class")
            .run(Program.class);

    assertThat(result.output())
        .contains("state=UNAVAILABLE")
        .contains("reason=the library is not preloaded")
        .containsPattern(
            "remedy=" + ATTACH + "LD_PRELOAD=" + cache() + "/mallometer/\\w+/libmallometer.so\n")
        .contains("threads=[mallometer-poller]")
        .contains("done")
        .doesNotContain("com.sun.jna");
    assertThat(result.exitCode()).isZero();
    String path = result.output().replaceAll("(?s).*LD_PRELOAD=(\\S+).*", "$1");
    assertThat(new ChildJvm().preload(Path.of(path)).run(Program.class).output())
        .contains("state=ACTIVE")
        .contains("reason=preloaded")
        .contains("done");
  }

  /**
   * The program has used all direct memory. Another direct buffer would cost several full
   * collections, and its allocation would fail.
   */
  @Test
  void everyFigureIsReadThoughTheDirectMemoryIsUsedUp() {
    Result result =
        new ChildJvm()
            .preload(library)
            .environment("MALLOMETER_OVERHEAD_TARGET", "off")
            .options("-XX:MaxDirectMemorySize=1m")
            .run(ReadsEverything.class);

    assertThat(result.output().lines())
        .contains(
            "status ACTIVE preloaded",
            "remark ",
            "counters live=true huge=1 largest=68157440 thread=true",
            "events [68157440]",
            "site live=40.0 bytes=true ages=true",
            "dropped [no_java, no_method, no_module, no_site, no_stack, not_followed, truncated]",
            "allocator GLIBC arenas=true system=true",
            "observation ON  objects=true",
            "recording OFF",
            "ranges true",
            "end");
    assertThat(result.output()).doesNotContain("direct 0", "OutOfMemoryError");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void switchedOff() {
    Result result =
        new ChildJvm()
            .preload(library)
            .environment("MALLOMETER_ENABLED", "off")
            .options("-verbose:class")
            .run(Program.class);

    assertThat(result.output())
        .contains("state=DISABLED")
        .contains("reason=MALLOMETER_ENABLED=off")
        .contains("process=false")
        .contains("done")
        .contains("io.mallometer.Mallometer ")
        .doesNotContain("com.sun.jna.Native ");
  }

  @Test
  void excluded() {
    Result result =
        new ChildJvm().preload(library).environment("MALLOMETER_ONLY", "other").run(Program.class);

    assertThat(result.output())
        .contains("state=DISABLED")
        .contains("reason=MALLOMETER_ONLY")
        .contains("done");
  }

  @Test
  void aLimitOfMemoryIsLeftToTheProgram() {
    Result result = new ChildJvm().preload(library).limited("-d 500000").run(Program.class);

    assertThat(result.output())
        .contains("state=ACTIVE")
        .contains(
            "sites=call sites are not recorded: the limit of writable memory (RLIMIT_DATA) leaves"
                + " less than 64 times the size of the tables")
        .contains("done");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void aFileThatDoesNotExist() {
    Path missing = directory.resolve("gone/libmallometer.so");
    Result result =
        new ChildJvm().preload(missing).environment("XDG_CACHE_HOME", cache()).run(Program.class);

    assertThat(result.output())
        .contains("reason=LD_PRELOAD names " + missing + ", which does not exist")
        .contains("done");
  }

  @Test
  void aFileBuiltForAnotherPlatform() throws Exception {
    Path other = directory.resolve("libmallometer.so");
    byte[] bytes = Files.readAllBytes(library);
    bytes[18] = (byte) 183; // This sets the field e_machine to AArch64.
    Files.write(other, bytes);
    Result result =
        new ChildJvm().preload(other).environment("XDG_CACHE_HOME", cache()).run(Program.class);

    assertThat(result.output()).contains("the dynamic linker did not load it").contains("done");
  }

  @Test
  void anotherVersionOfTheInterface() throws Exception {
    Path other = compile("unsigned mallometer_abi_version(void) { return 0x99; }");
    Result result =
        new ChildJvm().preload(other).environment("XDG_CACHE_HOME", cache()).run(Program.class);

    assertThat(result.output())
        .contains("state=UNAVAILABLE")
        .contains("has interface version 99, but this bridge needs version ")
        .contains("remedy=LD_PRELOAD=" + cache())
        .doesNotContain("remedy=LD_PRELOAD=" + other)
        .contains("sites=the native library is not loaded, so nothing records them")
        .contains("done");
  }

  @Test
  void aLibraryThatLacksAFunction() throws Exception {
    Path other =
        compile(
            """
            #include "mallometer.h"
            uint32_t mallometer_abi_version(void) { return MALLOMETER_ABI_VERSION; }
            """);
    Result result =
        new ChildJvm().preload(other).environment("XDG_CACHE_HOME", cache()).run(Program.class);

    assertThat(result.output())
        .contains("state=UNAVAILABLE")
        .contains("reason=the preloaded library lacks a function")
        .contains("done");
  }

  @Test
  void behindAnotherAllocator() {
    Path jemalloc = Path.of("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2");
    if ("true".equals(System.getenv("REQUIRE_ALLOCATORS"))) {
      assertThat(jemalloc).as("jemalloc, which Debian's package libjemalloc2 installs").exists();
    }
    assumeTrue(Files.exists(jemalloc), "jemalloc is not installed; it is in libjemalloc2");
    Result result =
        new ChildJvm()
            .environment("LD_PRELOAD", jemalloc + ":" + library)
            .environment("XDG_CACHE_HOME", cache())
            .run(Program.class);

    assertThat(result.output())
        .contains("state=UNAVAILABLE")
        .contains(
            "reason=the library is loaded but not preloaded: the malloc of libjemalloc.so.2 comes"
                + " first; name mallometer before it in LD_PRELOAD")
        .containsPattern(
            "remedy=LD_PRELOAD=" + cache() + "/mallometer/\\w+/libmallometer.so:" + jemalloc + "\n")
        .contains("done");
  }

  @Test
  void deletedAfterTheStart() {
    Result result = new ChildJvm().preload(library).run(Program.class, "delete=" + library);

    assertThat(library).doesNotExist();
    assertThat(result.output()).contains("state=ACTIVE").contains("process=true").contains("done");
  }

  @Test
  void thePreloadedLibraryNeedsNoJna() {
    Result result =
        new ChildJvm()
            .preload(library)
            .withoutClassPath("/jna")
            .options("-verbose:class")
            .run(Program.class);

    assertThat(result.output())
        .contains("state=ACTIVE")
        .contains("process=true")
        .contains("done")
        .doesNotContain("com.sun.jna");
  }

  @Test
  void withoutJnaOnTheClassPath() throws Exception {
    Result result =
        new ChildJvm().preload(olderLibrary()).withoutClassPath("/jna").run(Program.class);

    assertThat(result.output())
        .contains("state=UNAVAILABLE")
        .contains("reason=JNA is not on the class path")
        .contains("net.java.dev.jna:jna")
        .contains("done");
  }

  @Test
  void withoutTheModuleThatJnaLogsBy() throws Exception {
    Result result =
        new ChildJvm()
            .preload(olderLibrary())
            .options("--limit-modules=java.management,jdk.management")
            .run(Program.class);

    assertThat(result.output())
        .contains("state=UNAVAILABLE")
        .contains("reason=JNA needs the class java.util.logging.")
        .contains("--add-modules java.logging,java.management to the java command")
        .contains("done");
  }

  /**
   * JNA finds no directory for its native library and would log an exception with its stack. So
   * mallometer must not call JNA.
   */
  @Test
  void jnaIsLeftAloneWhereItHasNoDirectoryAndTheRemedyHelps() throws Exception {
    Path missing = directory.resolve("missing");
    Result result =
        new ChildJvm()
            .preload(olderLibrary())
            .environment("XDG_CACHE_HOME", "/proc/1")
            .options("-Duser.home=/proc/1", "-Djava.io.tmpdir=" + missing, "-verbose:class")
            .run(Program.class);

    assertThat(result.output())
        .contains("state=UNAVAILABLE")
        .contains("reason=JNA cannot load its native part: " + missing + " does not exist")
        .containsPattern("remedy=Add -Djna\\.tmpdir=" + missing + "/mallometer-\\w+/")
        .contains("done")
        .doesNotContain("JNA Warning")
        .doesNotContain("com.sun.jna.Native ");
    String option =
        result
            .output()
            .replaceAll("(?s).*remedy=Add (-Djna\\.tmpdir=\\S+) to the java command\n.*", "$1");
    assertThat(new ChildJvm().preload(olderLibrary()).options(option).run(Program.class).output())
        .contains("state=ACTIVE");
  }

  @Test
  void jnaIsForbiddenToUnpack() throws Exception {
    Result result =
        new ChildJvm()
            .preload(olderLibrary())
            .options("-Djna.nounpack=true", "-Djna.nosys=true")
            .run(Program.class);

    assertThat(result.output()).contains("reason=JNA cannot load its native part").contains("done");
  }

  @Test
  void nativeAccessIsDenied() {
    for (Path jdk : jdksThatDenyNativeAccess()) {
      Result result =
          new ChildJvm()
              .java(jdk)
              .preload(library)
              .options("--illegal-native-access=deny")
              .run(Program.class);

      assertThat(result.output())
          .contains("state=UNAVAILABLE")
          .contains("reason=native access is denied")
          .contains("remedy=Add --enable-native-access=ALL-UNNAMED to the java command\n")
          .contains("done");
    }
  }

  private static List<Path> jdksThatDenyNativeAccess() {
    List<Path> jdks = ChildJvm.jdksSince(24);
    assumeTrue(!jdks.isEmpty(), "no JDK 24 or newer, which can deny native access");
    return jdks;
  }

  @Test
  void nativeAccessIsAllowed() {
    for (Path jdk : jdksThatDenyNativeAccess()) {
      Result result =
          new ChildJvm()
              .java(jdk)
              .preload(library)
              .options("--illegal-native-access=deny", "--enable-native-access=ALL-UNNAMED")
              .run(Program.class);

      assertThat(result.output())
          .contains("state=ACTIVE")
          .contains("done")
          .doesNotContain("WARNING");
    }
  }

  /** The policy of the security manager grants permissions to the program's own classes only. */
  @Test
  void aSecurityManagerForbidsIt() throws Exception {
    assumeTrue(Runtime.version().feature() < 24, "this JDK has no security manager");
    Path own = Path.of(Program.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    String policy = "grant codeBase \"file:%s/-\" { permission java.security.AllPermission; };";
    Path file = Files.writeString(directory.resolve("policy"), policy.formatted(own));
    Result result =
        new ChildJvm()
            .preload(library)
            .options("-Djava.security.manager", "-Djava.security.policy==" + file)
            .run(Program.class);

    assertThat(result.output())
        .contains("state=UNAVAILABLE")
        .contains("reason=a security manager forbids it: access denied")
        .contains("remedy=Grant java.security.AllPermission to the jars of mallometer and JNA")
        .contains("done");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void twoWebApplicationsInOneServer() {
    Result result = new ChildJvm().preload(library).run(TwoClassLoaders.class);

    assertThat(result.output())
        .contains("first=ACTIVE registered=true")
        .contains("second=ACTIVE registered=false")
        .contains("after the first closed: registered=true")
        .contains("after the first closed: observation goes on")
        .contains("after both closed: threads=0 registered=false")
        .contains("after both closed: observation rests")
        .contains("after the third opened: observation goes on");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void noPrivatePlaceToUnpackTo() throws Exception {
    Path file = Files.createFile(directory.resolve("occupied"));
    Result result =
        new ChildJvm()
            .environment("XDG_CACHE_HOME", file.toString())
            .options("-Duser.home=" + file, "-Djava.io.tmpdir=" + file)
            .run(Program.class);

    assertThat(result.output())
        .contains("reason=the library is not preloaded")
        .contains("remedy=Unpack the library")
        .contains("extract DIR")
        .contains("done");
  }

  @Test
  void theHomeIsReadOnly() throws Exception {
    Path temporary = Files.createDirectory(directory.resolve("tmp"));
    Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwx------"));
    Result result =
        new ChildJvm()
            .environment("XDG_CACHE_HOME", "/proc/1")
            .options("-Duser.home=/proc/1", "-Djava.io.tmpdir=" + temporary)
            .run(Program.class);

    assertThat(result.output())
        .containsPattern(
            "remedy="
                + ATTACH
                + "Unpack the library: .* \\("
                + temporary
                + "/mallometer-.* may be empty")
        .doesNotContain("LD_PRELOAD=" + temporary)
        .contains("done");
  }

  /**
   * The library is unpacked to a file system in memory, whose files are lost with the container.
   */
  @Test
  void theCacheIsInMemory() throws Exception {
    assumeTrue(ChildJvm.canMount(), "mounting needs root");
    Path home = Files.createDirectory(directory.resolve("home"));
    Result result =
        new ChildJvm()
            .mounting("mount -t tmpfs none " + home)
            .environment("XDG_CACHE_HOME", home.toString())
            .run(Program.class);

    assertThat(result.output())
        .containsPattern(
            "remedy=" + ATTACH + "Unpack the library: .* may be empty at the next start")
        .doesNotContain("LD_PRELOAD=" + home)
        .contains("done");
  }

  /** The directories to which the library could be unpacked are all mounted noexec. */
  @Test
  void nothingCanBeUnpackedToAttach() throws Exception {
    assumeTrue(ChildJvm.canMount(), "mounting needs root");
    Path place = Files.createDirectory(directory.resolve("noexec"));
    Result result =
        new ChildJvm()
            .mounting("mount -t tmpfs -o noexec none " + place)
            .environment("XDG_CACHE_HOME", place.toString())
            .options("-Duser.home=" + place, "-Djava.io.tmpdir=" + place)
            .run(Program.class, "attach");

    assertThat(result.output())
        .containsPattern(
            "reason=not attached: no suitable directory for libmallometer.so: " + place)
        .contains("remedy=Set XDG_CACHE_HOME to a writable directory that is not mounted noexec\n")
        .contains("done");
  }

  @Test
  void theHomeIsMountedNoexec() throws Exception {
    assumeTrue(ChildJvm.canMount(), "mounting needs root");
    Path home = Files.createDirectory(directory.resolve("home"));
    Path temporary = Files.createDirectory(directory.resolve("tmp"));
    Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwx------"));
    Result result =
        new ChildJvm()
            .mounting("mount -t tmpfs -o noexec none " + home)
            .preload(olderLibrary())
            .environment("XDG_CACHE_HOME", home.toString())
            .options("-Duser.home=" + home, "-Djava.io.tmpdir=" + temporary)
            .run(Program.class);

    assertThat(result.output())
        .contains("reason=JNA cannot load its native part")
        .containsPattern("remedy=Add -Djna.tmpdir=" + temporary + "/mallometer-\\w+/")
        .contains("done");
  }

  @Test
  void procCannotBeRead() {
    assumeTrue(ChildJvm.canMount(), "mounting needs root");
    String hide = "for f in maps mountinfo cmdline; do mount --bind /dev/null /proc/$$/$f; done";
    Result with = new ChildJvm().mounting(hide).preload(library).run(Program.class);
    Result without =
        new ChildJvm().mounting(hide).environment("XDG_CACHE_HOME", cache()).run(Program.class);

    assertThat(with.output()).contains("state=ACTIVE", "done");
    assertThat(without.output())
        .contains("reason=the library is not preloaded")
        .containsPattern("remedy=LD_PRELOAD=\\S+/libmallometer.so\n")
        .contains("done");
  }

  private String cache() {
    return directory.resolve("cache").toString();
  }

  private Path compile(String source) throws Exception {
    Path code = Files.writeString(directory.resolve("other.c"), source);
    Path shared = directory.resolve("libmallometer.so");
    Process gcc =
        new ProcessBuilder(
                "gcc",
                "-shared",
                "-fPIC",
                "-I../../interposer/include",
                "-o",
                shared.toString(),
                code.toString())
            .redirectErrorStream(true)
            .start();
    String output = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(gcc.waitFor()).as(output).isZero();
    return shared;
  }
}
