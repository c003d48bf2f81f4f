package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.StackFrame;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("any-jdk")
class SiteNamingTest {

  private final SiteNaming naming = new SiteNaming(List.of());
  private final SiteNaming ofAcme = new SiteNaming(List.of("com.acme", " org.tools.* ", ""));

  @Test
  void theFirstFrameInAnApplicationPackageNamesTheSite() {
    List<StackFrame> frames =
        frames(
            "libzip.so!deflateInit2_",
            "java.util.zip.Deflater.init",
            "io.library.Compressor.open",
            "com.acme.Report.render",
            "com.acme.Main.main");

    assertThat(ofAcme.name(frames)).isEqualTo("com.acme.Report.render");
    assertThat(naming.name(frames)).isEqualTo("io.library.Compressor.open");
  }

  /**
   * Ten frames, such as those of a driver, may lie between the application's line and the
   * allocation.
   */
  @Test
  void theFirstFrameOfNoLibraryNamesTheSiteWhateverItsDepth() {
    SiteNaming detects = new SiteNaming(List.of(), owner -> !owner.startsWith("com.acme."));
    List<StackFrame> frames =
        frames(
            "libopencv.so!alloc",
            "org.opencv.core.Mat.n_Mat",
            "org.opencv.core.Mat.<init>",
            "io.library.Frames.next",
            "io.library.Pipeline.run",
            "com.acme.Thumbnails.scale",
            "com.acme.Main.main");

    assertThat(detects.name(frames)).isEqualTo("com.acme.Thumbnails.scale");
    assertThat(detects.name(frames("libz.so!x", "java.util.zip.Deflater.init", "io.x.A.a")))
        .isEqualTo("io.x.A.a");
  }

  /** While Spring starts, {@code main} is the only method of the application on the stack. */
  @Test
  void whatAFrameworkAllocatesBelowMainIsStartUp() {
    assertThat(
            ofAcme.name(
                frames(
                    "libzip.so!inflateInit2_",
                    "java.util.zip.Inflater.init",
                    "org.springframework.boot.SpringApplication.run",
                    "com.acme.shop.ShopApplication.main",
                    "jdk.internal.reflect.DirectMethodHandleAccessor.invoke",
                    "org.springframework.boot.loader.launch.Launcher.launch",
                    "org.springframework.boot.loader.launch.JarLauncher.main")))
        .isEqualTo("start-up (ShopApplication.main)");
    assertThat(
            naming.name(
                frames(
                    "libjvm.so!SymbolTable::new_symbols",
                    "java.lang.ClassLoader.defineClass1",
                    "com.acme.Main.main")))
        .isEqualTo("start-up (Main.main)");
  }

  @Test
  void whatMainItselfAllocatesIsNoStartUp() {
    assertThat(
            ofAcme.name(
                frames("libzip.so!deflate", "java.util.zip.Deflater.init", "com.acme.Main.main")))
        .isEqualTo("com.acme.Main.main");
    assertThat(
            naming.name(
                frames(
                    "libjvm.so!Unsafe_AllocateMemory0",
                    "java.nio.DirectByteBuffer.<init>",
                    "com.acme.Main.main")))
        .isEqualTo("com.acme.Main.main");
    // The main method of a tool that a thread calls is not the program's main method.
    assertThat(
            ofAcme.name(
                frames("libz.so!deflate", "io.x.A.a", "com.acme.Tool.main", "io.x.Runner.run")))
        .isEqualTo("com.acme.Tool.main");
  }

  @Test
  void packagesIncludeThoseBelowAndNoOthers() {
    assertThat(ofAcme.name(frames("io.x.A.a", "com.acme.deep.B.b"))).isEqualTo("com.acme.deep.B.b");
    assertThat(ofAcme.name(frames("io.x.A.a", "org.tools.C.c"))).isEqualTo("org.tools.C.c");
    assertThat(ofAcme.name(frames("io.x.A.a", "com.acmeother.B.b"))).isEqualTo("io.x.A.a");
  }

