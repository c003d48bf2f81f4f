package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.StackFrame;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class SymbolizerTest {

  private final Map<Integer, RecordedMethod> methods = new HashMap<>();
  private Optional<RecordedModule> module = Optional.empty();

  private int changes;

  private final Symbolizer symbolizer =
      new Symbolizer(
          new Modules() {
            @Override
            public Optional<RecordedModule> at(long address) {
              return module.filter(m -> address >= m.begin() && address < m.end());
            }

            @Override
            public int changes() {
              return changes;
            }
          },
          number -> Optional.ofNullable(methods.get(number)),
          new ModuleImages() {});

  @Test
  void theLineIsThatOfTheLastEntryAtOrBeforeTheBytecode() {
    methods.put(7, method("com.acme.Foo", "bar", 0, 10, 5, 11, 9, 10, 20, 12));

    assertThat(line(7, 0)).isEqualTo(10);
    assertThat(line(7, 4)).isEqualTo(10);
    assertThat(line(7, 5)).isEqualTo(11);
    assertThat(line(7, 19)).isEqualTo(10);
    assertThat(line(7, 60_000)).isEqualTo(12);
    assertThat(frame(RecordedFrame.ofJava(7, 5)).toString())
        .isEqualTo("com.acme.Foo.bar(Foo.java:11)");
  }

  @Test
  void nativeMethodsAndClassesWithoutLinesHaveNone() {
    methods.put(7, method("com.acme.Foo", "bar", 0, 10));
    methods.put(8, method("com.acme.Foo", "bar"));
    methods.put(9, method("com.acme.Foo", "bar", 3, 10));

    assertThat(frame(RecordedFrame.ofJava(7, -1)).toString())
        .isEqualTo("com.acme.Foo.bar(Foo.java)");
    assertThat(line(8, 0)).isZero();
    assertThat(line(9, 2)).isZero();
  }

  @Test
  void linesThatAreNotInOrderAreFoundToo() {
    methods.put(7, method("com.acme.Foo", "bar", 10, 2, 0, 1, 20, 3));

    assertThat(line(7, 5)).isEqualTo(1);
    assertThat(line(7, 15)).isEqualTo(2);
    assertThat(line(7, 25)).isEqualTo(3);
  }

  @Test
  void lambdasAreReadable() {
    methods.put(1, method("com.acme.Foo$$Lambda$12/0x0000000800c03000", "run"));
    methods.put(2, method("com.acme.Foo", "lambda$render$0"));

    assertThat(frame(RecordedFrame.ofJava(1, 0)).function()).isEqualTo("com.acme.Foo$$Lambda.run");
    assertThat(frame(RecordedFrame.ofJava(2, 0)).function())
        .isEqualTo("com.acme.Foo.lambda$render");
  }

  @Test
  void aMethodThatIsNotKnownIsSaidToBeUnloadedUntilItIs() {
    long recorded = RecordedFrame.ofJava(7, 0);

    assertThat(frame(recorded).function()).isEqualTo("[unloaded].[method]");
    methods.put(7, method("com.acme.Foo", "bar"));
    assertThat(frame(recorded).function()).isEqualTo("com.acme.Foo.bar");
    methods.clear();
    assertThat(frame(recorded).function()).isEqualTo("com.acme.Foo.bar");
  }

  /** Names more stacks than the cache can hold. */
  @Test
  void thousandsOfStacksAreNamedAsOneIs() {
    int count = 40_000;
    List<long[]> stacks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      methods.put(i, method("com.acme.Foo" + i, "bar", 0, 10));
      stacks.add(new long[] {RecordedFrame.ofJava(i, 0), RecordedFrame.ofJava(i / 2, 0)});
    }
    for (int again = 0; again < 2; again++) {
      List<List<StackFrame>> frames = symbolizer.frames(stacks);

      assertThat(frames).hasSize(count);
      for (int i = 0; i < count; i++) {
        assertThat(frames.get(i))
            .extracting(StackFrame::owner)
            .containsExactly("com.acme.Foo" + i, "com.acme.Foo" + i / 2);
      }
    }
  }

  @Test
  void codeOutsideOfLibrariesIsItsAddress() {
    assertThat(frame(0x7f0012345678L)).isEqualTo(StackFrame.ofLibrary("", "", 0x7f0012345678L));
  }

  @Test
  void aReturnAddressBelongsToTheCallBeforeIt() {
    module = Optional.of(new RecordedModule(0x1000, 0x2000, 0x1000, "/lib/libfoo.so", ""));

    assertThat(frame(0x2000)).isEqualTo(StackFrame.ofLibrary("libfoo.so", "", 0x1000));
    assertThat(frame(0x1000)).isEqualTo(StackFrame.ofLibrary("", "", 0x1000));
  }

  @Test
  void aLibraryThatTookThePlaceOfAnotherIsTold() {
    module = Optional.of(new RecordedModule(0x1000, 0x2000, 0x1000, "/lib/libfoo.so", ""));
    assertThat(frame(0x1800).owner()).isEqualTo("libfoo.so");

    module = Optional.of(new RecordedModule(0x1000, 0x2000, 0x1000, "/lib/libbar.so", ""));
    changes++;
    assertThat(frame(0x1800).owner()).isEqualTo("libbar.so");
  }

  @Test
  void framesKeepTheirOrder() {
    module = Optional.of(new RecordedModule(0x1000, 0x2000, 0x1000, "/lib/libfoo.so", ""));
    methods.put(7, method("com.acme.Foo", "bar"));

    List<StackFrame> frames =
        symbolizer.frames(new long[] {0x1800, 0x9000, RecordedFrame.ofJava(7, 0)});

    assertThat(frames)
        .extracting(StackFrame::function)
        .containsExactly("libfoo.so", "[unknown]", "com.acme.Foo.bar");
  }

  private StackFrame frame(long recorded) {
    return symbolizer.frames(new long[] {recorded}).get(0);
  }

  private int line(int method, int bytecodeIndex) {
    return frame(RecordedFrame.ofJava(method, bytecodeIndex)).line();
  }

  private static RecordedMethod method(String className, String method, int... lines) {
    return new RecordedMethod(className, method, "Foo.java", lines);
  }
}
