package io.mallometer.internal.library.abi;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.symbol.RecordedFrame;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class JavaMethodsTest {

  /**
   * The error code EINVAL, which the library returns for a method that is being recorded or does
   * not exist.
   */
  private static final int NOT_YET = -22;

  private static final int NO_ROOM = -1;

  private final ByteBuffer struct = Structs.allocate(Abi.Method.BYTES);
  private final List<Integer> answers = new ArrayList<>();
  private final JavaMethods methods = new JavaMethods(new Abi.Method(struct), this::ask);

  private int ask(int number) {
    byte[] name = ("m" + number).getBytes(StandardCharsets.UTF_8);
    struct.put(Abi.Method.NAME_AT, name).put(Abi.Method.NAME_AT + name.length, (byte) 0);
    return number < answers.size() ? answers.get(number) : NOT_YET;
  }

  @Test
  void namesStayAfterTheJvmHasForgottenThem() {
    answers.addAll(List.of(0, Errno.ESRCH, 0));
    methods.askForNewNames();
    answers.replaceAll(answer -> Errno.ESRCH);
    methods.askForNewNames();

    assertThat(methods.of(0).orElseThrow().method()).isEqualTo("m0");
    assertThat(methods.of(1)).isEmpty();
    assertThat(methods.of(2).orElseThrow().method()).isEqualTo("m2");
  }

  @Test
  void stacksWithAMethodThatIsJustBeingNotedAreToldFromOthers() {
    answers.addAll(List.of(0, NOT_YET, 0));
    methods.askForNewNames();

    assertThat(methods.askedForAllOf(stack(0, NO_ROOM))).isTrue();
    assertThat(methods.askedForAllOf(stack(0, 1))).isFalse();
    assertThat(methods.askedForAllOf(stack(2))).isFalse();
    long[] compilation = {RecordedFrame.ofJava(1, 0), 0x7f0012345678L};
    assertThat(methods.askedForAllOf(compilation)).isFalse();

    answers.set(1, 0);
    methods.askForNewNames();

    assertThat(methods.askedForAllOf(stack(0, 1, 2))).isTrue();
    assertThat(methods.of(2).orElseThrow().method()).isEqualTo("m2");
  }

  @Test
  void noMoreNamesAreAskedForThanABoundAndTheRestLater() {
    answers.addAll(List.of(0, Errno.ESRCH, 0, 0));
    methods.askForNewNames(3);

    assertThat(methods.of(2)).isPresent();
    assertThat(methods.of(3)).isEmpty();
    assertThat(methods.askedForAllOf(stack(3))).isFalse();

    methods.askForNewNames(3);

    assertThat(methods.of(3).orElseThrow().method()).isEqualTo("m3");
  }

  @Test
  void aJvmThatTellsNoNameIsTold() {
    answers.addAll(Collections.nCopies(99, Errno.ESRCH));
    methods.askForNewNames();
    assertThat(methods.noneHasName()).isFalse();

    answers.add(Errno.ESRCH);
    methods.askForNewNames();
    assertThat(methods.noneHasName()).isTrue();

    answers.add(0);
    methods.askForNewNames();
    assertThat(methods.noneHasName()).isFalse();
  }

  private static long[] stack(int... numbers) {
    long[] stack = new long[numbers.length + 1];
    stack[0] = 0x7f0012345678L;
    for (int i = 0; i < numbers.length; i++) {
      stack[i + 1] = RecordedFrame.ofJava(numbers[i], 0);
    }
    return stack;
  }
}
