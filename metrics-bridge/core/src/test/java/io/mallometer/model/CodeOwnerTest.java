package io.mallometer.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class CodeOwnerTest {

  private static final StackFrame JVM = StackFrame.ofLibrary("libjvm.so", "os::malloc", 1);
  private static final StackFrame JNA = java("com.sun.jna.Native", "malloc");

  @Test
  void whatHotSpotAllocatesForNoMethodIsItsOwn() {
    assertThat(CodeOwner.of("libjvm.so!nmethod::new_nmethod", List.of(JVM)))
        .isEqualTo(CodeOwner.JVM);
    assertThat(
            CodeOwner.of(
                "libjvm.so!SymbolTable::add", List.of(JVM, java("java.lang.Class", "forName"))))
        .isEqualTo(CodeOwner.JVM);
    assertThat(CodeOwner.of("com.shop.Cart.add", List.of(JVM, java("com.shop.Cart", "add"))))
        .isEqualTo(CodeOwner.APPLICATION);
  }

  @Test
  void directBuffersAreNotHotSpots() {
    assertThat(
            CodeOwner.of(
                "libjvm.so!Unsafe_AllocateMemory0",
                List.of(JVM, java("jdk.internal.misc.Unsafe", "allocateMemory"))))
        .isEqualTo(CodeOwner.APPLICATION);
  }

  @Test
  void mallometersOwnAreWhatItsClassesAndItsLibraryAskFor() {
    StackFrame structs = java("io.mallometer.internal.library.abi.Structs", "mallocked");
    assertThat(CodeOwner.of("any", List.of(JNA, structs, java("com.shop.Cart", "add"))))
        .isEqualTo(CodeOwner.MALLOMETER);
    assertThat(
            CodeOwner.of(
                "any",
                List.of(
                    JVM,
                    StackFrame.ofLibrary("libmallometer.so", "make_ids", 1),
                    java("com.shop.Cart", "add"))))
        .isEqualTo(CodeOwner.MALLOMETER);
  }

  @Test
  void whatItsScopesCallAndItsSamplesAreTheApplications() {
    assertThat(
            CodeOwner.of(
                "any",
                List.of(java("com.shop.Cart", "add"), java("io.mallometer.ScopedExecutor", "of"))))
        .isEqualTo(CodeOwner.APPLICATION);
    assertThat(CodeOwner.of("any", List.of(java("io.mallometer.samples.leaky.Zip", "open"))))
        .isEqualTo(CodeOwner.APPLICATION);
  }

  private static StackFrame java(String owner, String name) {
    return StackFrame.ofJava(owner, name, "A.java", 1);
  }
}
