package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.mallometer.ChildJvm;
import io.mallometer.Mallometer;
import io.mallometer.internal.library.abi.DirectCalls;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests a JVM whose description of its own structures (gHotSpotVMStructs) is wrong. The test
 * damages one field after the other while compilers work.
 */
@Tag("process")
@Tag("any-jdk")
class DamagedDescriptionTest {

  @Test
  void aDamagedDescriptionEndsNoJvm() {
    for (Path home : ChildJvm.jdksSince(17)) {
      ChildJvm.Result result =
          new ChildJvm()
              .java(home)
              .compilingFully()
              .timeout(Duration.ofMinutes(5))
              .environment("MALLOMETER_OVERHEAD_TARGET", "off")
              .options("-Xbatch", "-XX:+UseSerialGC")
              .run(Damages.class);

      assertThat(result.output()).contains("a method was named");
      assertThat(result.output()).containsPattern("(?m)^damages=132$");
      assertThat(result.exitCode()).isZero();
    }
  }

  /** Makes gHotSpotVMStructs point to a copy of its table, and damages the copy. */
  static final class Damages {

    /**
     * The table's columns in the order of damage. Offsets are first: the library reads the offsets
     * of a thread's stack only once, and would miss later damage.
     */
    private static final String[] COLUMNS = {
      "gHotSpotVMStructEntryOffsetOffset",
      "gHotSpotVMStructEntryTypeNameOffset",
      "gHotSpotVMStructEntryFieldNameOffset",
      "gHotSpotVMStructEntryIsStaticOffset"
    };

    /** The address 4096 is in a page that is never mapped. */
    private static final long[] DAMAGES = {-1, 4096, 0};

    private static final Set<String> FIELDS =
        Set.of(
            "JavaThread._stack_base",
            "JavaThread._stack_size",
            "CompilerThread._env",
            "ciEnv._task",
            "CompileTask._compile_id",
            "CompileTask._method",
            "Method._constMethod",
            "ConstMethod._method_idnum",
            "ConstMethod._constants",
            "ConstantPool._pool_holder",
            "InstanceKlass._methods_jmethod_ids");

    private static final int CALLS = 6_000;
    private static final int MOST_METHODS = 200;

    private final NativeLibrary jvm =
        NativeLibrary.getInstance(
            Path.of(System.getProperty("java.home"), "lib", "server", "libjvm.so").toString());
    private final Mallometer mallometer = Mallometer.open();
    private int methods;

    /**
     * The copy of the table to which the JVM's pointer refers. JNA would free the copy without this
     * reference.
     */
    private Memory copy = new Memory(1);

    private Damages() {}

    public static void main(String[] arguments) throws Exception {
      new Damages().run();
      System.exit(0);
    }

    private void run() throws Exception {
      System.out.println(namesAMethod() ? "a method was named" : "no method was named");
      Pointer exported = jvm.getGlobalVariableAddress("gHotSpotVMStructs");
      Pointer intact = exported.getPointer(0);
      long stride = number("gHotSpotVMStructEntryArrayStride");
      List<Long> entries = new ArrayList<>();
      long bytes = 0;
      for (Pointer type; (type = intact.getPointer(bytes)) != null; bytes += stride) {
        String field = intact.getPointer(bytes + number(COLUMNS[2])).getString(0);
        if (FIELDS.contains(type.getString(0) + "." + field)) {
          entries.add(bytes);
        }
      }
      bytes += stride; // the table ends with an entry of zeros
      copy = new Memory(bytes);
      copy.write(0, intact.getByteArray(0, (int) bytes), 0, (int) bytes);
      exported.setPointer(0, copy);
      int damages = 0;
      for (long entry : entries) {
        for (String column : COLUMNS) {
          for (long damage : DAMAGES) {
            long at = entry + number(column);
            long before = copy.getLong(at);
            copy.setLong(at, damage);
            work();
            copy.setLong(at, before);
            damages++;
          }
        }
      }
      System.out.println("damages=" + damages);
    }

    private boolean namesAMethod() throws Exception {
      mallometer.counting().attach();
      boolean named = false;
      while (!named && methods < MOST_METHODS) {
        compile();
        named =
            mallometer.sites().read().sites().stream()
                .anyMatch(site -> site.name().startsWith("compilation of"));
      }
      mallometer.counting().detach();
      return named;
    }

    private long number(String name) {
      return jvm.getGlobalVariableAddress(name).getLong(0);
    }

    private void work() throws Exception {
      mallometer.counting().attach();
      DirectCalls.stackRanges(new Thread[] {Thread.currentThread()});
      compile();
      mallometer.poll();
      mallometer.counting().detach();
    }

    private void compile() throws Exception {
      String name = DamagedDescriptionTest.class.getPackageName().replace('.', '/');
      byte[] code;
      try (InputStream in = Work.class.getResourceAsStream("DamagedDescriptionTest$Work.class")) {
        code =
            new String(in.readAllBytes(), StandardCharsets.ISO_8859_1)
                .replace(
                    name + "/DamagedDescriptionTest$Work",
                    name + "/DamagedDescriptionTest%05d".formatted(methods++))
                .getBytes(StandardCharsets.ISO_8859_1);
      }
      Method run = new Definer().define(code).getMethod("run", long.class);
      run.setAccessible(true);
      for (long i = 0; i < CALLS; i++) {
        run.invoke(null, i);
      }
    }
  }

  private static final class Definer extends ClassLoader {

    Class<?> define(byte[] code) {
      return defineClass(null, code, 0, code.length);
    }
  }

  static final class Work {

    public static long run(long number) {
      long sum = 0;
      for (int i = 0; i < 100; i++) {
        sum += i * number;
        if ((sum & 3) == 0) {
          sum ^= number;
        }
        sum = Long.rotateLeft(sum, 3);
      }
      return sum;
    }
  }
}