  @Test
  void withoutApplicationFramesTheFirstOutsideOfPlumbingDoes() {
    List<StackFrame> frames =
        frames(
            "libjvm.so!Unsafe_AllocateMemory0",
            "jdk.internal.misc.Unsafe.allocateMemory",
            "java.nio.DirectByteBuffer.<init>",
            "sun.nio.ch.Util.getTemporaryDirectBuffer",
            "com.sun.jna.Native.invokeInt",
            "javax.imageio.ImageIO.read",
            "io.library.Images.load");

    assertThat(ofAcme.name(frames)).isEqualTo("io.library.Images.load");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdk.internal.reflect.GeneratedMethodAccessor12.invoke",
        "java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke",
        "jdk.proxy2.$Proxy45.render",
        "com.acme.$Proxy45.render",
        "com.acme.Foo$$FastClassBySpringCGLIB$$1a2b.invoke",
        "com.acme.Foo$$SpringCGLIB$$0.render",
        "com.acme.Foo$HibernateProxy$Ab12Cd34.render",
        "[unloaded].[method]",
      })
  void generatedAndUnknownClassesAreNot(String plumbing) {
    assertThat(ofAcme.name(frames("libz.so.1!inflate", plumbing, "com.acme.Foo.render")))
        .isEqualTo("com.acme.Foo.render");
    assertThat(naming.name(frames("libz.so.1!inflate", plumbing))).isEqualTo("libz.so.1!inflate");
  }

  @Test
  void theMethodThatUsesAMethodReferenceComesBeforeItsClassWhichHasNoLine() {
    String reference = "com.acme.Foo$$Lambda/0x0000000800c03000.apply";
    List<StackFrame> frames =
        frames(
            "org.driver.Mat.copy", reference, "java.util.stream.Sink.accept", "com.acme.Foo.all");

    assertThat(ofAcme.name(frames)).isEqualTo("com.acme.Foo.all");
    assertThat(ofAcme.name(frames.subList(0, 3))).isEqualTo("com.acme.Foo$$Lambda.apply");
  }

  @Test
  void lambdasHaveNoNumbers() {
    assertThat(ofAcme.name(frames("com.acme.Foo$$Lambda$12/0x0000000800c03000.run")))
        .isEqualTo("com.acme.Foo$$Lambda.run");
    assertThat(ofAcme.name(frames("com.acme.Foo.lambda$render$0")))
        .isEqualTo("com.acme.Foo.lambda$render");
  }

  @Test
  void withPlumbingOnlyTheFirstNativeFrameOutsideOfMallocDoes() {
    List<StackFrame> frames =
        frames(
            "libmallometer.so!malloc",
            "libc.so.6!__strdup",
            "libstdc++.so.6!operator new",
            "ld-linux-x86-64.so.2!_dl_allocate_tls",
            "libzip.so!deflateInit2_",
            "java.util.zip.Deflater.init",
            "java.lang.Thread.run");

    assertThat(naming.name(frames)).isEqualTo("libzip.so!deflateInit2_");
    assertThat(naming.library(frames)).isEqualTo("libzip.so");
  }

  @Test
  void whatOnlyPassesARequestOnWithinALibraryIsSkipped() {
    assertThat(
            naming.name(
                frames(
                    "libjvm.so!os::malloc",
                    "libjvm.so!AllocateHeap",
                    "libjvm.so!CHeapObjBase::operator new",
                    "libjvm.so!SymbolTable::do_lookup")))
        .isEqualTo("libjvm.so!SymbolTable::do_lookup");
    assertThat(
            naming.name(
                frames(
                    "librocksdbjni.so!operator new",
                    "librocksdbjni.so!std::basic_string::_Rep::_S_create",
                    "librocksdbjni.so!rocksdb::Arena::AllocateNewBlock")))
        .isEqualTo("librocksdbjni.so!rocksdb::Arena::AllocateNewBlock");
    assertThat(naming.name(frames("libjvm.so!os::malloc", "libz.so.1!inflate")))
        .isEqualTo("libjvm.so!os::malloc");
  }

  @Test
  void withoutASymbolItIsTheLibrary() {
    assertThat(naming.name(List.of(StackFrame.ofLibrary("libfoo.so", "", 0x1234))))
        .isEqualTo("libfoo.so");
  }

  @Test
  void codeOfNoLibraryIsPassedOver() {
    List<StackFrame> frames =
        List.of(
            StackFrame.ofLibrary("", "", 0x7f0012345678L),
            StackFrame.ofLibrary("libfoo.so", "bar", 7));

    assertThat(naming.name(frames)).isEqualTo("libfoo.so!bar");
    assertThat(naming.library(frames)).isEqualTo("libfoo.so");
  }

  @Test
  void whereNothingElseIsKnownTheInnermostFrameNamesIt() {
    assertThat(naming.name(frames("libc.so.6!getaddrinfo"))).isEqualTo("libc.so.6!getaddrinfo");
    assertThat(naming.library(frames("libc.so.6!getaddrinfo"))).isEqualTo("libc.so.6");
    assertThat(naming.name(frames("java.lang.Thread.run"))).isEqualTo("java.lang.Thread.run");
    assertThat(naming.library(frames("java.lang.Thread.run"))).isEqualTo("[java]");
    assertThat(naming.name(List.of(StackFrame.ofLibrary("", "", 0x7f0012345678L))))
        .isEqualTo("[unknown]");
    assertThat(naming.name(List.of())).isEqualTo("[unknown]");
    assertThat(naming.library(List.of())).isEmpty();
  }

  @Test
  void namesAreShortAndOnOneLine() {
    String longName = "x".repeat(300);

    assertThat(naming.name(List.of(StackFrame.ofJava("com." + longName + ".Foo", "bar", "", 1))))
        .hasSize(SiteNaming.MOST_CHARACTERS)
        .startsWith("...")
        .endsWith(".Foo.bar");
    assertThat(naming.name(List.of(StackFrame.ofLibrary("libfoo.so", longName, 1))))
        .hasSize(SiteNaming.MOST_CHARACTERS)
        .startsWith("libfoo.so!xxx")
        .endsWith("...");
    assertThat(naming.name(List.of(StackFrame.ofLibrary("libc.so.6", longName, 1))))
        .hasSize(SiteNaming.MOST_CHARACTERS);
    assertThat(
            naming.name(
                List.of(StackFrame.ofJava("com.acme.Foo\n\u0007\u2028", "b\u202er", "", 1))))
        .isEqualTo("com.acme.Foo???.b?r");
  }

  private static List<StackFrame> frames(String... functions) {
    return Stream.of(functions)
        .map(
            function -> {
              int mark = function.indexOf('!');
              int dot = function.lastIndexOf('.');
              return mark > 0
                  ? StackFrame.ofLibrary(
                      function.substring(0, mark), function.substring(mark + 1), 0x1f)
                  : StackFrame.ofJava(
                      function.substring(0, dot), function.substring(dot + 1), "Foo.java", 12);
            })
        .toList();
  }
}
