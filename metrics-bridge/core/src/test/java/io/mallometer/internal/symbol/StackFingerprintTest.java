package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.StackFrame;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class StackFingerprintTest {

  private static final StackFrame NATIVE = StackFrame.ofLibrary("libzip.so", "deflateInit2_", 0x1f);
  private static final StackFrame JAVA = StackFrame.ofJava("com.shop.Cart", "zip", "Cart.java", 12);
  private static final StackFrame CALLER =
      StackFrame.ofJava("com.shop.Shop", "buy", "Shop.java", 3);

  private static final String STACK = of(NATIVE, JAVA, CALLER);

  @Test
  void placesInFunctionsDoNotMatter() {
    assertThat(STACK).matches("[0-9a-f]{16}").matches(StackFingerprint::isOne);
    assertThat(
            of(
                StackFrame.ofLibrary("libzip.so", "deflateInit2_", 0x2a),
                StackFrame.ofJava("com.shop.Cart", "zip", "", 0),
                CALLER))
        .isEqualTo(STACK);
  }

  /** Fingerprints must not change, because files contain fingerprints of older versions. */
  @Test
  void itIsTheSameInEveryVersion() {
    assertThat(STACK).isEqualTo("a9851dc8b94edfa6");
    assertThat(of()).isEqualTo("cbf29ce484222325");
  }

  @Test
  void whatIsNumberedAtRuntimeDoesNotMatter() {
    assertThat(
            of(
                StackFrame.ofJava("a.B$$Lambda$14/0x00007f12", "run", "", 0),
                StackFrame.ofJava("a.B", "lambda$start$0", "", 0)))
        .isEqualTo(
            of(
                StackFrame.ofJava("a.B$$Lambda/0x00007f34", "run", "", 0),
                StackFrame.ofJava("a.B", "lambda$start$1", "", 0)));
  }

  /** The JDK changes the way in which it calls a method by reflection after some calls. */
  @Test
  void howAMethodIsCalledByReflectionDoesNotMatter() {
    String reflect = "jdk.internal.reflect.";
    assertThat(
            of(
                NATIVE,
                JAVA,
                StackFrame.ofJava(reflect + "NativeMethodAccessorImpl", "invoke0", "", 0),
                StackFrame.ofJava("java.lang.invoke.LambdaForm$DMH/0x7f", "invoke", "", 0),
                CALLER))
        .isEqualTo(
            of(
                NATIVE,
                JAVA,
                StackFrame.ofJava(reflect + "GeneratedMethodAccessor7", "invoke", "", 0),
                CALLER));
  }

  @Test
  void functionsMatter() {
    assertThat(
            List.of(
                of(NATIVE, JAVA),
                of(JAVA, CALLER),
                of(NATIVE, CALLER, JAVA),
                of(StackFrame.ofLibrary("libzip.so", "inflateInit2_", 0x1f), JAVA, CALLER),
                of(StackFrame.ofLibrary("libz.so", "deflateInit2_", 0x1f), JAVA, CALLER),
                of(NATIVE, StackFrame.ofJava("com.shop.Cart", "zips", "", 0), CALLER)))
        .doesNotHaveDuplicates()
        .doesNotContain(STACK);
  }

  /** Functions of a library without symbols are distinguished by the offset only. */
  @Test
  void withoutASymbolThePlaceInTheLibraryMattersAndWithoutALibraryNothingIsKnown() {
    assertThat(of(StackFrame.ofLibrary("libx.so", "", 16)))
        .isNotEqualTo(of(StackFrame.ofLibrary("libx.so", "", 32)));
    assertThat(of(StackFrame.ofLibrary("", "", 0x7f0012345678L)))
        .isEqualTo(of(StackFrame.ofLibrary("", "", 0x7f0087654321L)));
  }

  @Test
  void otherTextsAreNoFingerprints() {
    assertThat(List.of("", "123", "0123456789ABCDEF", "0123456789abcdeg", "0123456789abcdef0"))
        .noneMatch(StackFingerprint::isOne);
  }

  private static String of(StackFrame... frames) {
    return StackFingerprint.of(List.of(frames));
  }
}
